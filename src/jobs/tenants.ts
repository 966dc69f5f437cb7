import { and, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.js';
import type { TenantAndMode } from '../db/tenant-and-mode.js';

/** A position before the first tenant and mode, in the order of the keys. */
export const first: TenantAndMode = { tenantId: '', livemode: false };

/** A table whose rows belong to a tenant and mode. */
export type TenantTable = PgTable & { tenantId: PgColumn; livemode: PgColumn };

/**
 * The tenants and modes that have rows in a table, in the order of their keys. Each takes one step in an index,
 * whatever the number of rows of the previous one.
 */
export async function* tenantsAndModes(
  database: Database,
  stop: AbortSignal,
  name: string,
  table: TenantTable,
  where?: SQL,
): AsyncGenerator<TenantAndMode> {
  for (let after = first; !stop.aborted; ) {
    const [next] = await database.read<TenantAndMode>(
      name,
      (db) =>
        db
          .select({ tenantId: table.tenantId, livemode: table.livemode })
          .from(table as PgTable)
          .where(and(where, beyond(table)))
          .orderBy(table.tenantId, table.livemode)
          .limit(1),
      { tenant: after.tenantId, live: after.livemode },
    );
    if (!next) return;
    yield next;
    after = next;
  }
}

/** The rows of tenants and modes that come after a given one. */
export function beyond({ tenantId, livemode }: { tenantId: PgColumn; livemode: PgColumn }): SQL {
  return sql`(${tenantId}, ${livemode}) > (${sql.placeholder('tenant')}::text, ${sql.placeholder('live')}::boolean)`;
}
