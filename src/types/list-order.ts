import { getTableColumns, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { type ColumnName, checkServed, type Lists, type OrderBy, type OrderView, scansOf } from '../db/schema/lists.js';
import { camel, type MessageText, type Problem, problem, snake } from '../errors/problems.js';

export type { ColumnName, OrderBy } from '../db/schema/lists.js';

/** What the objects of a list are found by. The functions that write their entries use the same texts. */
interface Searchable {
  /** The kind of object in the database. */
  object: string;
  /** An array of the texts of a row. */
  texts: (name: ColumnName) => SQL;
  /** The metadata of a row. */
  metadata: (name: ColumnName) => PgColumn | ReturnType<ColumnName>;
}

/** How a kind of object is listed: what its table declares, and what only the graph knows. */
export interface Listing extends Lists {
  /** The object's name in the specification; the field names of problems begin with it. */
  object: string;
  /**
   * The columns with an index for each filter, next to the root list and the lists of acting accounts. A filter of
   * another list reads all rows of its parent.
   */
  parents: readonly PgColumn[];
  /** Makes filters by columns of those that a client gives otherwise, and adds the problems of their values. */
  read?: (filters: Record<string, unknown>, problems: Problem[]) => Record<string, unknown>;
  /** Filters that always apply, such as the type of the accounts of an edge. */
  fixed?: Record<string, unknown>;
  /** The column that orders the list, newest first, instead of the creation time and the id. Its values are unique. */
  order?: PgColumn;
  /** Bounds of that column for a bound of the creation time. */
  within?: (bound: 'eq' | 'gt' | 'gte' | 'lt' | 'lte', time: SQL) => SQL[];
  /** A condition that always applies. */
  where?: SQL;
  /** What its objects are found by, where it can be searched. */
  search?: Searchable;
}

/** The columns of the scans of an order. */
export const scannedBy = (of: Pick<Lists, 'scans'>): PgColumn[] => scansOf(of).map(([, { column }]) => column);

/** How objects are listed. Throws an error that names a filter which no index serves. */
export function listingOf(
  object: string,
  lists: Lists,
  more: Omit<Partial<Listing>, 'filters' | 'byAccount' | 'parents'> = {},
): Listing {
  checkServed(object, lists);
  return { object, ...lists, parents: scannedBy(lists), ...more };
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
  const [, value = 'created', direction = 'desc'] =
    /^(.+)_(asc|desc)$/.exec(orderBy ?? impliedBy(listing, given)) ?? [];
  const order = value === 'created' ? undefined : camel(value);
  const ordered: Ordered = { order, ascending: direction === 'asc', filters: given };
  const refuse = (name: string, text: MessageText) => problems.push(notServed(listing.object, name, text));
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
  if (parent && !scannedBy(by).includes(parent)) refuse('orderBy', 'is not available for this list, except by created');
  for (const name of names)
    if (!servedBy(listing, by, order, name) && neededBy(listing, name) === undefined)
      refuse(name, notWith(`order_by ${value}`, `orderBy ${value.toUpperCase()}`));
  ordered.filters = { ...given };
  const condition = names.find((name) => listing.conditions?.[name]);
  if (condition !== undefined) {
    const { filter, value: only } = listing.conditions![condition]!;
    if (given[condition] !== true) refuse(condition, onlyTrue);
    if (filter in given) refuse(filter, notWith(snake(condition), condition));
    ordered.filters[filter] = only;
  }
  // What belongs to another order is refused alone.
  for (const [name, because] of Object.entries(condition === undefined ? (by.one ?? {}) : {}))
    ordered.filters[name] = oneOf(given[name], value, because, (text) => refuse(name, text));
  for (const [name, bound] of Object.entries(given))
    if (memberOf(listing, name) === order) ordered.filters[name] = String(bound);
  return ordered;
}

/** The problem of an argument that no index serves with the others. */
export const notServed = (object: string, name: string, text: MessageText): Problem => ({
  ...problem('parameter_invalid', `${object}.${name.split('.').map(snake).join('.')}`, text),
  nearest: 'unknown',
});

/** The order that a filter implies, where the list has no other, such as the due date that of what is overdue. */
function impliedBy({ conditions = {} }: Listing, given: Record<string, unknown>): string {
  const found = Object.entries(conditions).find(([name]) => given[name] === true)?.[1];
  return found ? `${snake(found.order)}_${found.implies}` : '';
}

const onlyTrue = 'must be true. Leave it out for all objects.';

/** The filters of a page of a view: the values of its key, and a parent or an account. */
function viewed(
  { fixed }: Listing,
  by: OrderBy,
  { table, key, takes, required, keysOf }: OrderView,
  given: Record<string, unknown>,
  value: string,
  parent: PgColumn | undefined,
  refuse: (name: string, text: MessageText) => void,
): Record<string, unknown> {
  const own = parent && Object.values(getTableColumns(table)).find(({ name }) => name === parent.name);
  // The arguments that the order needs are those of lists that have it.
  if (parent && !(own && scannedBy(by).includes(own))) {
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
  return { [key]: keysOf({ ...given, ...fixed }) };
}

/** The filter that a dotted name belongs to: `amount` of `amount.gte`. */
function memberOf(listing: Listing, name: string): string {
  const [member = name] = name.split('.');
  return member === 'created' || listing.orders?.[member] ? member : name;
}

/** The order that a range or a condition needs. */
export const neededBy = (listing: Listing, name: string) =>
  listing.orders?.[name]
    ? name
    : (listing.conditions?.[name]?.order ??
      Object.entries(listing.orders ?? {}).find(([, { view }]) => view?.required.name === name)?.[0]);

/** Whether the indexes of an order serve a filter. */
function servedBy(listing: Listing, by: OrderBy, order: string, name: string): boolean {
  if (name === order || keyed(by).has(name) || listing.conditions?.[name]?.order === order) return true;
  const filter = listing.filters[name];
  if (!filter || !listing.byAccount.includes(name)) return false;
  const columns = 'either' in filter ? filter.either : [filter];
  return columns.every((column) => scannedBy(by).includes(column as PgColumn));
}

/** The filters that the indexes of an order have. */
const keyed = ({ keys }: OrderBy) => new Set(Object.values(keys).flat());

function oneOf(given: unknown, value: string, because: string, refuse: (text: MessageText) => void): unknown {
  const values = [given].flat();
  if (values.length !== 1 || given === undefined)
    refuse({
      v1: `must have one value with order_by ${value}, ${because}`,
      graph: `must have one value with orderBy ${value.toUpperCase()}, ${because}`,
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
  if (Object.keys(by.one ?? {}).some((name) => (row as Record<string, unknown>)[name] !== filters[name])) return true;
  const value = by.valueOf(row);
  return Object.entries(filters).some(([name, bound]) => {
    const [member, which = ''] = name.split('.');
    if (member !== order || !compared[which]) return false;
    return !compared[which](value, by.type === 'bigint' ? BigInt(String(bound)) : String(bound));
  });
}
