import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  getTableName,
  gt,
  gte,
  is,
  lt,
  lte,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import { PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { type Listing, type PageRequest, readOf } from '../types/pagination.js';
import { isPair, ofOthers, pairOf, pairValue, rootOf } from './filter-index.js';
import { type Visibility, type VisibilityColumns, visibilityPredicate } from './visibility.js';

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
}
const p = sql.placeholder;
/** The name of a page statement. It contains everything that changes the statement's text, and no values. */
export function shape(table: Rows, request: PageRequest, visibility: Visibility): string {
  const filters = Object.entries(request.filters).map(([name, value]) => (Array.isArray(value) ? `${name}[]` : name));
  const cursor = request.cursor === undefined ? '' : 'from';
  const rows = readOf(request.size + 1);
  return [getTableName(table), visibility, request.backward ? 'back' : 'on', rows, cursor, ...filters.sort()].join(':');
}

/** The values of a page's own parameters, by their names. */
export function values(request: PageRequest): Record<string, unknown> {
  return { ...request.filters, cursor: request.cursor };
}

/** The column with the parent's id, in the table itself or in its links. */
export function columnOf(parent: PgColumn | Link): PgColumn {
  return 'links' in parent ? parent.parent : parent;
}

/** The columns that order a list: the columns of the index that the statement scans. */
function positionOf({ table, listing, parent }: Asked): PgColumn[] {
  if (parent && 'links' in parent) return [parent.links.created, parent.child];
  return listing.order ? [listing.order] : [table.created, table.id];
}

function order(columns: SQLWrapper[], { request }: Asked): SQL[] {
  const by = request.backward ? asc : desc;
  return columns.map((column) => by(column));
}

const bounds = { eq, gt, gte, lt, lte };

/** Which rows of a list a statement selects: those of a parent, if given, and those beyond a cursor, if given. */
export interface Asked {
  table: Rows;
  listing: Listing;
  request: PageRequest;
  visibility: Visibility;
  parent?: PgColumn | Link | undefined;
  /** The expression of the parent's id, if it is not `parent.id`. */
  of?: SQL;
  cursor?: SQL;
}

/**
 * The first `rows` rows of a list in its order, or the ids of `rows` of them in any order. Where the rows are in two
 * indexes, each has its own query and a union merges the first rows of both, because no index covers both.
 */
export function listed(db: PostgresJsDatabase, asked: Asked, what: 'rows' | 'ids', rows: number) {
  // Drizzle changes the order expressions of a union in place, so each query needs its own.
  const inOrder = () => (what === 'rows' ? order(positionOf(asked), asked) : []);
  const limit = limitOf(rows);
  const [one, other] = sidesOf(asked).map((side) => found(db, asked, side, what, limit));
  return other
    ? unionAll(one!, other)
        .orderBy(...inOrder())
        .limit(limit)
    : one!;
}

// Drizzle writes any expression as the limit, and its type knows numbers only; a number would be a parameter, and
// PostgreSQL would plan the statement again at each run.
const limitOf = (rows: number) => sql.raw(String(rows)) as unknown as number;

/**
 * The first rows of one side. With a list of values each value has its own scan, and their first rows are sorted: in
 * one scan of several values, PostgreSQL would read and sort all rows that match.
 */
function found(db: PostgresJsDatabase, asked: Asked, side: Side, what: 'rows' | 'ids', limit: number) {
  const { table, parent } = asked;
  const columns: Record<string, PgColumn> = what === 'rows' ? getTableColumns(table) : { id: table.id };
  const { conditions, lists } = conditionsOf(asked, side);
  const each = db
    .select(columns)
    .from(table as PgTable)
    .$dynamic();
  if (parent && 'links' in parent) {
    const { tenantId, livemode } = parent.links;
    const tenantAndMode = [eq(tenantId, p('tenant')), eq(livemode, p('live'))];
    each.innerJoin(parent.links as PgTable, and(...tenantAndMode, eq(parent.child, table.id)));
  }
  const ordered = what === 'rows' ? order(positionOf(asked), asked) : [];
  const first = each
    .where(and(...conditions))
    .orderBy(...ordered)
    .limit(limit);
  if (lists.length === 0) return first;
  const child = first.as('found');
  // Drizzle's type of a subquery has no columns when those of its table are not known.
  const rowsOf = child as unknown as Record<string, PgColumn>;
  const names = positionOf(asked).map(({ name }) => sql`found.${sql.identifier(name)}`);
  return db
    .select(Object.fromEntries(Object.keys(columns).map((name) => [name, rowsOf[name]!])))
    .from(sql.join(lists, sql` cross join `))
    .crossJoinLateral(child)
    .orderBy(...(what === 'rows' ? order(names, asked) : []))
    .limit(limit)
    .$dynamic();
}

/** Rows of a list that one index has: those of a parent or of an account, or else those on the caller's list. */
interface Side {
  /** The column with the parent or account, and its value. Without one, the side is the root list. */
  of?: { column: PgColumn; value: SQL; filter?: string };
  /** Further conditions of the side. */
  where: SQL[];
}

