import type { PgTable } from 'drizzle-orm/pg-core';
import type { Caller, NewKey } from './caller.js';
import type { Checkouts } from './checkout/terms.js';
import type { Call } from './db/database.js';
import type { Scope } from './db/scope.js';
import type { Edition } from './editions/edition.js';

/** What every resolver receives: who asks, the door to what they may see, and the rules of their edition. */
export class Context {
  /** The write under way; the guard opens one per mutation field. */
  call: Call | null = null;
  /** Whether the call under way has written anything. */
  wrote = false;
  /** Whether an answer was given again from an idempotency key. */
  replayed = false;

  constructor(
    readonly caller: Caller,
    readonly scope: Scope,
    readonly edition: Edition,
    readonly requestId: string,
    /** The client's Idempotency-Key, if it sent one. */
    readonly idempotencyKey: string | undefined,
    /** Makes the secret of a new key. */
    readonly newKey: (tenantId: string, livemode: boolean) => NewKey,
    /** The terms of new checkouts, and where their pages are. */
    readonly checkouts: Checkouts,
  ) {}

  /** One write of the operation under way. */
  async write<T extends PgTable>(fn: string, table: T, args: object): Promise<T['$inferSelect']> {
    if (!this.call) throw new Error(`${fn} was called outside a mutation`);
    const row = await this.scope.write(fn, table, this.call, args);
    this.wrote = true;
    return row;
  }
}
