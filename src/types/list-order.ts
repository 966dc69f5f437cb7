import { getTableColumns, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { camel, type MessageText, type Problem, problem, snake } from '../errors/problems.js';

/** How an expression names the columns of a row, which may be in a subquery. */
export type ColumnName = (column: PgColumn) => SQLWrapper;

/**
 * An order of a list by a value that never changes, and then by the id. Its indexes begin with the list and the value
 * of one filter. A range of the value is a range of such an index, so it requires the order.
 */
export interface OrderBy {
  /** The value of a row, and its type in PostgreSQL. */
  by: (name: ColumnName) => SQL;
  type: 'bigint' | 'text' | 'numeric';
  valueOf(row: object): bigint | string;
  /** The filter in the key of the indexes. */
  key: string;
  /** The values of this filter where it is not given. Without them it must be given, with one value. */
  all?: readonly string[];
  /** Why it must be given. */
  because?: string;
  /** The parents and accounts whose lists have such an index, next to the lists of callers. */
  parents: readonly PgColumn[];
  /** The view that has the value, where it is not in the table of the objects. */
  view?: OrderView;
}

/**
 * A view with the rows of a list and a value that changes: its cursors have the value, so that a page begins where the
 * one before it ended, also when the object of the cursor has moved since. The view has the columns of the table.
 */
interface OrderView {
  table: PgTable & Record<'tenantId' | 'livemode' | 'id' | 'created' | 'actingAccountId' | 'onRootList', PgColumn>;
  /** The arguments from which the values of the order's key are made. Only the required one is of this order alone. */
  takes: readonly string[];
  required: { name: string; because: string };
  keysOf: (given: Record<string, unknown>) => string[];
}

/**
 * A filter that is true or absent, such as `overdue`: a condition within an order, for one value of the order's key.
 */
interface Condition {
  order: string;
  value: string;
  where: SQL;
}

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
  ending?: Ending;
}

/**
 * A status that a view derives: a row whose stored status is `from` has the status `to` after the time in the column
 * `at`. The indexes have the stored status, and others have the rows in `from` by that time, so that those that nothing
 * has marked yet are found without reading the rest.
 */
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

/** What the objects of a list are found by. The functions that write their entries use the same texts. */
interface Searchable {
  /** The kind of object in the database. */
  object: string;
  /** An array of the texts of a row. */
  texts: (name: ColumnName) => SQL;
  /** The metadata of a row. */
  metadata: (name: ColumnName) => SQLWrapper;
}

/**
 * How a kind of object is listed: its filters by their dotted names in the graph, and which of them name an account.
 */
export interface Listing {
  /** The object's name in the specification; the field names of problems begin with it. */
  object: string;
  filters: Record<string, PgColumn | Either | Derived | Selective | Without | Flag>;
  /** Filters that name an account. With one, the list shows all visible objects and not only the acting account's. */
  byAccount: string[];
  /** Makes filters by columns of those that a client gives otherwise, and adds the problems of their values. */
  read?: (filters: Record<string, unknown>, problems: Problem[]) => Record<string, unknown>;
  /** Filters that always apply, such as the type of the accounts of an edge. */
  fixed?: Record<string, unknown>;
  /** The column that orders the list, newest first, instead of the creation time and the id. Its values are unique. */
  order?: PgColumn;
  /** Bounds of that column for a bound of the creation time. */
  within?: (bound: 'eq' | 'gt' | 'gte' | 'lt' | 'lte', time: SQL) => SQL[];
  /**
   * The columns with an index for each filter, next to the root list and the lists of acting accounts. A filter of
   * another list reads all rows of its parent.
   */
  parents?: readonly PgColumn[];
  /** The columns of parents whose index has a hash of the id; see `parentIndex`. */
  hashed?: readonly PgColumn[];
  /**
   * The column with the account that decides on whose list a row is. The index of the acting accounts' lists omits the
   * rows of the acting account itself, which the index of this column has.
   */
  own?: PgColumn;
  /** Whether its indexes also have the rows that are not on the root list. Without such rows it needs none. */
  below?: true;
  /** A condition that always applies. */
  where?: SQL;
  /** Its orders by other values than the creation time, by the name of the value. */
  orders?: Readonly<Record<string, OrderBy>>;
  /** Filters that are true or absent. */
  conditions?: Readonly<Record<string, Condition>>;
  /** What its objects are found by, where it can be searched. */
  search?: Searchable;
  /** Filters with an index that has no other filter, by the table of the objects that they name. */
  exclusive?: Readonly<Record<string, string>>;
}

/** The order of a page, and its filters. */
export interface Ordered {
  /** The name of an order by a value; undefined for the order by time. */
  order: string | undefined;
  ascending: boolean;
  filters: Record<string, unknown>;
}

/**
 * The order of a page with the filters that it implies. Adds a problem for each filter that no index serves in this
 * order: such a page would read all rows of its list to find a few.
 */
