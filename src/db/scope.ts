import DataLoader from 'dataloader';
import { and, asc, count, desc, eq, getTableColumns, getTableName, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm';
import { type AnyPgColumn, type PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Caller } from '../request/caller.js';
import {
  type Listing,
  type Page,
  type PageArgs,
  type PageRequest,
  pageRequest,
  readOf,
  totalCountMax,
} from '../types/pagination.js';
import { problem, DomainError } from '../request/problems.js';
import type { RequestBudget } from '../request/budget.js';
import type { ArgumentsOf, Database, NoOthers, Preparable, TableOf, WriteEnvelope, WriteFunction } from './database.js';
import { listOf, type Visibility, visibilityOf, type VisibilityColumns, visibilityPredicate } from './visibility.js';

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

/**
 * The only access to tenant data, made from a caller. Every statement that it can spell is inside the
 * caller's tenant and mode, and inside its visibility; a resolver is given nothing else.
 * Loaders live and die with it, so nothing read for one caller is ever shown to another.
 */
export class Scope {
  #loaders = new Map<string, DataLoader<string, unknown>>();
  constructor(
    readonly caller: Caller,
    private readonly database: Database,
    /** Of the request that the scope is for: once it has ended, nothing more is read. */
    private readonly budget?: RequestBudget,
  ) {}

  /** The object with this id, or a domain error that does not tell what is missing from what the caller cannot see. */
  async one<T extends Rows>(table: T, id: string, field = `${getTableName(table)}.id`): Promise<Row<T>> {
    const row = await this.find(table, id);
    if (!row) throw new DomainError(problem('resource_missing', field));
    return row;
  }

  /** The object with this id, if it is visible to the caller; all ids of one tick are one statement. */
  find<T extends Rows>(table: T, id: string | null | undefined): Promise<Row<T> | null> {
    return id == null ? Promise.resolve(null) : this.findBy(table, table.id, id);
  }

  /** The object that is alone in having this value in a column, such as the setting of an account. */
  findBy<T extends Rows>(table: T, column: PgColumn, value: string): Promise<Row<T> | null> {
    return this.#loader(`${getTableName(table)}.${column.name}`, (values: readonly string[]) =>
      this.#byValue(table, column, values),
    ).load(value);
  }

  /** One page of the caller's list of these objects. */
  async page<T extends Rows>(table: T, listing: Listing, args: PageArgs): Promise<Page<Row<T>>> {
    const request = pageRequest(listing, args);
    const visibility = listOf(
      this.caller,
      listing.byAccount.some((name) => name in request.filters),
    );
    const rows = await this.#rows(table, listing, request, visibility);
    return this.#page(table, listing, request, rows, {
      beyond: async (backward, cursor) =>
        (await this.#rows(table, listing, { ...request, backward, cursor, size: 0 }, visibility)).length > 0,
      count: () => this.#count(table, listing, request, visibility),
    });
  }

  /** One page per parent of the objects that hang on it, by their column or by links: one statement, however many parents ask in a tick. */
  async edge<T extends Rows>(
    table: T,
    listing: Listing,
    parent: PgColumn | Link,
    parentId: string,
    args: PageArgs,
  ): Promise<Page<Row<T>>> {
    const request = pageRequest(listing, args);
    const name = `${getTableName(table)}.${columnOf(parent).name}:${JSON.stringify([listing.fixed, args])}`;
    const rows = await this.many(name, parentId, (ids) => this.#perParent(table, listing, parent, request, ids));
    return this.#page(table, listing, request, rows ?? [], {
      beyond: async (backward, cursor) =>
        (await this.many(`${name}:beyond:${backward}`, `${parentId} ${cursor}`, (keys) =>
          this.#beyondPerParent(table, listing, parent, { ...request, backward, cursor }, keys),
        )) ?? false,
      count: async () => {
        const n = await this.many(`${name}:count`, parentId, (ids) =>
          this.#countPerParent(table, listing, parent, request, ids),
        );
        return n !== null && n <= totalCountMax ? n : null;
      },
    });
  }

  /** All rows that hang on a parent, for the rules that judge them together; one statement for all parents of a tick. */
  async all<T extends Child>(table: T, parent: PgColumn, parentId: string): Promise<T['$inferSelect'][]> {
    return (
      (await this.many(`all:${getTableName(table)}.${parent.name}`, parentId, async (ids) => {
        const rows = await this.#read<{ parent: string; row: T['$inferSelect'] }>(
          `all:${getTableName(table)}.${parent.name}`,
          (db) =>
            db
              .select({ parent: sql<string>`${parent}`, row: getTableColumns(table) })
              .from(table as PgTable)
              .where(
                and(eq(table.tenantId, p('tenant')), eq(table.livemode, p('live')), sql`${parent} = any(${p('ids')})`),
              )
              .orderBy(desc(table.created), desc(table.id)),
          { ...this.#tenantAndMode, ids },
        );
        const byParent = new Map<string, T['$inferSelect'][]>(ids.map((id) => [id, []]));
        for (const row of rows) byParent.get(row.parent)?.push(row.row);
        return byParent;
      })) ?? []
    );
  }

  /** What a batch finds for one key: all keys that are asked for under a name in one tick are one batch. */
  many<V>(name: string, key: string, batch: (keys: readonly string[]) => Promise<Map<string, V>>): Promise<V | null> {
    return this.#loader(name, batch).load(key);
  }

  /** The id of a row that is to be written, by the database's clock: for what is encrypted for that row alone. */
  async newId(object: string): Promise<string> {
    const [row] = await this.database.call('new_id', [object]);
    return String(row!.new_id);
  }

  /** One write: one call of one function, with its key. See the law in the README. */
  async write<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
    fn: F,
    table: T,
    envelope: WriteEnvelope | Pick<WriteEnvelope, 'requestId'>,
    args: A & NoOthers<A, F>,
  ): Promise<T['$inferSelect']> {
    const { tenantId, livemode, permission } = this.caller;
    if (permission === 'read') throw new Error(`${fn} was called for a caller that may only read`);
    const [row] = await this.database.write(fn, tenantId, livemode, envelope, args, table);
    if (!row) throw new Error(`${fn} answered no row`);
    // What was read before the write is stale now.
    this.#loaders = new Map();
    return row;
  }

  /** What this key answered before, if it did. */
  answered<T extends PgTable>(table: T, key: string) {
    const { tenantId, livemode, actingAccountId } = this.caller;
    return this.database.answered(tenantId, livemode, actingAccountId, key, table, getTableName(table));
  }

  /** A statement of a slice's own. Its build gets the tenant's placeholders and must use them for every table. */
  read<T>(name: string, build: (db: PostgresJsDatabase) => Preparable, values: Record<string, unknown>): Promise<T[]> {
    return this.#read(name, build, { ...this.#tenantAndMode, ...values });
  }

  /** A statement that answers a compiled query: its parts are bounded by the predicates of visibility.ts, as those above are. */
  compiled(
    text: string,
    names: readonly string[],
    values: Record<string, unknown>,
  ): Promise<{ data?: string | null }[]> {
    const all: Record<string, unknown> = { ...this.#tenantAndMode, ...values };
    return this.database.text(
      text,
      names.map((name) => all[name]),
      this.budget,
    );
  }

  #read<T>(name: string, build: (db: PostgresJsDatabase) => Preparable, values: Record<string, unknown>): Promise<T[]> {
    return this.database.read(name, build, values, this.budget);
  }

  /** As `read`, for statements that begin with a row by its id: their build also gets what keeps that row visible to the caller. */
  readFrom<T>(
    name: string,
    build: (db: PostgresJsDatabase, reached: (table: VisibilityColumns) => SQL | undefined) => Preparable,
    values: Record<string, unknown> & { id: string },
  ): Promise<T[]> {
    const visibility = visibilityOf(this.caller);
    const reached = (table: VisibilityColumns) => and(...visibilityPredicate(table, visibility), eq(table.id, p('id')));
    return this.read(`${name}:${visibility}`, (db) => build(db, reached), values);
  }

  get #tenantAndMode() {
    return { tenant: this.caller.tenantId, live: this.caller.livemode, context: this.caller.actingAccountId };
  }

  #loader<V>(name: string, batch: (ids: readonly string[]) => Promise<Map<string, V>>): DataLoader<string, V | null> {
    let loader = this.#loaders.get(name);
    if (!loader) {
      loader = new DataLoader<string, unknown>(async (ids) => {
        const found = await batch([...new Set(ids)]);
        return ids.map((id) => found.get(id) ?? null);
      });
      this.#loaders.set(name, loader);
    }
    return loader as DataLoader<string, V | null>;
  }

  async #byValue<T extends Rows>(table: T, column: PgColumn, values: readonly string[]): Promise<Map<string, Row<T>>> {
    const visibility = visibilityOf(this.caller);
    // One value is an equality: PostgreSQL keeps its plan, where it would make a new one for every list of values.
    const [value] = values;
    const alone = values.length === 1;
    const rows = await this.#read<Row<T>>(
      `one${alone ? '' : 's'}:${getTableName(table)}.${column.name}:${visibility}`,
      (db) =>
        db
          .select()
          .from(table as PgTable)
          .where(
            and(
              ...visibilityPredicate(table, visibility),
              alone ? eq(column, p('value')) : sql`${column} = any(${p('values')})`,
            ),
          ),
      alone ? { ...this.#tenantAndMode, value } : { ...this.#tenantAndMode, values },
    );
    // Alone, what was found is what was asked for.
    if (alone) return new Map(rows.map((row) => [value!, row]));
    const property = Object.entries(getTableColumns(table)).find(
      ([, c]) => c.name === column.name,
    )?.[0] as keyof Row<T>;
    return new Map(rows.map((row) => [row[property] as string, row]));
  }

  #rows<T extends Rows>(table: T, listing: Listing, request: PageRequest, visibility: Visibility): Promise<Row<T>[]> {
    return this.#read<Row<T>>(
      `page:${shape(table, request, visibility)}`,
      (db) => listed(db, { table, listing, request, visibility }, 'rows', readOf(request.size + 1)),
      { ...this.#tenantAndMode, ...values(request) },
    );
  }

  async #perParent<T extends Rows>(
    table: T,
    listing: Listing,
    parent: PgColumn | Link,
    request: PageRequest,
    ids: readonly string[],
  ) {
    const visibility = visibilityOf(this.caller);
    const rows = await this.#read<{ parent: string; row: Row<T> }>(
      `edge:${columnOf(parent).name}:${shape(table, request, visibility)}`,
      (db) => {
        const child = listed(db, { table, listing, request, visibility, parent }, 'rows', readOf(request.size + 1)).as(
          'child',
        );
        const columns = Object.fromEntries(
          Object.keys(getTableColumns(table)).map((name) => [
            name,
            (child as unknown as Record<string, AnyPgColumn>)[name]!,
          ]),
        );
        return db
          .select({ parent: sql<string>`parent.id`, row: columns })
          .from(sql`unnest(${p('ids')}::text[]) as parent(id)`)
          .crossJoinLateral(child);
      },
      { ...this.#tenantAndMode, ...values(request), ids },
    );
    const byParent = new Map<string, Row<T>[]>(ids.map((id) => [id, []]));
    for (const { parent, row } of rows) byParent.get(parent)?.push(row);
    return byParent;
  }

  /** Whether anything lies beyond a cursor, for many parents at once; keys are a parent and its cursor. */
  async #beyondPerParent<T extends Rows>(
    table: T,
    listing: Listing,
    parent: PgColumn | Link,
    request: PageRequest,
    keys: readonly string[],
  ) {
    const visibility = visibilityOf(this.caller);
    const pairs = keys.map((key) => key.split(' '));
    const rows = await this.#read<{ key: string; found: boolean }>(
      `beyond:${columnOf(parent).name}:${shape(table, request, visibility)}`,
      (db) => {
        const asked = { table, listing, request, visibility, parent, cursor: sql`parent.cursor` };
        return db
          .select({
            key: sql<string>`parent.id || ' ' || parent.cursor`,
            found: sql<boolean>`exists (${listed(db, asked, 'ids', 1)})`,
          })
          .from(sql`unnest(${p('ids')}::text[], ${p('cursors')}::text[]) as parent(id, cursor)`);
      },
      {
        ...this.#tenantAndMode,
        ...values(request),
        ids: pairs.map(([id]) => id),
        cursors: pairs.map(([, cursor]) => cursor),
      },
    );
    return new Map(rows.map(({ key, found }) => [key, found]));
  }

  async #countPerParent<T extends Rows>(
    table: T,
    listing: Listing,
    parent: PgColumn | Link,
    request: PageRequest,
    ids: readonly string[],
  ) {
    const visibility = visibilityOf(this.caller);
    const whole = wholeOf(request);
    const rows = await this.#read<{ id: string; n: number }>(
      `count:${columnOf(parent).name}:${shape(table, whole, visibility)}`,
      (db) => {
        const some = listed(db, { table, listing, request: whole, visibility, parent }, 'ids', totalCountMax + 1);
        return db
          .select({ id: sql<string>`parent.id`, n: sql<number>`(select count(*)::int from (${some}) found)` })
          .from(sql`unnest(${p('ids')}::text[]) as parent(id)`);
      },
      { ...this.#tenantAndMode, ...values(whole), ids },
    );
    return new Map(rows.map(({ id, n }) => [id, n]));
  }

  async #page<T extends Rows>(
    table: T,
    listing: Listing,
    request: PageRequest,
    rows: Row<T>[],
    look: Look,
  ): Promise<Page<Row<T>>> {
    if (rows.length === 0 && request.cursor !== undefined && !(await this.find(table, request.cursor))) {
      const name = request.backward ? 'ending_before' : 'starting_after';
      throw new DomainError(
        problem('parameter_invalid', `${listing.object}.${name}`, 'is not the id of an object of this list'),
      );
    }
    const hasNext = rows.length > request.size;
    const nodes = rows.slice(0, request.size);
    if (request.backward) nodes.reverse();
    const [first, last] = [nodes.at(0)?.id as string | undefined, nodes.at(-1)?.id as string | undefined];
    // Where a page came from: without a cursor it began at its end of the list, and nothing lies behind it.
    const behind = async () => {
      const edge = (request.backward ? last : first) ?? request.cursor;
      return request.cursor !== undefined && edge !== undefined && look.beyond(!request.backward, edge);
    };
    return {
      nodes,
      hasNext,
      edges: () => nodes.map((node) => ({ cursor: node.id as string, node })),
      pageInfo: {
        hasNextPage: request.backward ? behind : hasNext,
        hasPreviousPage: request.backward ? hasNext : behind,
        startCursor: first ?? null,
        endCursor: last ?? null,
      },
      totalCount: look.count,
    };
  }

  async #count<T extends Rows>(
    table: T,
    listing: Listing,
    request: PageRequest,
    visibility: Visibility,
  ): Promise<number | null> {
    const whole = wholeOf(request);
    const [row] = await this.#read<{ n: number }>(
      `count:${shape(table, whole, visibility)}`,
      (db) => {
        const some = listed(db, { table, listing, request: whole, visibility }, 'ids', totalCountMax + 1);
        return db.select({ n: count() }).from(some.as('found'));
      },
      { ...this.#tenantAndMode, ...values(whole) },
    );
    return row && row.n <= totalCountMax ? row.n : null;
  }
}

/** How a page finds out about the rest of its list, when it is asked. */
interface Look {
  beyond(backward: boolean, cursor: string): Promise<boolean>;
  count(): Promise<number | null>;
}

/** The whole list that a page is of. */
function wholeOf(request: PageRequest): PageRequest {
  return { ...request, size: 0, cursor: undefined, backward: false };
}

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
function columnOf(parent: PgColumn | Link): PgColumn {
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
