import { type SQL, sql } from 'drizzle-orm';
import { bigint, boolean, customType, type PgColumn, text } from 'drizzle-orm/pg-core';

/**
 * The columns that begin every key of tenant data: tenant, mode, id; and `created`, in whole seconds since 1970 from
 * the database's clock, as the APIs show it. Paging by JavaScript dates would skip rows.
 */
export const keyColumns = () => ({
  tenantId: text('tenant_id').notNull(),
  livemode: boolean('livemode').notNull(),
  id: text('id').notNull(),
  created: bigint('created', { mode: 'number' }).notNull(),
});

/**
 * Which lists show a row: `actingAccountId` is the account whose own list shows it, and `onRootList` says
 * whether the platform's list shows it too. A row gets both once, so that every list needs one equality.
 */
export const visibilityColumns = () => ({
  actingAccountId: text('context_id').notNull(),
  onRootList: boolean('on_root_list').notNull(),
});

/** A column of bytes. */
export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/**
 * When a row was last changed, in whole seconds by the tenant's clock; null for one that was not changed since the
 * column exists.
 */
export const updatedAt = () => ({ updatedAt: bigint('updated_at', { mode: 'number' }) });

/**
 * Counts the changes of one row, and says when the last one was. The order of changes in a tenant comes from counters,
 * never from the time.
 */
export const version = () => ({ version: bigint('version', { mode: 'number' }).notNull().default(0), ...updatedAt() });

/** Strings by key, or null when there are none. Spec: Metadata. */
export type MetadataMap = Record<string, string>;

/** The condition of a CHECK: a column has one of the values of an enum. */
export function isOneOf(column: PgColumn, values: Record<string, string>): SQL {
  const list = Object.values(values).map((value) => `'${value}'`);
  return sql`${column} in (${sql.raw(list.join(', '))})`;
}
