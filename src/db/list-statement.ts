import { and, asc, desc, eq, getTableColumns, getTableName, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { type Listing, type PageRequest, readOf } from '../types/pagination.js';
import { type Visibility, type VisibilityColumns, visibilityPredicate } from './visibility.js';

/** A table that callers reach by the visibility columns of its rows. */
export type Rows = PgTable & VisibilityColumns;
/** A table whose rows are reached through their parents alone. */
export type Child = PgTable & Pick<VisibilityColumns, 'tenantId' | 'livemode' | 'id' | 'created'>;
export type Row<T extends Rows> = T['$inferSelect'];
/**
 * A table of links between parents and what hangs on them, where one may hang on many. A link is made with what hangs on
 * it, in the same second: its index has the order of the list.
 */
export interface Link {
  links: Child;
  parent: PgColumn;
  child: PgColumn;
}
const p = sql.placeholder;
/** What makes two page statements the same: everything but the values. */
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

/** The column that names the parent, of the table itself or of its links. */
export function columnOf(parent: PgColumn | Link): PgColumn {
  return 'links' in parent ? parent.parent : parent;
}

/** What orders a list: the columns of the index that is walked. */
function positionOf({ table, listing, parent }: Asked): [PgColumn, PgColumn] {
  if (parent && 'links' in parent) return [parent.links.created, parent.child];
  return [listing.order ?? table.created, table.id];
}

function order(asked: Asked): SQL[] {
  const by = asked.request.backward ? asc : desc;
  return positionOf(asked).map((column) => by(column));
}

const bounds = { eq, gt, gte, lt, lte };

/** Which rows of a list a statement asks for: of a parent, if it names one, and beyond a cursor, if the request has one. */
export interface Asked {
  table: Rows;
  listing: Listing;
  request: PageRequest;
  visibility: Visibility;
  parent?: PgColumn | Link | undefined;
  /** The parent's id, where it is not the column of that name beside the rows. */
  of?: SQL;
  cursor?: SQL;
}

/**
 * The first rows of a list in its order, or the ids of so many in any. Where either of two columns may have a value, each
 * is asked by itself and what comes first of both is merged: an index has the order of one side, and none that of both.
 */
export function listed(db: PostgresJsDatabase, asked: Asked, what: 'rows' | 'ids', rows: number) {
  const { table, listing, request, visibility, parent, of = sql`parent.id` } = asked;
  const limit = sql.raw(String(rows)) as unknown as number;
  const columns: Record<string, PgColumn> = what === 'rows' ? getTableColumns(table) : { id: table.id };
  // Drizzle spells the order of a union anew, in place.
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

/** What each side of a list asks for: the second leaves out what the first has, so that nothing comes twice. */
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
    // The cursor is looked up among what the caller can see, so a foreign one compares with nothing; a row value, since OR would not be an index condition.
    const same = sql`c.tenant_id = ${p('tenant')} and c.livemode = ${p('live')} and c.id = ${cursor}`;
    const reached = visibility === 'context' ? sql`${same} and c.context_id = ${p('context')}` : same;
    const position = listing.order ?? table.created;
    conditions.push(
      sql`(${sql.join(positionOf(asked), sql`, `)}) ${sql.raw(request.backward ? '>' : '<')} (select c.${sql.identifier(position.name)}, c.id from ${table} c where ${reached})`,
    );
  }
  return conditions;
}
