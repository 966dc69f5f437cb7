import { eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Caller } from '../../request/caller.js';

const p = sql.placeholder;

/** The columns that decide who sees a row. Every table of tenant data has them. */
export interface VisibilityColumns {
  tenantId: PgColumn;
  livemode: PgColumn;
  id: PgColumn;
  created: PgColumn;
  actingAccountId: PgColumn;
  onRootList: PgColumn;
}

/**
 * Which rows a statement may return. `all`: all rows of the tenant and mode. `root`: the rows on the platform's
 * list. `actingAccount`: the rows on the list of the caller's acting account. A read by id uses `visibilityOf`, which
 * decides whether a row exists for the caller; a list uses `listOf`, which decides what the list shows.
 */
export type Visibility = 'all' | 'root' | 'actingAccount';

/** A platform sees all rows of its tenant and mode, and every other caller the rows of its acting account. */
export function visibilityOf(caller: Caller): Visibility {
  return caller.actingAccountKind === 'platform' || caller.kind === 'operator' ? 'all' : 'actingAccount';
}

/**
 * A list shows the rows of the acting account. It shows all rows that are visible if a filter names an account, or if
 * the caller requests those of the accounts below its own.
 */
export function listOf(caller: Caller, includesDescendants: boolean): Visibility {
  const visibility = visibilityOf(caller);
  return visibility === 'all' && !includesDescendants ? 'root' : visibility;
}

/** The condition that the rows of a table, by its name in a statement, are of the tenant and mode of the request. */
export const tenantAndMode = (table: string): SQL =>
  sql`${sql.raw(table)}.tenant_id = ${p('tenantId')} and ${sql.raw(table)}.livemode = ${p('livemode')}`;

/** The predicate of a visibility, always with tenant and mode. `actingAccount` is a placeholder. */
export function visibilityPredicate(table: VisibilityColumns, visibility: Visibility): SQL[] {
  const predicate = [eq(table.tenantId, p('tenantId')), eq(table.livemode, p('livemode'))];
  if (visibility === 'actingAccount') predicate.push(eq(table.actingAccountId, p('actingAccount')));
  if (visibility === 'root') predicate.push(sql`${table.onRootList} = true`);
  return predicate;
}

/** The rows of a table that sessions do not see: those with one of these values in a column. */
interface HiddenRows {
  column: PgColumn;
  /** The property of a row that has the column. */
  property: string;
  values: () => readonly string[];
}
const hidden = new Map<unknown, HiddenRows>();

/** Declares which rows of a table sessions do not see, neither by id nor in a list. */
export function hideFromSessions(table: VisibilityColumns, rows: HiddenRows): void {
  hidden.set(table, rows);
}

/** Whether sessions do not see some rows of a table. */
export const hidesRows = (table: VisibilityColumns): boolean => hidden.has(table);

/** Which rows of a table the caller does not see although their account would; undefined where it sees all. */
export const hiddenFrom = ({ session }: Caller, table: VisibilityColumns): HiddenRows | undefined =>
  session ? hidden.get(table) : undefined;

/** Whether the caller sees a row that its account sees. */
export function seesRow(caller: Caller, table: VisibilityColumns, row: object): boolean {
  const rows = hiddenFrom(caller, table);
  return !rows?.values().includes(String((row as Record<string, unknown>)[rows.property]));
}
