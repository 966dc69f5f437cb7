import DataLoader from 'dataloader';
import { and, desc, eq, getTableColumns, getTableName, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { CrossTenantReads } from '../../db/doors.js';
import type { Child } from '../../db/list/statement.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { posting } from '../../resources/ledger/table.js';

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

  /** When the movement that ends an object was posted; null before it. */
  endedAt(
    kind: 'payout_end' | 'refund_end',
    { tenantId, livemode }: TenantAndMode,
    id: string,
  ): Promise<number | null> {
    const name = `operator_ended:${kind}`;
    const loader =
      this.loaders.get(name) ??
      new DataLoader<Key, unknown[], string>((keys) => this.readEnds(name, kind, keys), { cacheKeyFn: textOf });
    this.loaders.set(name, loader);
    return loader.load({ tenantId, livemode, value: id }).then(([created]) => (created as number | undefined) ?? null);
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
    const rows = await this.readAll<TenantAndMode & { key: string; row: T['$inferSelect'] }>(
      name,
      (db) =>
        db
          .select({ key: sql<string>`key.value`, row: getTableColumns(table) })
          .from(table as PgTable)
          .innerJoin(
            asked,
            and(
              eq(table.tenantId, sql`key.tenant`),
              eq(table.livemode, sql`key.mode::boolean`),
              eq(column, sql`key.value`),
            ),
          )
          .orderBy(desc(table.created), desc(table.id)),
      listsOf(keys),
    );
    const found = new Map<string, T['$inferSelect'][]>(keys.map((key) => [textOf(key), []]));
    for (const { key, row } of rows) found.get(textOf({ ...(row as TenantAndMode), value: key }))?.push(row);
    return keys.map((key) => found.get(textOf(key))!);
  }

  private async readEnds(name: string, kind: string, keys: readonly Key[]): Promise<number[][]> {
    const rows = await this.readAll<TenantAndMode & { value: string; created: number }>(
      name,
      (db) =>
        db
          .select({
            ...{ tenantId: posting.tenantId, livemode: posting.livemode },
            ...{ value: posting.cause, created: posting.created },
          })
          .from(posting)
          .innerJoin(
            asked,
            sql`${posting.tenantId} = key.tenant and ${posting.livemode} = key.mode::boolean
              and ${posting.kind} = ${sql.raw(`'${kind}'`)} and ${posting.cause} = key.value`,
          ),
      listsOf(keys),
    );
    const found = new Map(rows.map((row) => [textOf(row), [row.created]]));
    return keys.map((key) => found.get(textOf(key)) ?? []);
  }
}

const { placeholder } = sql;

/** The keys of a batch as a table, from the lists of their members. */
const asked = sql`unnest(${sql.join(
  ['tenants', 'modes', 'values'].map((list) => sql`${placeholder(list)}::text[]`),
  sql`, `,
)}) as key(tenant, mode, value)`;

const listsOf = (keys: readonly Key[]) => ({
  tenants: keys.map((key) => key.tenantId),
  modes: keys.map((key) => String(key.livemode)),
  values: keys.map((key) => key.value),
});

function textOf({ tenantId, livemode, value }: Key): string {
  return `${tenantId} ${livemode} ${value}`;
}
