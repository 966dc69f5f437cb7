import { asc, desc, eq, gt, gte, lt, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { ColumnName, OrderBy } from '../../types/list-order.js';
import type { Listing, PageRequest } from '../../types/pagination.js';
import type { Visibility, VisibilityColumns } from '../read/visibility.js';

/** A table whose visibility columns decide which callers see a row. */
export type Rows = PgTable & VisibilityColumns;
/** A table whose rows callers see only through their parents. */
export type Child = PgTable & Pick<VisibilityColumns, 'tenantId' | 'livemode' | 'id' | 'created'>;
export type Row<T extends Rows> = T['$inferSelect'];
/**
 * A table of links between parents and children, where a child may have many parents. A link is inserted together with
 * its child, in the same second, so the index of the links has the order of the list.
 */
export interface Link {
  links: Child;
  parent: PgColumn;
  child: PgColumn;
  /** A parent has few links, and PostgreSQL has no statistics that say so. */
  selective?: true;
}
/**
 * What a figure of an account counts: the rows whose column `counted` has the account, and with `descendants` those of
 * the accounts below it. The id of such a parent is the account's, and behind slashes what else the figure counts by.
 */
export interface Counted {
  /** Which figure: a part of the names of its statements. */
  figure: string;
  counted: PgColumn;
  descendants: boolean;
  /** The filter in the key of the indexes whose value is the second part of the id. */
  key?: string;
}
/** What a list belongs to, where it is an edge. */
export type Parent = PgColumn | Link | Counted;

/** A part of the id of the parent `parent` of a figure, from 1. */
export const partOf = (n: number): SQL => sql`split_part(parent.id, '/', ${sql.raw(String(n))})`;

const p = sql.placeholder;

/** Which rows of a list a statement selects: those of a parent, if given, and those beyond a cursor, if given. */
export interface ListQuery {
  table: Rows;
  listing: Listing;
  request: PageRequest;
  visibility: Visibility;
  parent?: Parent | undefined;
  /** The expression of the parent's id, if it is not `parent.id`. */
  of?: SQL;
  cursor?: SQL;
}

/** The column with the parent's id, in the table itself or in its links. */
export function columnOf(parent: Parent): PgColumn {
  if ('counted' in parent) return parent.counted;
  return 'links' in parent ? parent.parent : parent;
}

/** The name of a parent in the names of statements. */
export const nameOf = (parent: Parent): string =>
  'counted' in parent
    ? `${parent.counted.name}/${parent.figure}${parent.descendants ? '/descendants' : ''}`
    : columnOf(parent).name;

const ofTable: ColumnName = (column) => column;
const ofAlias =
  (alias: string): ColumnName =>
  ({ name }) =>
    sql`${sql.identifier(alias)}.${sql.identifier(name)}`;

/** The order by a value, if the page has one. */
export function orderOf({ listing, request }: ListQuery): OrderBy | undefined {
  return request.order === undefined ? undefined : listing.orders?.[request.order];
}

/** The values that order a list: the last columns of the index that the statement scans. */
export function positionOf(query: ListQuery, name: ColumnName = ofTable): SQLWrapper[] {
  const { table, listing, parent } = query;
  const by = orderOf(query);
  if (by) return [by.by(name), name(table.id)];
  if (parent && 'links' in parent) return [name(parent.links.created), name(parent.child)];
  return listing.order ? [name(listing.order)] : [name(table.created), name(table.id)];
}

/** The same values in a subquery that has the columns of the table. */
export const positionIn = (query: ListQuery, alias: string) =>
  positionOf({ ...query, parent: undefined }, ofAlias(alias));

/** Whether a statement reads from the greatest value of the order downwards. */
const downwards = ({ request }: ListQuery) => request.backward === request.ascending;

/** The order of a statement by these values. */
export function order(columns: SQLWrapper[], query: ListQuery): SQL[] {
  const by = downwards(query) ? desc : asc;
  return columns.map((column) => by(column));
}

/** The comparisons of a range, by the names of its bounds. */
export const bounds = { eq, gt, gte, lt, lte };

/** The condition of a bound of the value that orders the list. */
export function boundOf(query: ListQuery, name: string, of: ColumnName = ofTable): SQL {
  const by = orderOf(query)!;
  const bound = name.split('.')[1] as keyof typeof bounds;
  return bounds[bound](by.by(of), sql`${p(name)}::${sql.raw(by.type)}`);
}

/**
 * Whether the cursor, which is within the range, lies beyond a bound of it. With the bound in its scan too, PostgreSQL
 * would begin there, and read all entries up to the cursor.
 */
export const isPassed = (query: ListQuery, bound: string): boolean =>
  query.request.cursor !== undefined && bound.startsWith(downwards(query) ? 'lt' : 'gt');

/** The condition that a row follows the object of the cursor. */
export function afterCursor(query: ListQuery): SQL | undefined {
  const { table, request, visibility, cursor = sql`${p('cursor')}` } = query;
  if (request.cursor === undefined) return undefined;
  // The subquery finds the cursor only among the rows that the caller can see, so a foreign cursor selects no rows.
  // The comparison is of row values, because PostgreSQL could not use a condition with OR as an index condition.
  const same = sql`c.tenant_id = ${p('tenantId')} and c.livemode = ${p('livemode')} and c.id = ${cursor}`;
  const sameRow = visibility === 'actingAccount' ? sql`${same} and c.context_id = ${p('actingAccount')}` : same;
  const position = sql.join(positionIn(query, 'c'), sql`, `);
  const beyond = (place: SQL) =>
    sql`(${sql.join(positionOf(query), sql`, `)}) ${sql.raw(downwards(query) ? '<' : '>')} ${place}`;
  // A cursor of a view has the value: the object may have moved since the page before.
  if (orderOf(query)?.view)
    return beyond(
      sql`(split_part(${cursor}::text, '@', 2)::${sql.raw(orderOf(query)!.type)}, split_part(${cursor}::text, '@', 1))`,
    );
  const within = sql.join([sameRow, ...placeOf(query)], sql` and `);
  return beyond(sql`(select ${position} from ${table} c where ${within})`);
}

/** The conditions without which the object of a cursor has no position in an order by a value; see `isOutside`. */
function placeOf(query: ListQuery): SQL[] {
  const { listing, request } = query;
  const by = orderOf(query);
  if (!by) return [];
  const ranges = Object.keys(request.filters).filter((name) => name.split('.')[0] === request.order);
  const same = Object.keys(by.one ?? {}).map(
    (name) => sql`${ofAlias('c')(listing.filters[name] as PgColumn)} = ${p(name)}`,
  );
  return [...same, ...ranges.map((name) => boundOf(query, name, ofAlias('c')))];
}
