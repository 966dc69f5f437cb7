import { and, eq, getTableColumns, getTableName, is, type SQL, type Subquery, sql } from 'drizzle-orm';
import { PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { type Listing, type PageRequest, readOf } from '../../types/pagination.js';
import {
  type ListQuery,
  afterCursor,
  boundOf,
  bounds,
  columnOf,
  isPassed,
  order,
  orderOf,
  positionIn,
  positionOf,
  type Rows,
} from './position.js';
import { type Scan, scansOfFigure } from './figure-scans.js';
import { columnsOf, fixedLimit } from '../schema/drizzle-types.js';
import { searchedRows } from './search.js';
import { searchOf } from '../../types/list-search.js';
import {
  belowOf,
  composite,
  isPair,
  isParent,
  joined,
  ofOthers,
  pairOf,
  pairValue,
  rootOf,
} from '../schema/filter-index.js';
import { inKey } from '../schema/lists.js';
import { apartOf, keyOf } from './key.js';
import { type Visibility, visibilityPredicate } from '../read/visibility.js';

export type { Child, Counted, Link, Parent, Row, Rows } from './position.js';
export { columnOf, nameOf, partOf } from './position.js';

const p = sql.placeholder;
/** The name of a page statement. It contains everything that changes the statement's text, and no values. */
export function shape(table: Rows, request: PageRequest, visibility: Visibility): string {
  const filters = Object.entries(request.filters).map(([name, value]) => (Array.isArray(value) ? `${name}[]` : name));
  const cursor = request.cursor === undefined ? '' : 'from';
  const rows = readOf(request.size + 1);
  const order = [request.order ?? [], request.ascending ? 'asc' : []].flat().map((part) => `by ${part}`);
  const direction = request.backward ? 'back' : 'on';
  return [getTableName(table), visibility, direction, rows, cursor, ...filters.sort(), ...order].join(':');
}

/** The values of a page's own parameters, by their names. */
export function values(request: PageRequest): Record<string, unknown> {
  return { cursor: request.cursor, ...request.filters };
}

/**
 * The first `rows` rows of a list in its order, or the ids of `rows` of them in any order. Where the rows are in two
 * indexes, each has its own query and a union merges the first rows of both, because no index covers both.
 */
export function listed(db: PostgresJsDatabase, query: ListQuery, what: 'rows' | 'ids', rows: number) {
  // Drizzle changes the order expressions of a union in place, so each query needs its own.
  const inOrder = () => (what === 'rows' ? order(positionOf(query), query) : []);
  const limit = fixedLimit(rows);
  if (searchOf(query.request.filters)) return searchedRows(db, query, what, limit);
  const scans = scansOf(query).flatMap((scan) => statesOf(query, scan));
  const [one, other, ...more] = scans.map((scan) => found(db, query, scan, what, limit));
  if (!other) return one!;
  const all = unionAll(one!, other, ...more);
  // A union can be ordered by its columns only, and not by expressions of them.
  if (orderOf(query)) return merged(db, query, all.as('found'), what, limit);
  return all.orderBy(...inOrder()).limit(limit);
}

/**
 * The first rows of one scan. With a list of values each value has its own scan, and their first rows are sorted: in
 * one scan of several values, PostgreSQL would read and sort all rows that match.
 */
function found(db: PostgresJsDatabase, query: ListQuery, scan: Scan, what: 'rows' | 'ids', limit: number) {
  const { table, parent } = query;
  const columns: Record<string, PgColumn> = what === 'rows' ? getTableColumns(table) : { id: table.id };
  const { conditions, lists } = conditionsOf(query, scan);
  const each = db
    .select(columns)
    .from(table as PgTable)
    .$dynamic();
  if (parent && 'links' in parent) {
    const { tenantId, livemode } = parent.links;
    const tenantAndMode = [eq(tenantId, p('tenantId')), eq(livemode, p('livemode'))];
    // A join by `any` looks each child up by its key. With `=`, PostgreSQL could read the whole table of the children.
    const linked = parent.selective ? sql`${table.id} = any(array[${parent.child}])` : eq(parent.child, table.id);
    each.innerJoin(parent.links as PgTable, and(...tenantAndMode, linked));
  }
  const ordered = what === 'rows' ? order(positionOf(query), query) : [];
  const first = each
    .where(and(...conditions))
    .orderBy(...ordered)
    .limit(limit);
  if (lists.length === 0) return first;
  return merged(db, query, first.as('found'), what, limit, sql.join(lists, sql` cross join `));
}

/** The first rows of the subquery `found`, or of one for each row of `each`, in the order of the list. */
function merged(
  db: PostgresJsDatabase,
  query: ListQuery,
  child: Subquery,
  what: 'rows' | 'ids',
  limit: number,
  each?: SQL,
) {
  const rowsOf = columnsOf(child);
  const names = what === 'rows' ? Object.keys(getTableColumns(query.table as PgTable)) : ['id'];
  const select = db.select(Object.fromEntries(names.map((name) => [name, rowsOf[name]!])));
  const from = each ? select.from(each).crossJoinLateral(child) : select.from(child);
  return from
    .orderBy(...(what === 'rows' ? order(positionIn(query, 'found'), query) : []))
    .limit(limit)
    .$dynamic();
}

/** A scan by a status that is derived: what has it by its stored status, and what has it because its time is over. */
function statesOf(query: ListQuery, scan: Scan): Scan[] {
  const [name] = keyOf(query, scan) ?? [];
  const filter = name === undefined ? undefined : query.listing.filters[name];
  if (!filter || !('derived' in filter) || !filter.ending) return [scan];
  const { stored, at, from, to, now } = filter.ending;
  const value = sql.raw(`'${from}'`);
  return [
    { ...scan, where: [...scan.where, sql`(${stored} <> ${value} or ${at} > ${now})`] },
    {
      ...scan,
      key: value,
      where: [
        ...scan.where,
        sql`${stored} = ${value}`,
        sql`${at} <= ${now}`,
        scan.key
          ? sql`${scan.key} = ${sql.raw(`'${to}'`)}`
          : sql`array_position(${p(name!)}::text[], ${sql.raw(`'${to}'`)}) is not null`,
      ],
    },
  ];
}

/** The scans of a list. The second scan excludes the rows of the first, so that no row comes twice. */
function scansOf({ table, listing, request, visibility, parent, of = sql`parent.id` }: ListQuery): Scan[] {
  if (parent && 'counted' in parent) return scansOfFigure(table, listing, parent);
  if (parent) return [{ scanKey: { column: columnOf(parent), value: of }, where: [] }];
  for (const name of Object.keys(request.filters)) {
    const filter = listing.filters[name];
    const value = sql`${p(name)}`;
    if (filter && 'either' in filter) {
      const [one, other] = filter.either;
      return [
        { scanKey: { column: one, value, filter: name }, where: [] },
        { scanKey: { column: other, value, filter: name }, where: [sql`${one} is distinct from ${value}`] },
      ];
    }
    if (is(filter, PgColumn) && listing.byAccount.includes(name))
      return [{ scanKey: { column: filter, value, filter: name }, where: [] }];
  }
  if (visibility === 'root') return [{ where: [] }];
  if (visibility === 'all') {
    // All rows of the tenant: its indexes are like those of a parent, or are those of the root list and of the rest.
    if (!listing.parents?.includes(table.tenantId)) return [{ where: [] }, { below: true, where: [] }];
    return [{ scanKey: { column: table.tenantId, value: sql`${p('tenantId')}` }, where: [] }];
  }
  const ofActingAccount = { column: table.actingAccountId, value: sql`${p('actingAccount')}` };
  if (!listing.own) return [{ scanKey: ofActingAccount, where: [] }];
  return [
    { scanKey: { ...ofActingAccount, column: listing.own }, where: [] },
    { scanKey: ofActingAccount, where: [ofOthers(table.actingAccountId, listing.own)] },
  ];
}

/** The conditions of one scan, and the lists whose values they name. */
function conditionsOf(query: ListQuery, scan: Scan): { conditions: (SQL | undefined)[]; lists: SQL[] } {
  const { table, listing, request, visibility } = query;
  const figure = query.parent && 'counted' in query.parent ? query.parent : undefined;
  const lists: SQL[] = [];
  const valueOf = (name: string): SQL => {
    const given = request.filters[name];
    if (name === figure?.key) return scan.key!;
    if (given !== undefined && !Array.isArray(given)) return sql`${p(name)}`;
    const alias = sql.identifier(`wanted_${lists.length}`);
    const all = sql.raw(`'{${listing.all?.[name]?.join(',')}}'`);
    lists.push(
      given === undefined
        ? sql`(select unnest(${all}::text[]) as value) ${alias}`
        : sql`(select distinct unnest(${p(name)}::text[]) as value) ${alias}`,
    );
    return sql`${alias}.value`;
  };
  const { scanKey, where, below } = scan;
  const selective = Object.keys(request.filters).find((name) => isSelective(listing, name));
  const key = selective === undefined ? keyOf(query, scan) : null;
  const apart = key ? apartOf(query, key, scanKey) : undefined;
  const column =
    key &&
    composite(
      key.map((name) => inKey(listing.filters[name])!),
      apart,
    );
  const value = key && (key.length === 1 && scan.key ? scan.key : joined(key.map(valueOf), apart));
  const parent = scanKey?.filter === undefined ? scanKey?.value : valueOf(scanKey.filter);
  const conditions: (SQL | undefined)[] = [...visibilityPredicate(table, 'all'), ...where];
  if (scanKey && parent)
    conditions.push(
      column && value
        ? isPair(pairOf(scanKey.column, column, apart), pairValue(parent, value, apart))
        : equals(listing, scanKey.column, parent),
    );
  else
    conditions.push(
      column && value
        ? sql`${(below ? belowOf : rootOf)(table.onRootList, column)} = (${value})::text`
        : sql`${table.onRootList} = ${sql.raw(String(!below))}`,
    );
  if (visibility === 'actingAccount') conditions.push(...ofActingAccount(query, scan, parent, key !== null));
  for (const [name, value] of Object.entries(request.filters)) {
    const [member, bound] = name.split('.');
    if (member === 'created') {
      const at = bound as keyof typeof bounds;
      conditions.push(bounds[at](table.created, p(name)), ...(listing.within?.(at, sql`${p(name)}`) ?? []));
    } else if (listing.conditions?.[name]) conditions.push(listing.conditions[name].where);
    else if (member === request.order) conditions.push(isPassed(query, bound!) ? undefined : boundOf(query, name));
    else if (name !== scanKey?.filter && !key?.includes(name) && name !== figure?.key)
      conditions.push(filterOf(listing, name, value, name === selective ? valueOf(name) : undefined));
  }
  return { conditions: [...conditions, listing.where, afterCursor(query)], lists };
}

/** The conditions that the rows of a scan are on the list of the acting account. */
function ofActingAccount(query: ListQuery, { scanKey }: Scan, parent: SQL | undefined, keyed: boolean): SQL[] {
  const { table, listing } = query;
  const isFigure = query.parent !== undefined && 'counted' in query.parent;
  if (!isFigure && scanKey?.column === table.actingAccountId && scanKey.filter === undefined) return [];
  const mine = eq(table.actingAccountId, p('actingAccount'));
  // With a plain condition PostgreSQL would expect few rows, and would read and sort all that the hash in a key finds.
  const isHashed = scanKey && (keyed || listing.hashed?.includes(scanKey.column));
  const visible = isHashed ? sql`nullif(${mine}, false) is not null` : mine;
  // Without this, a list of another account's objects would read all of them and return none.
  const named =
    scanKey?.filter === undefined
      ? undefined
      : scanKey.column === listing.own
        ? 'account'
        : tableOf(query, scanKey.filter);
  if (named === undefined) return [visible];
  const seen = sql`exists (select from ${sql.identifier(named)} a where a.tenant_id = ${p('tenantId')}
          and a.livemode = ${p('livemode')} and a.id = ${parent} and a.context_id = ${p('actingAccount')})`;
  return [visible, seen];
}

/** The table of the objects that a filter with an index of its own names, such as the addresses of deposits. */
const tableOf = ({ listing }: ListQuery, filter: string) => listing.exclusive?.[filter];

/** The condition that a column with an index of its own has a value. */
const equals = ({ hashed }: Listing, column: PgColumn, value: SQL): SQL =>
  hashed?.includes(column) ? isParent(column, value) : sql`${column} = ${value}`;

const isSelective = ({ filters }: Listing, name: string) => filters[name] !== undefined && 'selective' in filters[name];

/** The condition of a filter that is not in the key of the index. */
function filterOf(listing: Listing, name: string, value: unknown, each?: SQL): SQL | undefined {
  const filter = listing.filters[name];
  if (!filter) throw new Error(`the list of ${listing.object} has no filter ${name}`);
  if ('either' in filter) return undefined;
  if ('derived' in filter) return sql`array_position(${p(name)}::text[], ${filter.derived}) is not null`;
  if ('without' in filter) return sql`array_position(${p(name)}::text[], ${filter.without}) is null`;
  if ('flag' in filter) return sql`${filter.flag} = ${p(name)}::text`;
  const column = 'selective' in filter ? filter.selective : filter;
  if (each) return equals(listing, column, each);
  return Array.isArray(value) ? sql`${column} = any(${p(name)})` : eq(column, p(name));
}
