import { and, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { CrossTenantReads } from '../db/doors.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';

/** How many rows one poll reads, whatever the number of tenants and of their rows. */
export const rowsMax = 100;

/** A table whose rows belong to a tenant and mode. */
type TenantTable = PgTable & { tenantId: PgColumn; livemode: PgColumn };

/** What a poll has found. */
export interface Found<T extends TenantAndMode> {
  rows: T[];
  /** Whether the poll has reached the end, so that the next one starts again at the beginning. */
  ended: boolean;
  /** The rows that a scan has found since its beginning. */
  found?: number;
}

/** Which rows of a table a scan reads. */
export interface Scanned {
  table: TenantTable;
  where?: SQL;
  /** The columns that follow tenant and mode in the index. */
  order?: PgColumn[];
  /** Further columns of the found rows. */
  columns?: Record<string, SQL | PgColumn>;
}

/**
 * Finds the tenants and modes that have rows in a table, in the order of their keys. Each poll reads the next `rowsMax`
 * entries of an index and goes on behind the last tenant of the previous poll, so its cost depends neither on the
 * number of tenants nor on the number of a tenant's rows. One poll has one statement without locks, which a database
 * that is distributed by tenant answers from the first rows of each shard.
 */
export class TenantScan<T extends TenantAndMode = TenantAndMode> {
  #after: TenantAndMode | undefined;
  #found = 0;

  constructor(
    private readonly database: CrossTenantReads,
    private readonly name: string,
    private readonly scanned: Scanned,
  ) {}

  /** Returns the rows of the next poll. A tenant has one row for each entry that was read. */
  async next(): Promise<Required<Found<T>>> {
    const { table, where, order = [], columns } = this.scanned;
    const { tenantId, livemode } = table;
    const rows = await this.database.crossTenant.read<T>(
      this.name,
      (db) =>
        db
          .select({ tenantId, livemode, ...columns })
          .from(table as PgTable)
          .where(
            and(
              where,
              sql`(${tenantId}, ${livemode}) > (${sql.placeholder('tenantId')}::text,
                ${sql.placeholder('livemode')}::boolean)`,
            ),
          )
          .orderBy(tenantId, livemode, ...order)
          .limit(rowsMax),
      { tenantId: this.#after?.tenantId ?? '', livemode: this.#after?.livemode ?? false },
      { by: ['tenantId', 'livemode'], limit: rowsMax },
    );
    const ended = rows.length < rowsMax;
    this.#after = ended ? undefined : rows.at(-1);
    const found = this.#found + rows.length;
    this.#found = ended ? 0 : found;
    return { rows, ended, found };
  }
}
