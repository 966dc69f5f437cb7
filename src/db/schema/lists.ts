import { is, type SQL, type SQLWrapper } from 'drizzle-orm';
import { type IndexBuilder, PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import { type Columns, type Common, listIndexes, parentIndexes } from './filter-index.js';

/** How an expression names the columns of a row, which may be in a subquery. */
export type ColumnName = (column: PgColumn) => SQLWrapper;

/** A filter by a value that either of two columns may have, such as the account on either side of a deposit. */
interface Either {
  either: readonly [PgColumn, PgColumn];
}

/**
 * A filter by a list of values of a column without an index. PostgreSQL has no statistics for a column that a view
 * derives: with an equality it expects few matches, reads all rows and sorts them. With `array_position` it expects
 * most rows to match, and scans the index of the list.
 */
interface Derived {
  derived: PgColumn;
  /** Why it needs no index, where no key has it. */
  because?: string;
  ending?: Ending;
}

/** A derived status of which the stored one ends by itself, at a time that the row has. */
interface Ending {
  stored: PgColumn;
  at: PgColumn;
  from: string;
  to: string;
  /** The present time, read once for a statement. */
  now: SQL;
}

/** A filter that omits the rows with these values in a column. */
interface Without {
  without: PgColumn;
}

/** A filter that is true or absent: a text of the row that is `true` or null, which the keys of indexes have. */
interface Flag {
  flag: SQL;
}

/** A filter by a column of which few rows have the same value, so that an index of the column alone is enough. */
interface Selective {
  selective: PgColumn;
}

export type Filter = PgColumn | Either | Derived | Selective | Without | Flag;

/**
 * The keys of the indexes of an order, by the last part of their names: each is a filter, or several together. Such an
 * index serves a list by all of its filters, and by some of them when `all` has the values of the others.
 */
type Keys = Readonly<Record<string, readonly string[]>>;

/** The lists of parents and accounts that have an index for each key, by the first part of the names of these. */
type Scans = Readonly<Record<string, PgColumn | Scan>>;

/** A scan, with the only keys that it has where it has not all of them. */
interface Scan {
  column: PgColumn;
  keys?: readonly string[];
  /** Whether each of its keys is apart from those of the other orders. */
  apart?: true;
}

/** The scans of lists with their columns, by the first part of the names of their indexes. */
export const scansOf = ({ scans = {} }: { scans?: Scans | undefined }): [name: string, scan: Scan][] =>
  Object.entries(scans).map(([name, scan]) => [
    name,
    is(scan, PgColumn) ? { column: scan as PgColumn } : (scan as Scan),
  ]);

/**
 * A filter that is true or absent, such as `overdue`: a condition within an order, for one value of a filter of its
 * keys. A list without another order has this one.
 */
interface Condition {
  order: string;
  implies: 'asc' | 'desc';
  filter: string;
  value: string;
  where: SQL;
}

/**
 * An order of a list by a value that never changes, and then by the id. A range of the value is a range of its indexes,
 * so it requires the order.
 */
export interface OrderBy {
  /** The value of a row, and its type in PostgreSQL. */
  by: (name: ColumnName) => SQLWrapper;
  type: 'bigint' | 'text' | 'numeric';
  valueOf(row: object): bigint | string;
  /** The part of the names of its indexes behind that of the table. */
  as: string;
  keys: Keys;
  scans: Scans;
  /** What is between the parts of its keys of several filters; see `apartIn`. */
  apart?: string;
  /** The filters that must be given, with one value, and why. */
  one?: Readonly<Record<string, string>>;
  /** The view that has the value, where it is not in the table of the objects. */
  view?: OrderView;
}

/**
 * A view with the rows of a list and a value that changes: its cursors have the value, so that a page begins where the
 * one before it ended, also when the object of the cursor has moved since. The view has the columns of the table.
 */
export interface OrderView {
  table: PgTable & Columns;
  /** The one filter in the keys. */
  key: string;
  /** The arguments from which the values of that filter are made. Only the required one is of this order alone. */
  takes: readonly string[];
  required: { name: string; because: string };
  keysOf: (given: Record<string, unknown>) => string[];
}

/**
 * How the objects of a table are listed: filters × scans × orders. From it come the indexes of the table, the statement
 * of a page, what is refused, and the table of the documentation.
 */
export interface Lists {
  /** The filters by their dotted names in the graph. */
  filters: Readonly<Record<string, Filter>>;
  /** Filters that name an account. With one, the list shows all visible objects and not only the acting account's. */
  byAccount: readonly string[];
  /**
   * The column with the account that decides on whose list a row is. The index of the acting accounts' lists omits the
   * rows of the acting account itself, which the index of this column has.
   */
  own?: PgColumn;
  /** Whether its indexes also have the rows that are not on the root list. Without such rows it needs none. */
  below?: true;
  /** The keys of the indexes in the order of the list; the lists of callers have each of them. */
  keys?: Keys;
  /** Whether the lists of callers have no keys, since nobody asks for them. */
  onlyScans?: true;
  scans?: Scans;
  /** The columns of parents whose index has a hash of the id; see `parentIndex`. */
  hashed?: readonly PgColumn[];
  /** All values of a filter, for keys that have it beside others. */
  all?: Readonly<Record<string, readonly string[]>>;
  /** Its orders by other values than the creation time, by the name of the value. */
  orders?: Readonly<Record<string, OrderBy>>;
  /** Filters that are true or absent, within an order. */
  conditions?: Readonly<Record<string, Condition>>;
  /** Filters with an index that has no other filter, by the table of the objects that they name. */
  exclusive?: Readonly<Record<string, string>>;
}

/** What the keys of indexes can have of a filter. */
export function inKey(filter: Filter | undefined): PgColumn | SQL | undefined {
  if (filter === undefined || is(filter, PgColumn)) return filter as PgColumn | undefined;
  if ('flag' in filter) return filter.flag;
  return 'derived' in filter ? filter.ending?.stored : undefined;
}

/**
 * What is between the parts of a key. Two orders with the same expression in their keys could be mistaken for one
 * another: PostgreSQL would read the index of the other order, and sort, where it expects few rows. So keys of several
 * filters differ by it; those of one filter were there before.
 */
export const apartIn = ({ apart = ' ' }: { apart?: string }, parts: number, scan?: Scan): string =>
  parts > 1 || scan?.apart ? apart : ' ';

/** The indexes of the lists of a table. */
export function indexesOf(table: string, t: Columns, lists: Lists, common: Common = {}): IndexBuilder[] {
  const { own, below, filters, orders = {} } = lists;
  const expressions = (keys: Keys, only: readonly string[] = Object.keys(keys)) =>
    Object.fromEntries(only.map((name) => [name, keys[name]!.map((part) => inKey(filters[part])!)]));
  const built = (
    prefix: string,
    order: Pick<Partial<OrderBy>, 'apart' | 'keys' | 'scans'>,
    of: Common,
    listed = true,
  ) => [
    ...(listed
      ? listIndexes(prefix, t, expressions(order.keys ?? {}), {
          ...of,
          ...(own && { own }),
          ...(below && { below }),
          apart: (parts) => apartIn(order, parts),
        })
      : []),
    ...scansOf(order).flatMap(([name, scan]) =>
      parentIndexes(name, t, scan.column, expressions(order.keys ?? {}, scan.keys), {
        ...of,
        apart: (parts) => apartIn(order, parts, scan),
      }),
    ),
  ];
  const { keys = {}, scans = {} } = lists;
  return [
    ...built(table, { keys, scans }, common, !lists.onlyScans),
    ...Object.values(orders).flatMap((order) =>
      built(`${table}_${order.as}`, order, { ...common, order: [order.by((column) => column) as SQL, t.id] }),
    ),
  ];
}

/**
 * Throws an error that names the filter of a list that no index serves: such a list would read all of its rows to find
 * a few.
 */
export function checkServed(object: string, lists: Lists): void {
  const { filters, byAccount, keys = {}, orders = {}, all = {}, exclusive = {} } = lists;
  const keyed = new Set([keys, ...Object.values(orders).map((order) => order.keys)].flatMap(Object.values).flat());
  // A key serves one of its filters alone if it has all values of the others.
  const isServed = (name: string) =>
    Object.values(keys).some((key) => key.includes(name) && key.every((part) => part === name || all[part]));
  for (const [name, filter] of Object.entries(filters)) {
    const served = isServed(name) || byAccount.includes(name) || Object.hasOwn(exclusive, name);
    const other = !is(filter, PgColumn) && ('selective' in filter || ('derived' in filter && filter.because));
    if (!served && !other)
      throw new Error(`no index serves the filter ${name} of lists of ${object}: add it to the keys of its lists`);
  }
  for (const name of keyed)
    if (inKey(filters[name]) === undefined)
      throw new Error(`a key of the lists of ${object} has ${name}, which is no filter by a value of the row`);
}

/**
 * Lists with filters by columns, each with an index of its own, for the lists of callers and those of one parent, which
 * another filter names: the account of the rows, by default. `more` are filters that need no key.
 */
export function listsBy(
  parent: Readonly<Record<string, PgColumn>>,
  scan: string,
  filters: Readonly<Record<string, PgColumn>>,
  { own = true, more = {} }: { own?: boolean; more?: Lists['filters'] } = {},
): Lists {
  const [[name, column]] = Object.entries(parent) as [[string, PgColumn]];
  return {
    filters: { ...parent, ...filters, ...more },
    byAccount: [name],
    ...(own && { own: column }),
    keys: Object.fromEntries(Object.keys(filters).map((each) => [each, [each]])),
    scans: { [scan]: column },
  };
}
