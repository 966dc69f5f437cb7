import DataLoader from 'dataloader';
import { and, desc, eq, getTableColumns, getTableName, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { CrossTenantReads } from '../../db/doors.js';
import type { Child } from '../../db/list/statement.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';

interface Key extends TenantAndMode {
  value: string;
}

/**
 * Loads the related objects of the objects that the operator reads. It batches all loads of one tick into one statement
 * per column, for any number of tenants: a queue has objects of all tenants, and a scope per tenant would need a
 * statement each.
 */
export class Related {
  private readonly loaders = new Map<string, DataLoader<Key, unknown[], string>>();

  /** `readAll` is the operator's read over all tenants; only the operator may read without a scope. */
  constructor(private readonly readAll: CrossTenantReads['read']) {}

  /** The rows of a tenant and mode that have this value in a column, newest first. */
  all<T extends Child>(
    table: T,
    column: PgColumn,
    { tenantId, livemode }: TenantAndMode,
    value: string,
  ): Promise<T['$inferSelect'][]> {
    const name = `operator_related:${getTableName(table)}.${column.name}`;
    const loader =
      this.loaders.get(name) ??
      new DataLoader<Key, unknown[], string>((keys) => this.read(name, table, column, keys), { cacheKeyFn: textOf });
    this.loaders.set(name, loader);
    return loader.load({ tenantId, livemode, value }) as Promise<T['$inferSelect'][]>;
  }

  /** The row of a tenant and mode that has this value in a column; null when there is none. */
  async one<T extends Child>(
    table: T,
    column: PgColumn,
    tenantAndMode: TenantAndMode,
    value: string,
  ): Promise<T['$inferSelect'] | null> {
    return (await this.all(table, column, tenantAndMode, value))[0] ?? null;
  }

  /** Clears the cache, because a write may make it stale. */
  clear(): void {
    this.loaders.clear();
  }

  private async read<T extends Child>(
    name: string,
    table: T,
    column: PgColumn,
    keys: readonly Key[],
  ): Promise<T['$inferSelect'][][]> {
    const { placeholder } = sql;
    const lists = ['tenants', 'modes', 'values'].map((list) => sql`${placeholder(list)}::text[]`);
    const rows = await this.readAll<TenantAndMode & { key: string; row: T['$inferSelect'] }>(
      name,
      (db) =>
        db
          .select({ key: sql<string>`key.value`, row: getTableColumns(table) })
          .from(table as PgTable)
          .innerJoin(
            sql`unnest(${sql.join(lists, sql`, `)}) as key(tenant, mode, value)`,
            and(
              eq(table.tenantId, sql`key.tenant`),
              eq(table.livemode, sql`key.mode::boolean`),
              eq(column, sql`key.value`),
            ),
          )
          .orderBy(desc(table.created), desc(table.id)),
      {
        tenants: keys.map((key) => key.tenantId),
        modes: keys.map((key) => String(key.livemode)),
        values: keys.map((key) => key.value),
      },
    );
    const found = new Map<string, T['$inferSelect'][]>(keys.map((key) => [textOf(key), []]));
    for (const { key, row } of rows) found.get(textOf({ ...(row as TenantAndMode), value: key }))?.push(row);
    return keys.map((key) => found.get(textOf(key))!);
  }
}

function textOf({ tenantId, livemode, value }: Key): string {
  return `${tenantId} ${livemode} ${value}`;
}
