import { and, eq, getTableColumns, getTableName, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { DomainError, problem } from '../../errors/problems.js';
import { scannedBy } from '../../types/list-order.js';
import type { Listing, PageRequest } from '../../types/pagination.js';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Caller } from '../../request/caller.js';
import type { Row, Rows } from './position.js';
import type { Preparable } from '../read/row-mapper.js';
import { classOfPage, type ReadClass } from '../read/read-class.js';
import { type Visibility, visibilityPredicate } from '../read/visibility.js';

/** The reads that pages need: the scope of a caller, which limits every statement to the caller's tenant and mode. */
export interface ScopedReads {
  readonly caller: Caller;
  find<T extends Rows>(table: T, id: string): Promise<Row<T> | null>;
  many<V>(name: string, key: string, batch: (keys: readonly string[]) => Promise<Map<string, V>>): Promise<V | null>;
  read<T>(
    name: string,
    build: (db: PostgresJsDatabase) => Preparable,
    values: Record<string, unknown>,
    readClass: ReadClass,
  ): Promise<T[]>;
}

/** The parts of a cursor of a view: the id of an object, and the value that it had. */
const cursorWithValue = /^(\w+)@(-?\d{1,24})$/;

const orderOf = (listing: Listing, { order }: PageRequest) =>
  order === undefined ? undefined : listing.orders?.[order];

/** The rows that a page reads, and how they are listed: those of a view with the columns of the table, or its own. */
export function rowsOf<T extends Rows>(table: T, listing: Listing, request: PageRequest): [T, Listing] {
  const by = orderOf(listing, request);
  if (!by?.view) return [table, listing];
  const columns: Record<string, PgColumn> = getTableColumns(by.view.table);
  const filters: Record<string, PgColumn> = {};
  for (const name of [by.view.key, ...Object.keys(listing.filters)]) if (columns[name]) filters[name] = columns[name];
  // The view has all columns of the table.
  return [by.view.table as unknown as T, { ...listing, filters, parents: scannedBy(by), scans: by.scans }];
}

/** A column of a table in the rows that a page reads. */
export function columnIn(rows: Rows, column: PgColumn): PgColumn {
  return Object.values(getTableColumns(rows)).find(({ name }) => name === column.name) ?? column;
}

/** The cursor of an object of a page: its id, and in a view also the value that decides about its place. */
export function cursorOf(listing: Listing, request: PageRequest, node: object): string {
  const { id } = node as { id: string };
  const by = orderOf(listing, request);
  return by?.view ? `${id}@${by.valueOf(node)}` : id;
}

/** The id of the object of a cursor. */
export const idOf = (cursor: string): string => cursorWithValue.exec(cursor)?.[1] ?? cursor;

/** The refusal of a cursor whose object is not in the list. */
export function outside(listing: Listing, request: PageRequest): DomainError {
  const name = request.backward ? 'ending_before' : 'starting_after';
  return new DomainError(
    problem('parameter_invalid', `${listing.object}.${name}`, 'must be the id of an object of this list'),
  );
}

/** The request with the place of its cursor, where the cursor of a page of a view is only an id: the place of now. */
export async function resolvedCursor(
  reads: ScopedReads,
  rows: Rows,
  listing: Listing,
  request: PageRequest,
  visibility: Visibility,
): Promise<PageRequest> {
  const by = orderOf(listing, request);
  const { cursor } = request;
  if (!by?.view || cursor === undefined || cursorWithValue.test(cursor)) return request;
  const [row] = await reads.read<{ value: string }>(
    `place:${getTableName(rows)}:${visibility}`,
    (db) =>
      db
        .select({ value: sql<string>`${by.by((column) => column)}::text` })
        .from(rows)
        .where(
          and(
            ...visibilityPredicate(rows, visibility),
            eq(rows.id, sql.placeholder('cursor')),
            sql`${listing.filters[by.view!.key] as PgColumn} = any(${sql.placeholder('keys')})`,
          ),
        ),
    { cursor, keys: request.filters[by.view.key] },
    classOfPage(listing, request),
  );
  if (!row) throw outside(listing, request);
  return { ...request, cursor: `${cursor}@${row.value}` };
}
