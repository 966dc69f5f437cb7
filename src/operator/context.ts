import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import type { Scope } from '../db/scope.js';
import { RequestBudget } from '../limits/budget.js';
import type { OperatorIdentity } from './access/credential.js';
import type { Operator } from './operator.js';
import { RefusedChanges } from './action/refused-changes.js';
import type { Related } from './graph/related.js';

/**
 * The context that every resolver of the operator's graph receives: the operator of this request, and the loaders of
 * related objects. Apollo passes on a shallow copy: so all state that changes is in objects that the copy shares, and
 * no member is `#private`.
 */
export class OperatorContext {
  /** The mutations that have begun, for the log. */
  readonly operations: string[] = [];
  readonly related: Related;
  readonly scopes = new Map<string, Scope>();

  constructor(
    readonly operator: Operator,
    /** Who sends the request. */
    readonly viewer: OperatorIdentity,
    readonly requestId: string,
    /** The client's Idempotency-Key, if it sent one. */
    readonly idempotencyKey: string | undefined,
    readonly budget: RequestBudget = new RequestBudget(),
    readonly refusedChanges = new RefusedChanges(),
  ) {
    this.related = operator.related();
  }

  get replayed(): boolean {
    return this.operator.replays > 0;
  }

  /** The scope of a tenant and mode, which batches what the request reads of them. */
  scopeOf({ tenantId, livemode }: TenantAndMode): Scope {
    const key = `${tenantId} ${livemode}`;
    const scope = this.scopes.get(key) ?? this.operator.scope({ tenantId, livemode });
    this.scopes.set(key, scope);
    return scope;
  }

  /** Begins a mutation, and clears the cached reads, which may be stale after it. */
  enter(operation: string): void {
    this.operations.push(operation);
    this.related.clear();
    this.scopes.clear();
  }
}
