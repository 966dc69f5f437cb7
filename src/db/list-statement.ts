import { and, asc, desc, eq, getTableColumns, getTableName, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { type Listing, type PageRequest, readOf } from '../types/pagination.js';
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
function positionOf({ table, listing, parent }: Asked): [PgColumn, PgColumn] {
  if (parent && 'links' in parent) return [parent.links.created, parent.child];
  return [listing.order ?? table.created, table.id];
}

function order(asked: Asked): SQL[] {
  const by = asked.request.backward ? asc : desc;
  return positionOf(asked).map((column) => by(column));
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
 * The first `rows` rows of a list in its order, or the ids of `rows` of them in any order. Where a filter matches
 * either of two columns, each column has its own query and a union merges the first rows of both, because each column
 * has an index in the order of the list, and no index covers both columns.
 */
export function listed(db: PostgresJsDatabase, asked: Asked, what: 'rows' | 'ids', rows: number) {
  const { table, listing, request, visibility, parent, of = sql`parent.id` } = asked;
  // Drizzle writes any expression as the limit, and its type knows numbers only; a number would be a parameter.
  const limit = sql.raw(String(rows)) as unknown as number;
  const columns: Record<string, PgColumn> = what === 'rows' ? getTableColumns(table) : { id: table.id };
  // Drizzle changes the order expressions of a union in place, so each query needs its own.
  const inOrder = () => (what === 'rows' ? order(asked) : []);
  const [one, other] = sidesOf(listing, request).map((side) => {
    const found = db
      .select(columns)
      .from(table as PgTable)
      .$dynamic();
    if (parent && 'links' in parent) {
      const { tenantId, livemode } = parent.links;
      const tenantAndMode = [eq(tenantId, p('tenant')), eq(livemode, p('live'))];
      found.innerJoin(parent.links as PgTable, and(...tenantAndMode, eq(parent.child, table.id)));
    }
    const ofParent = parent && sql`${columnOf(parent)} = ${of}`;
    return found
      .where(and(...visibilityPredicate(table, visibility), ofParent, ...side, ...conditions(asked)))
      .orderBy(...inOrder())
      .limit(limit);
  });
  return other
    ? unionAll(one!, other)
        .orderBy(...inOrder())
        .limit(limit)
    : one!;
}

/**
 * The conditions of each side of a list. The second side excludes the rows of the first, so that no row comes twice.
 */
function sidesOf({ filters }: Listing, request: PageRequest): SQL[][] {
  for (const name of Object.keys(request.filters)) {
    const filter = filters[name];
    if (!filter || !('either' in filter)) continue;
    const [one, other] = filter.either;
    return [[eq(one, p(name))], [eq(other, p(name)), sql`${one} is distinct from ${p(name)}`]];
  }
  return [[]];
}

function conditions(asked: Asked): SQL[] {
  const { table, listing, request, visibility, cursor = sql`${p('cursor')}` } = asked;
  const conditions = Object.entries(request.filters).flatMap(([name, value]) => {
    const [member, bound] = name.split('.');
    if (member === 'created') return bounds[bound as keyof typeof bounds](table.created, p(name));
    const filter = listing.filters[name];
    if (!filter) throw new Error(`the list of ${listing.object} has no filter ${name}`);
    if ('either' in filter) return [];
    if ('derived' in filter) return sql`array_position(${p(name)}::text[], ${filter.derived}) is not null`;
    return Array.isArray(value) ? sql`${filter} = any(${p(name)})` : eq(filter, p(name));
  });
  if (listing.where) conditions.push(listing.where);
  if (request.cursor !== undefined) {
    // The subquery finds the cursor only among the rows that the caller can see, so a foreign cursor selects no rows.
    // The comparison is of row values, because PostgreSQL could not use a condition with OR as an index condition.
    const same = sql`c.tenant_id = ${p('tenant')} and c.livemode = ${p('live')} and c.id = ${cursor}`;
    const sameRow = visibility === 'context' ? sql`${same} and c.context_id = ${p('context')}` : same;
    const position = listing.order ?? table.created;
    conditions.push(
      sql`(${sql.join(positionOf(asked), sql`, `)}) ${sql.raw(request.backward ? '>' : '<')} (select c.${sql.identifier(position.name)}, c.id from ${table} c where ${sameRow})`,
    );
  }
  return conditions;
}
