import type { Scope } from '../db/scope.js';
import type { Operator, Realm } from './operator.js';

/**
 * What every resolver of the operator's graph receives: the operator of this request, and a scope per tenant and mode
 * that it reads. Apollo hands a copy of it on: what changes is in members that the copy shares, and nothing is `#private`.
 */
export class OperatorContext {
  /** The mutations that were begun, for the log. */
  readonly operations: string[] = [];
  private readonly scopes = new Map<string, Scope>();

  constructor(
    readonly operator: Operator,
    readonly requestId: string,
    /** The client's Idempotency-Key, if it sent one. */
    readonly idempotencyKey: string | undefined,
  ) {}

  get replayed(): boolean {
    return this.operator.replayed;
  }

  /** The rows of one tenant and mode; what is asked for in one tick is one statement for all objects of that realm. */
  scope(realm: Realm): Scope {
    const name = `${realm.tenantId} ${realm.livemode}`;
    const scope = this.scopes.get(name) ?? this.operator.scope(realm);
    this.scopes.set(name, scope);
    return scope;
  }

  /** Begins a mutation: what was read before it may be stale after it. */
  enter(operation: string): void {
    this.operations.push(operation);
    this.scopes.clear();
  }
}
