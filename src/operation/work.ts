import type { SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';

/** The time for which the worker keeps rows that may be deleted. */
export interface Retention {
  /** Seconds for the stored responses of idempotency keys; the database keeps them for at least a day. */
  idempotencySeconds: number;
  /** Seconds for events; undefined keeps them for ever. */
  eventSeconds?: number | undefined;
  /** Seconds for the request log: 7 days by default; 0 deletes all of it. */
  requestSeconds?: number | undefined;
}

/** Work that a database function does for one tenant and mode at a time, some rows in each call. */
interface Batches {
  /** What it does, as a sentence for operators. */
  does: string;
  /**
   * The database function. It takes tenant, mode, the age where `kept` says so, and the greatest number of rows, and
   * returns how many it did.
   */
  fn: string;
  table: PgTable & { tenantId: PgColumn; livemode: PgColumn };
  where?: SQL;
}

/** Work that there is while a table has rows of it. */
export interface RowWork extends Batches {
  of: 'rows';
  /** The greatest number of rows of a call. */
  max: number;
  /** The shortest time between two polls for it. */
  everyMilliseconds: number;
}

/** The deletion of old rows, once an hour. */
export interface AgeWork extends Batches {
  of: 'age';
  /** The columns that follow tenant and mode in the index by which the oldest row of a tenant is found. */
  order?: PgColumn[];
  /** When a row was created, in seconds; without it, only the function knows whether rows are old. */
  created?: PgColumn;
  /** For how many seconds rows are kept, and whether the function takes them; undefined keeps rows for ever. */
  kept: (retention: Retention) => { seconds: number; given: boolean } | undefined;
}

/** Work that the worker does for a resource. */
export type DeclaredWork = RowWork | AgeWork;

/** Work that there is while a table has rows of it. */
export const whileRows = (work: Omit<RowWork, 'of'>): RowWork => ({ of: 'rows', ...work });
/** The deletion of old rows. */
export const whenOld = (work: Omit<AgeWork, 'of'>): AgeWork => ({ of: 'age', ...work });
