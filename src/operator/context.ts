import { RequestBudget } from '../request/budget.js';
import type { Operator } from './operator.js';
import type { Related } from './related.js';

/**
 * What every resolver of the operator's graph receives: the operator of this request, and what it reads beside the objects
 * that it has found. Apollo hands a copy of it on: what changes is in members that the copy shares, and nothing is `#private`.
 */
export class OperatorContext {
  /** The mutations that were begun, for the log. */
  readonly operations: string[] = [];
  readonly related: Related;

  constructor(
    readonly operator: Operator,
    readonly requestId: string,
    /** The client's Idempotency-Key, if it sent one. */
    readonly idempotencyKey: string | undefined,
    readonly budget: RequestBudget = new RequestBudget(),
  ) {
    this.related = operator.related();
  }

  get replayed(): boolean {
    return this.operator.replayed;
  }

  /** Begins a mutation: what was read before it may be stale after it. */
  enter(operation: string): void {
    this.operations.push(operation);
    this.related.clear();
  }
}