/** The sides of a list. The second side excludes the rows of the first, so that no row comes twice. */
function sidesOf({ table, listing, request, visibility, parent, of = sql`parent.id` }: Asked): Side[] {
  if (parent) return [{ of: { column: columnOf(parent), value: of }, where: [] }];
  for (const name of Object.keys(request.filters)) {
    const filter = listing.filters[name];
    const value = sql`${p(name)}`;
    if (filter && 'either' in filter) {
      const [one, other] = filter.either;
      return [
        { of: { column: one, value, filter: name }, where: [] },
        { of: { column: other, value, filter: name }, where: [sql`${one} is distinct from ${value}`] },
      ];
    }
    if (is(filter, PgColumn) && listing.byAccount.includes(name))
      return [{ of: { column: filter, value, filter: name }, where: [] }];
  }
  if (visibility === 'root') return [{ where: [] }];
  const context = { column: table.actingAccountId, value: sql`${p('context')}` };
  if (!listing.own) return [{ of: context, where: [] }];
  return [
    { of: { ...context, column: listing.own }, where: [] },
    { of: context, where: [ofOthers(table.actingAccountId, listing.own)] },
  ];
}

/**
 * The filter whose value is in the key of the scanned index. A filter that the list always has is in the index of a
 * parent; in other lists it excludes few rows.
 */
function keyFilterOf(
  { table, listing, request, parent }: Asked,
  { of }: Side,
): { name: string; column: PgColumn } | null {
  if (of && of.column !== table.actingAccountId && !listing.parents?.includes(of.column)) return null;
  const names = Object.keys(request.filters).filter(
    (name) => name !== of?.filter && is(listing.filters[name], PgColumn),
  );
  const fixed = (name: string) => name in (listing.fixed ?? {});
  const name = names.find((each) => fixed(each) === (parent !== undefined)) ?? names[0];
  const column = name === undefined ? undefined : listing.filters[name];
  return name !== undefined && is(column, PgColumn) ? { name, column } : null;
}

/** The conditions of one side, and the lists whose values they name. */
function conditionsOf(asked: Asked, side: Side): { conditions: (SQL | undefined)[]; lists: SQL[] } {
  const { table, listing, request, visibility } = asked;
  const lists: SQL[] = [];
  const valueOf = (name: string): SQL => {
    if (!Array.isArray(request.filters[name])) return sql`${p(name)}`;
    const alias = sql.identifier(`wanted_${lists.length}`);
    lists.push(sql`(select distinct unnest(${p(name)}::text[]) as value) ${alias}`);
    return sql`${alias}.value`;
  };
  const { of, where } = side;
  const few = Object.keys(request.filters).find((name) => isOfFew(listing, name));
  const key = few === undefined ? keyFilterOf(asked, side) : null;
  const parent = of?.filter === undefined ? of?.value : valueOf(of.filter);
  const conditions: (SQL | undefined)[] = [...visibilityPredicate(table, 'all'), ...where];
  if (of && parent)
    conditions.push(
      key ? isPair(pairOf(of.column, key.column), pairValue(parent, valueOf(key.name))) : sql`${of.column} = ${parent}`,
    );
  else
    conditions.push(
      key ? sql`${rootOf(table.onRootList, key.column)} = ${valueOf(key.name)}::text` : sql`${table.onRootList} = true`,
    );
  if (visibility === 'context' && of?.column !== table.actingAccountId) {
    conditions.push(eq(table.actingAccountId, p('context')));
    // Without this, a list of another account's objects would read all of them and return none.
    if (of?.filter !== undefined && of.column === listing.own)
      conditions.push(
        sql`exists (select from account a where a.tenant_id = ${p('tenant')} and a.livemode = ${p('live')} and a.id = ${parent} and a.context_id = ${p('context')})`,
      );
  }
  for (const [name, value] of Object.entries(request.filters)) {
    const [member, bound] = name.split('.');
    if (member === 'created') {
      const at = bound as keyof typeof bounds;
      conditions.push(bounds[at](table.created, p(name)), ...(listing.within?.(at, sql`${p(name)}`) ?? []));
    } else if (name !== of?.filter && name !== key?.name)
      conditions.push(filterOf(listing, name, value, name === few ? valueOf(name) : undefined));
  }
  return { conditions: [...conditions, listing.where, beyondCursor(asked)], lists };
}

const isOfFew = ({ filters }: Listing, name: string) => filters[name] !== undefined && 'ofFew' in filters[name];

/** The condition of a filter that is not in the key of the index. */
function filterOf(listing: Listing, name: string, value: unknown, each?: SQL): SQL | undefined {
  const filter = listing.filters[name];
  if (!filter) throw new Error(`the list of ${listing.object} has no filter ${name}`);
  if ('either' in filter) return undefined;
  if ('derived' in filter) return sql`array_position(${p(name)}::text[], ${filter.derived}) is not null`;
  if ('without' in filter) return sql`array_position(${p(name)}::text[], ${filter.without}) is null`;
  const column = 'ofFew' in filter ? filter.ofFew : filter;
  if (each) return sql`${column} = ${each}`;
  return Array.isArray(value) ? sql`${column} = any(${p(name)})` : eq(column, p(name));
}

function beyondCursor(asked: Asked): SQL | undefined {
  const { table, request, visibility, cursor = sql`${p('cursor')}` } = asked;
  if (request.cursor === undefined) return undefined;
  // The subquery finds the cursor only among the rows that the caller can see, so a foreign cursor selects no rows.
  // The comparison is of row values, because PostgreSQL could not use a condition with OR as an index condition.
  const same = sql`c.tenant_id = ${p('tenant')} and c.livemode = ${p('live')} and c.id = ${cursor}`;
  const sameRow = visibility === 'context' ? sql`${same} and c.context_id = ${p('context')}` : same;
  const position = positionOf({ ...asked, parent: undefined }).map(({ name }) => sql`c.${sql.identifier(name)}`);
  return sql`(${sql.join(positionOf(asked), sql`, `)}) ${sql.raw(request.backward ? '>' : '<')} (select ${sql.join(position, sql`, `)} from ${table} c where ${sameRow})`;
}