export function orderedBy(
  listing: Listing,
  orderBy: string | null | undefined,
  given: Record<string, unknown>,
  parent: PgColumn | undefined,
  problems: Problem[],
): Ordered {
  const [, value = 'created', direction = 'desc'] = /^(.+)_(asc|desc)$/.exec(orderBy ?? '') ?? [];
  const order = value === 'created' ? undefined : camel(value);
  const ordered: Ordered = { order, ascending: direction === 'asc', filters: given };
  const refuse = (name: string, text: MessageText) =>
    problems.push(problem('parameter_invalid', `${listing.object}.${name.split('.').map(snake).join('.')}`, text));
  const names = [...new Set(Object.keys(given).map((name) => memberOf(listing, name)))];
  for (const name of names) {
    const needed = neededBy(listing, name);
    if (needed !== undefined && needed !== order) refuse(name, needs(needed, listing.orders?.[needed]?.view));
    const filter = listing.filters[name];
    if (filter && 'flag' in filter && given[name] !== true) refuse(name, onlyTrue);
    if (listing.exclusive?.[name])
      for (const other of names) if (other !== name && other !== 'created') refuse(other, notWith(snake(name), name));
  }
  const by = order === undefined ? undefined : listing.orders?.[order];
  if (order === undefined || !by) return ordered;
  if (by.view) return { ...ordered, filters: viewed(listing, by, by.view, given, value, parent, refuse) };
  if (parent && !by.parents.includes(parent)) refuse('orderBy', 'is not available for this list, except by created');
  for (const name of names)
    if (!servedBy(listing, by, order, name) && neededBy(listing, name) === undefined)
      refuse(name, notWith(`order_by ${value}`, `orderBy ${value.toUpperCase()}`));
  ordered.filters = { ...given };
  const condition = names.find((name) => listing.conditions?.[name]);
  if (condition !== undefined) {
    if (given[condition] !== true) refuse(condition, onlyTrue);
    if (by.key in given) refuse(by.key, notWith(snake(condition), condition));
    ordered.filters[by.key] = listing.conditions![condition]!.value;
  } else ordered.filters[by.key] = keyOf(by, given[by.key], value, (text) => refuse(by.key, text));
  for (const [name, bound] of Object.entries(given))
    if (memberOf(listing, name) === order) ordered.filters[name] = String(bound);
  return ordered;
}

const onlyTrue = 'must be true. Leave it out for all objects.';

/** The filters of a page of a view: the values of its key, and a parent or an account. */
function viewed(
  { fixed }: Listing,
  by: OrderBy,
  { table, takes, required, keysOf }: OrderView,
  given: Record<string, unknown>,
  value: string,
  parent: PgColumn | undefined,
  refuse: (name: string, text: MessageText) => void,
): Record<string, unknown> {
  const own = parent && Object.values(getTableColumns(table)).find(({ name }) => name === parent.name);
  // The arguments that the order needs are those of lists that have it.
  if (parent && !(own && by.parents.includes(own))) {
    refuse('orderBy', 'is not available for this list, except by created');
    return given;
  }
  for (const name of Object.keys(given))
    if (!takes.includes(name)) refuse(name, notWith(`order_by ${value}`, `orderBy ${value.toUpperCase()}`));
  if (given[required.name] === undefined)
    refuse(required.name, {
      v1: `must be given with order_by ${value}, ${required.because}`,
      graph: `must be given with orderBy ${value.toUpperCase()}, ${required.because}`,
    });
  return { [by.key]: keysOf({ ...given, ...fixed }) };
}

/** The filter that a dotted name belongs to: `amount` of `amount.gte`. */
function memberOf(listing: Listing, name: string): string {
  const [member = name] = name.split('.');
  return member === 'created' || listing.orders?.[member] ? member : name;
}

/** The order that a range or a condition needs. */
const neededBy = (listing: Listing, name: string) =>
  listing.orders?.[name]
    ? name
    : (listing.conditions?.[name]?.order ??
      Object.entries(listing.orders ?? {}).find(([, { view }]) => view?.required.name === name)?.[0]);

/** Whether the indexes of an order serve a filter. */
function servedBy(listing: Listing, by: OrderBy, order: string, name: string): boolean {
  if (name === order || name === by.key || listing.conditions?.[name]?.order === order) return true;
  const filter = listing.filters[name];
  if (!filter || !listing.byAccount.includes(name)) return false;
  const columns = 'either' in filter ? filter.either : [filter];
  return columns.every((column) => by.parents.includes(column as PgColumn));
}

function keyOf(by: OrderBy, given: unknown, value: string, refuse: (text: MessageText) => void): unknown {
  if (given === undefined && by.all) return [...by.all];
  if (by.all) return given;
  const values = [given].flat();
  if (values.length !== 1 || given === undefined)
    refuse({
      v1: `must have one value with order_by ${value}${by.because ?? ''}`,
      graph: `must have one value with orderBy ${value.toUpperCase()}${by.because ?? ''}`,
    });
  return values[0];
}

const needs = (order: string, view?: OrderView): MessageText => {
  const why = view ? 'of whose amounts it is the currency' : 'because only that order has its ranges';
  const name = snake(order);
  return {
    v1: `needs order_by=${name}_desc or ${name}_asc, ${why}`,
    graph: `needs orderBy: ${name.toUpperCase()}_DESC or ${name.toUpperCase()}_ASC, ${why}`,
  };
};

const notWith = (v1: string, graph: string): MessageText => ({
  v1: `cannot be combined with ${v1}. Leave out one of them.`,
  graph: `cannot be combined with ${graph}. Leave out one of them.`,
});

const compared: Record<string, (a: bigint | string, b: bigint | string) => boolean> = {
  eq: (a, b) => a === b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
};

/** Whether an object is outside of a list with these filters for ever, so that it has no position there. */
export function isOutside(
  listing: Listing,
  { order, filters }: Pick<Ordered, 'order' | 'filters'>,
  row: object,
): boolean {
  const by = order === undefined ? undefined : listing.orders?.[order];
  if (order === undefined || !by || by.view) return false;
  // What may change, such as a status, says nothing about the position of an object.
  if (!by.all && (row as Record<string, unknown>)[by.key] !== filters[by.key]) return true;
  const value = by.valueOf(row);
  return Object.entries(filters).some(([name, bound]) => {
    const [member, which = ''] = name.split('.');
    if (member !== order || !compared[which]) return false;
    return !compared[which](value, by.type === 'bigint' ? BigInt(String(bound)) : String(bound));
  });
}
