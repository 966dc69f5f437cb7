import { count, getTableColumns, getTableName, sql } from 'drizzle-orm';
import { isOutside } from '../../types/list-order.js';
import {
  type Listing,
  type Page,
  type PageArgs,
  type PageRequest,
  readOf,
  totalCountMax,
} from '../../types/pagination.js';
import { pageRequest } from '../../types/page-request.js';
import type { Caller } from '../../request/caller.js';
import { columnsOf } from '../schema/drizzle-types.js';
import { foundCursor } from './search.js';
import { columnIn, cursorOf, idOf, outside, resolvedCursor, rowsOf, type ScopedReads } from './view.js';
import { searchOf } from '../../types/list-search.js';
import { columnOf, listed, nameOf, type Parent, type Row, type Rows, shape, values } from './statement.js';
import { classOfCount, classOfPage } from '../read/read-class.js';
import { listOf, type Visibility, visibilityOf, hiddenFrom } from '../read/visibility.js';

const p = sql.placeholder;

/** Reads pages of lists through a scope: the caller's own lists, and the lists of a parent. */
export class Pages {
  constructor(private readonly reads: ScopedReads) {}

  /** One page of the caller's list of these objects. */
  async page<T extends Rows>(table: T, all: Listing, args: PageArgs): Promise<Page<Row<T>>> {
    const seen = seenBy(this.reads.caller, table, all);
    const given = pageRequest(seen, args);
    const visibility = listOf(this.reads.caller, given.includesDescendants);
    const [from, listing] = rowsOf(table, seen, given);
    const request = await resolvedCursor(this.reads, from, listing, given, visibility);
    const rows = await this.#rows(from, listing, request, visibility);
    return this.#page(table, listing, request, rows, {
      found: () => this.#found(from, listing, request, visibility),
      beyond: async (backward, cursor) =>
        (await this.#rows(from, listing, { ...request, backward, cursor, size: 0 }, visibility)).length > 0,
      count: () => this.#count(from, listing, request, visibility),
    });
  }

  /**
   * One page per parent of the objects that belong to it, by their column or by links.
   * One statement reads the pages of all parents requested in one tick.
   */
  async edge<T extends Rows>(
    table: T,
    all: Listing,
    of: Parent,
    parentId: string,
    args: PageArgs,
  ): Promise<Page<Row<T>>> {
    const seen = seenBy(this.reads.caller, table, all);
    const given = pageRequest(seen, args, columnOf(of));
    const [from, listing] = rowsOf(table, seen, given);
    const parent = 'links' in of || 'counted' in of ? of : columnIn(from, of);
    const request = await resolvedCursor(this.reads, from, listing, given, visibilityOf(this.reads.caller));
    const name = `${getTableName(from)}.${nameOf(parent)}:${textOf([listing.fixed, args])}`;
    const rows = await this.reads.many(name, parentId, (ids) => this.#perParent(from, listing, parent, request, ids));
    return this.#page(table, listing, request, rows ?? [], {
      found: async () => true,
      beyond: async (backward, cursor) =>
        (await this.reads.many(`${name}:beyond:${backward}`, `${parentId} ${cursor}`, (keys) =>
          this.#afterPerParent(from, listing, parent, { ...request, backward, cursor }, keys),
        )) ?? false,
      count: async () => {
        const n = await this.reads.many(`${name}:count`, parentId, (ids) =>
          this.#countPerParent(from, listing, parent, request, ids),
        );
        return n !== null && n <= totalCountMax ? n : null;
      },
    });
  }

  #rows<T extends Rows>(table: T, listing: Listing, request: PageRequest, visibility: Visibility): Promise<Row<T>[]> {
    return this.reads.read<Row<T>>(
      `page:${shape(table, request, visibility)}`,
      (db) => listed(db, { table, listing, request, visibility }, 'rows', readOf(request.size + 1)),
      values(request),
      classOfPage(listing, request),
    );
  }

  /** Whether a search finds the object of its cursor. Without a search, every object has a position. */
  async #found(table: Rows, listing: Listing, request: PageRequest, visibility: Visibility): Promise<boolean> {
    if (!searchOf(request.filters)) return true;
    const rows = await this.reads.read(
      `found:${shape(table, request, visibility)}`,
      (db) => foundCursor(db, { table, listing, request, visibility }),
      values(request),
      classOfPage(listing, request),
    );
    return rows.length > 0;
  }

  async #perParent<T extends Rows>(
    table: T,
    listing: Listing,
    parent: Parent,
    request: PageRequest,
    ids: readonly string[],
  ) {
    const visibility = visibilityOf(this.reads.caller);
    const rows = await this.reads.read<{ parent: string; row: Row<T> }>(
      `edge:${nameOf(parent)}:${shape(table, request, visibility)}`,
      (db) => {
        const child = listed(db, { table, listing, request, visibility, parent }, 'rows', readOf(request.size + 1)).as(
          'child',
        );
        const rowsOf = columnsOf(child);
        const names = Object.keys(getTableColumns(table));
        const columns = Object.fromEntries(names.map((name) => [name, rowsOf[name]!]));
        return db
          .select({ parent: sql<string>`parent.id`, row: columns })
          .from(sql`unnest(${p('ids')}::text[]) as parent(id)`)
          .crossJoinLateral(child);
      },
      { ids, ...values(request) },
      classOfPage(listing, request),
    );
    const byParent = new Map<string, Row<T>[]>(ids.map((id) => [id, []]));
    for (const { parent, row } of rows) byParent.get(parent)?.push(row);
    return byParent;
  }

  /**
   * Whether an object follows a cursor, for many parents at once. Each key is the parent's id, a space and its cursor.
   */
  async #afterPerParent<T extends Rows>(
    table: T,
    listing: Listing,
    parent: Parent,
    request: PageRequest,
    keys: readonly string[],
  ) {
    const visibility = visibilityOf(this.reads.caller);
    const pairs = keys.map((key) => key.split(' '));
    const rows = await this.reads.read<{ key: string; found: boolean }>(
      `beyond:${nameOf(parent)}:${shape(table, request, visibility)}`,
      (db) => {
        const given = { table, listing, request, visibility, parent, cursor: sql`parent.cursor` };
        return db
          .select({
            key: sql<string>`parent.id || ' ' || parent.cursor`,
            found: sql<boolean>`exists (${listed(db, given, 'ids', 1)})`,
          })
          .from(sql`unnest(${p('ids')}::text[], ${p('cursors')}::text[]) as parent(id, cursor)`);
      },
      {
        ...values(request),
        ids: pairs.map(([id]) => id),
        cursors: pairs.map(([, cursor]) => cursor),
      },
      classOfPage(listing, request),
    );
    return new Map(rows.map(({ key, found }) => [key, found]));
  }

  async #countPerParent<T extends Rows>(
    table: T,
    listing: Listing,
    parent: Parent,
    request: PageRequest,
    ids: readonly string[],
  ) {
    const visibility = visibilityOf(this.reads.caller);
    const list = unpaged(request);
    const rows = await this.reads.read<{ id: string; n: number }>(
      `count:${nameOf(parent)}:${shape(table, list, visibility)}`,
      (db) => {
        const some = listed(db, { table, listing, request: list, visibility, parent }, 'ids', totalCountMax + 1);
        return db
          .select({ id: sql<string>`parent.id`, n: sql<number>`(select count(*)::int from (${some}) found)` })
          .from(sql`unnest(${p('ids')}::text[]) as parent(id)`);
      },
      { ids, ...values(list) },
      classOfCount(listing, request),
    );
    return new Map(rows.map(({ id, n }) => [id, n]));
  }

  async #page<T extends Rows>(
    table: T,
    listing: Listing,
    request: PageRequest,
    rows: Row<T>[],
    rest: RestOfList,
  ): Promise<Page<Row<T>>> {
    const cursor = rows.length === 0 ? request.cursor : undefined;
    const object = cursor === undefined ? undefined : await this.reads.find(table, idOf(cursor));
    if (cursor !== undefined && (!object || isOutside(listing, request, object) || !(await rest.found())))
      throw outside(listing, request);
    const hasNext = rows.length > request.size;
    const nodes = rows.slice(0, request.size);
    if (request.backward) nodes.reverse();
    const cursorAt = (node?: Row<T>) => node && cursorOf(listing, request, node);
    const [first, last] = [cursorAt(nodes.at(0)), cursorAt(nodes.at(-1))];
    // Whether objects lie behind the page. Without a cursor the page starts at the end of the list, so none do.
    const edge = (request.backward ? last : first) ?? request.cursor;
    const behind =
      request.cursor !== undefined && edge !== undefined ? () => rest.beyond(!request.backward, edge) : false;
    return {
      nodes,
      hasNext,
      edges: () => nodes.map((node) => ({ cursor: cursorOf(listing, request, node), node })),
      pageInfo: {
        hasNextPage: request.backward ? behind : hasNext,
        hasPreviousPage: request.backward ? hasNext : behind,
        startCursor: first ?? null,
        endCursor: last ?? null,
      },
      totalCount: rest.count,
    };
  }

  async #count<T extends Rows>(
    table: T,
    listing: Listing,
    request: PageRequest,
    visibility: Visibility,
  ): Promise<number | null> {
    const list = unpaged(request);
    const [row] = await this.reads.read<{ n: number }>(
      `count:${shape(table, list, visibility)}`,
      (db) => {
        const some = listed(db, { table, listing, request: list, visibility }, 'ids', totalCountMax + 1);
        return db.select({ n: count() }).from(some.as('found'));
      },
      values(list),
      classOfCount(listing, request),
    );
    return row && row.n <= totalCountMax ? row.n : null;
  }
}

/** How a page reads about the rest of its list, when a client requests that. */
interface RestOfList {
  /** Whether the object of the cursor has a position in the list. */
  found: () => Promise<boolean>;
  beyond: (backward: boolean, cursor: string) => Promise<boolean>;
  count: () => Promise<number | null>;
}

/** The request for the complete list of a page. */
export function unpaged(request: PageRequest): PageRequest {
  return { ...request, size: 0, cursor: undefined, backward: false };
}

/** The listing without the rows that the caller does not see. The fixed filter is part of the statement's name. */
export function seenBy(caller: Caller, table: Rows, listing: Listing): Listing {
  const rows = hiddenFrom(caller, table);
  return rows
    ? {
        ...listing,
        filters: { ...listing.filters, hidden: { without: rows.column } },
        fixed: { ...listing.fixed, hidden: rows.values() },
      }
    : listing;
}

/** Arguments as one text, with amounts among them. */
const textOf = (args: unknown): string =>
  JSON.stringify(args, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
