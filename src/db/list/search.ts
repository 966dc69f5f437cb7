import { and, asc, desc, eq, getTableColumns, is, type SQL, type Subquery, sql } from 'drizzle-orm';
import { PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { ColumnName } from '../../types/list-order.js';
import { searchOf } from '../../types/list-search.js';
import type { ListQuery } from './position.js';
import { columnsOf, fixedLimit } from '../schema/drizzle-types.js';
import { kindOf, searchEntry as entry } from '../schema/table.js';
import { visibilityPredicate } from '../read/visibility.js';

const p = sql.placeholder;

/** The start of the entries that a search finds. */
const searched = sql`left(search_text(${p('search')}::text), 32)`;
const [key, value] = [sql`${p('metadata.key')}::text`, sql`${p('metadata.value')}::text`];
/** The last character of all: what begins with a text is from that text to that text with this character. */
const last = sql`chr(1114111)`;

/**
 * The first `limit` rows that a search finds, or the ids of `limit` of them. Where they are in two lists, each has its
 * own query, and the first of both are merged.
 */
export function searchedRows(db: PostgresJsDatabase, query: ListQuery, what: 'rows' | 'ids', limit: number) {
  const names = what === 'rows' ? Object.keys(getTableColumns(query.table as PgTable)) : ['id'];
  const [one, other] = listsOf(query).map((list) => foundIn(db, query, list, names, limit, listsOf(query).length > 1));
  if (!other) return one!;
  const all = unionAll(one!, other).as('found');
  const rowsOf = columnsOf(all);
  const by = query.request.backward ? desc : asc;
  return db
    .select(Object.fromEntries(names.map((name) => [name, rowsOf[name]!])))
    .from(all)
    .orderBy(by(rowsOf.searchStart!), by(rowsOf.searchAge!), by(rowsOf.id!))
    .limit(limit)
    .$dynamic();
}

/**
 * The first rows that a search finds in one list, with their places in it if they are wanted. The entries are read in
 * the order of their key, and each row is looked up by itself. The row decides whether it is visible and matches; an
 * object with several entries in the range is found by the first of them.
 */
function foundIn(
  db: PostgresJsDatabase,
  query: ListQuery,
  list: SQL,
  names: string[],
  limit: number,
  withPlaces: boolean,
) {
  const { table, request } = query;
  const columns: Record<string, PgColumn> = getTableColumns(table);
  const found: Subquery = db
    .select(Object.fromEntries(names.map((name) => [name, columns[name]!])))
    .from(table as PgTable)
    .where(and(...rowConditions(query), eq(table.id, entry.id), sql`${positionOf(query)} = ${entry.start}`))
    .limit(fixedLimit(1))
    .as('found');
  const rowsOf = columnsOf(found);
  const by = request.backward ? desc : asc;
  return db
    .select({
      ...Object.fromEntries(names.map((name) => [name, rowsOf[name]!])),
      ...(withPlaces && { searchStart: entry.start, searchAge: entry.age }),
    })
    .from(entry)
    .crossJoinLateral(found)
    .where(and(...entryConditions(query, list)))
    .orderBy(by(entry.start), by(entry.age), by(entry.id))
    .limit(limit)
    .$dynamic();
}

/** The id of the object of the cursor, if a search finds it. */
export function foundCursor(db: PostgresJsDatabase, query: ListQuery) {
  const { table } = query;
  return db
    .select({ id: table.id })
    .from(table as PgTable)
    .where(and(...rowConditions(query), eq(table.id, p('cursor')), sql`${positionOf(query)} is not null`));
}

/** The lists whose entries a search reads. All rows that a platform sees are on the root list, or not. */
function listsOf({ listing, visibility }: ListQuery): SQL[] {
  const kind = sql.raw(`'${listing.search!.object}'`);
  const account = listing.byAccount.find((name) => name in (listing.fixed ?? {}));
  if (account !== undefined || visibility === 'actingAccount')
    return [sql`${entry.list} = search_list(${kind}, ${p(account ?? 'actingAccount')}::text)`];
  const root = sql`${entry.rootList} = search_list(${kind}, null)`;
  return visibility === 'root' ? [root] : [root, sql`${entry.rootList} is null and ${kindOf(entry.id)} = ${kind}`];
}

/** The conditions of the rows of the list, without the search. */
function rowConditions({ table, listing, visibility }: ListQuery): SQL[] {
  const fixed = Object.keys(listing.fixed ?? {}).map((name) => {
    const filter = listing.filters[name];
    if (filter && 'without' in filter) return sql`array_position(${p(name)}::text[], ${filter.without}) is null`;
    if (!is(filter, PgColumn)) throw new Error(`the list of ${listing.object} cannot be searched with ${name}`);
    return eq(filter, p(name));
  });
  return [...visibilityPredicate(table, visibility), ...fixed];
}

/** The entries of a list that begin with what is searched for, beyond the cursor. */
function entryConditions(query: ListQuery, list: SQL): SQL[] {
  const { table, request, visibility, cursor = sql`${p('cursor')}` } = query;
  const conditions = [eq(entry.tenantId, p('tenantId')), eq(entry.livemode, p('livemode')), list];
  const { one, from, to } = rangeOf(request.filters);
  if (one) conditions.push(sql`${entry.start} = ${one}`);
  if (searchOf(request.filters) === 'search') conditions.push(sql`${searched} <> ''`);
  // The cursor is within the range. With the bound on its scan too, PostgreSQL would begin the scan there, and read all
  // entries up to the cursor.
  const beyond = request.cursor === undefined ? undefined : request.backward ? 'before' : 'after';
  if (from && beyond !== 'after') conditions.push(sql`${entry.start} >= ${from}`);
  if (to && beyond !== 'before') conditions.push(sql`${entry.start} < ${to}`);
  if (!beyond) return conditions;
  const c: ColumnName = ({ name }) => sql`c.${sql.identifier(name)}`;
  const same = sql`c.tenant_id = ${p('tenantId')} and c.livemode = ${p('livemode')} and c.id = ${cursor}`;
  const visible = visibility === 'actingAccount' ? sql`${same} and c.context_id = ${p('actingAccount')}` : same;
  const found = positionOf(query, c);
  const place = one
    ? sql`(select - c.created, c.id from ${table} c where ${visible} and ${found} is not null)`
    : sql`(select ${found}, - c.created, c.id from ${table} c where ${visible})`;
  const position = one ? sql`(${entry.age}, ${entry.id})` : sql`(${entry.start}, ${entry.age}, ${entry.id})`;
  conditions.push(sql`${position} ${sql.raw(beyond === 'after' ? '>' : '<')} ${place}`);
  return conditions;
}

/** The one start that a search finds, or the first start of its range and the first one behind it. */
function rangeOf(filters: Record<string, unknown>): { one?: SQL; from?: SQL; to?: SQL } {
  if (searchOf(filters) === 'search') return { from: searched, to: sql`${searched} || ${last}` };
  if ('metadata.value' in filters) return { one: sql`metadata_start(${key}, ${value})` };
  const start = sql`metadata_start(${key}, null)`;
  return { from: start, to: sql`${start} || ${last}` };
}

/** The start of the first entry of a row that a search finds; NULL for a row that it does not find. */
function positionOf({ listing, request }: ListQuery, name: ColumnName = (column) => column): SQL {
  const { texts, metadata } = listing.search!;
  if (searchOf(request.filters) === 'search')
    return sql`search_position(${texts(name)}, ${metadata(name)}, ${p('search')}::text)`;
  const stored = sql`(${metadata(name)} ->> ${key})`;
  const matches = 'metadata.value' in request.filters ? sql`${stored} = ${value}` : sql`${stored} is not null`;
  return sql`case when ${matches} then metadata_start(${key}, ${stored}) end`;
}
