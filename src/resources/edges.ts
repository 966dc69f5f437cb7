import { getTableName, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { ClassType } from 'type-graphql';
import type { Child, Link as LinkTable, Row, Rows } from '../db/list/statement.js';
import type { ReadClass } from '../db/read/read-class.js';
import type { Context } from '../operation/context.js';
import type { Listing, PageArgs, PageRequest } from '../types/pagination.js';

/** What the graph shows about a field besides its type. */
interface Shown {
  nullable?: true;
  description?: string;
  /** Why clients should use another field, and which one. */
  deprecationReason?: string;
}
/** The type of a field: a class, a scalar, an enum, or a list of one. */
type Returns = () => object | [object];

/** Where a row has a value: in a property, or in a member of a property that is an object. */
export type Place = string | readonly [property: string, member: string];
/** The places in the rows of a type. */
type PlaceIn<R> =
  | (keyof R & string)
  | { [P in keyof R & string]: readonly [P, keyof NonNullable<R[P]> & string] }[keyof R & string];

/** A table of links between two kinds of objects, and the condition that a row of it counts. */
export interface Through {
  links: Child;
  parent: PgColumn;
  child: PgColumn;
  where: SQL;
}

/** The objects that a table of links names for an object, by the rows of it that count. */
export const through = (links: Child, parent: PgColumn, child: PgColumn, where: SQL): Through => ({
  links,
  parent,
  child,
  where,
});

/** The columns of rows by their properties. */
export type Columns = Readonly<Record<string, { name: string; notNull: boolean }>>;

/** Pages of objects that are rows of a statement and not of a table. A row has an `id`, which is its cursor. */
export interface ComputedPages {
  listing: Listing;
  columns: Columns;
  /** The rows of a page of a parent, and at least one more. */
  rows: (request: PageRequest, parent: SQL) => SQL;
  /** The rows of the whole list, at most one more than are counted. */
  ids: (parent: SQL) => SQL;
  /** The classes of the reads of a page, and of the number of its list. */
  classes: { page: ReadClass; count: ReadClass };
}

/**
 * Funds of an account by compartment and currency: one row for each currency, in the order of the currencies. Without a
 * row, an account has zero in the currency of its edition; each balance of Edition 2 has INR.
 */
export interface Funds {
  table: PgTable & { tenantId: PgColumn; livemode: PgColumn };
  account: PgColumn;
  currency: PgColumn;
  /** The condition that a row counts. */
  where: SQL;
  /** The column of each compartment, and the only kind of account that has it, if not each has. */
  compartments: Readonly<Record<string, { column: PgColumn; kind?: string }>>;
}

/** An edge to the object whose column `match` has the value that is in the place `of` of the parent's row. */
interface LinkEdge<P extends Place> extends Shown {
  read: 'link';
  table: Rows;
  match: PgColumn;
  of: P;
}

/**
 * An edge to a short list of objects without page arguments: those whose ids the property `of` of the parent's row has,
 * or a table of links. An object that the caller cannot see is left out, or is an error where `each` has to be there.
 */
export interface LinksEdge<P extends string | Through> extends Omit<Shown, 'nullable'> {
  read: 'links';
  table: Rows;
  of: P;
  each: boolean;
}

/** An edge to a page of the objects that have the parent's id in the column `match`, or in a table of links. */
interface PageEdge extends Shown {
  read: 'edge';
  table: Rows;
  match: PgColumn | LinkTable;
  /** Its arguments; without them, those that all lists have. */
  args?: ClassType<PageArgs>;
  /** Filters that always hold. */
  fixed?: Record<string, unknown>;
}

/** An object made of properties of the parent's row, by their names in the object. */
interface ObjectEdge<P extends string> extends Shown {
  read: 'object';
  returns: Returns;
  of: Record<string, P>;
}

/** A field that has its own code. */
interface ValueEdge<R> extends Shown {
  read: 'value';
  returns: Returns;
  resolve: (row: R, context: Context, args: never) => unknown;
  args?: ClassType<object>;
  /** The SQL expression that derives the value from the columns of the parent's row. It returns JSON as text. */
  json?: (column: (property: string) => string) => string;
  /** The same of an object, as `jsonb` with the names of its fields: what a query selects of it is taken out. */
  jsonb?: (column: (property: string) => string) => string;
  /** The SQL of the value as a column would have it, where it does not depend on the row. */
  as?: SQL;
  /** The funds that it has without arguments. With arguments, only its own code answers. */
  funds?: Funds;
  /** The pages that it has. */
  pages?: ComputedPages;
}

/** A field of a type. It may name only properties that the rows of the type have. */
export type Edge<R = never> =
  | LinkEdge<PlaceIn<R>>
  | LinksEdge<(keyof R & string) | Through>
  | PageEdge
  | ObjectEdge<keyof R & string>
  | ValueEdge<R>;

/**
 * An edge to the one object whose id, or whose column `by`, has the value of a property of the row, or of a member of a
 * property that is an object.
 */
export function link<const P extends Place>(
  table: Rows,
  of: P,
  { by = table.id, ...shown }: Shown & { by?: PgColumn } = {},
): LinkEdge<P> {
  return { read: 'link', table, match: by, of, ...shown };
}

/** An edge to the objects whose ids a property of the row has, or a table of links. */
export function links<P extends string | Through>(
  table: Rows,
  of: P,
  { each = false, ...shown }: Omit<Shown, 'nullable'> & { each?: boolean } = {},
): LinksEdge<P> {
  return { read: 'links', table, of, each, ...shown };
}

/** An edge to a page of the objects that have the parent's id in a column. */
export function page<T extends Rows>(
  table: T,
  match: PgColumn | LinkTable,
  shown: Omit<Shown, 'nullable'> & Pick<PageEdge, 'args' | 'fixed'> = {},
): PageEdge {
  return { read: 'edge', table, match, ...shown };
}

/** An object that is made of properties of the row. */
export function object<O, P extends string>(
  type: () => ClassType<O & object>,
  of: Record<keyof O & string, P>,
  shown: Shown = {},
): ObjectEdge<P> {
  return { read: 'object', returns: type, of, ...shown };
}

/** A field with its own resolver, which is not an edge. */
export function value<R, A>(
  returns: Returns,
  resolve: (row: R, context: Context, args: A) => unknown,
  more: Shown & Pick<ValueEdge<R>, 'args' | 'json' | 'jsonb' | 'as' | 'funds' | 'pages'> = {},
): ValueEdge<R> {
  return { read: 'value', returns, resolve, ...more };
}

/** The edges and other fields that a resource adds to the type of a table's rows, or to a type without a table. */
export interface Fields {
  of: Rows | ClassType<object>;
  edges: Readonly<Record<string, Edge>>;
}

/**
 * Declares the fields that the type of a table's rows gets. A property that the rows do not have is a compile error.
 */
export function fields<T extends Rows>(table: T, edges: Record<string, Edge<Row<T>>>): Fields {
  return { of: table, edges };
}

/** Declares the fields that a type without a table of its own gets, such as one whose objects are computed. */
export function fieldsOfType<O extends object>(type: ClassType<O>, edges: Record<string, Edge<O>>): Fields {
  return { of: type, edges };
}

/** Whether fields are those of a type without a table. */
export const isType = (of: Fields['of']): of is ClassType<object> => typeof of === 'function';

/** How a root field reads: the object whose id is the argument `id`, or a page of the caller's list. */
export type RootRead =
  | { read: 'one'; description: string }
  | { read: 'page'; description: string; args: ClassType<PageArgs>; fixed?: Record<string, unknown> };

/** A root field that returns the object with an id. */
export const one = (description: string): RootRead => ({ read: 'one', description });
/** A root field that returns a page of the caller's list. */
export const many = (args: ClassType<PageArgs>, description: string, fixed?: Record<string, unknown>): RootRead => ({
  read: 'page',
  description,
  args,
  ...(fixed && { fixed }),
});

/** A kind of object that has ids in the graph: the prefix of its ids, its table, its type, and how it is listed. */
export interface NodeRow {
  prefix: string;
  rows: Rows;
  type: ClassType<object>;
  listing: Listing;
  connection: ClassType<object>;
  /** Whether the query compiler can read it. The resolvers read everything else. */
  compiled?: true;
  /** Whether clients can see a row yet; by default they see every row. */
  shown?(row: object): boolean;
  /** Sessions cannot read these objects. */
  keysOnly?: true;
}

/** Declares a node. It is a compile error when a row lacks a property that its type declares without an edge. */
export const node = <O extends object, T extends Rows & { $inferSelect: O }>(
  prefix: string,
  rows: T,
  type: ClassType<O>,
  more: Pick<NodeRow, 'listing' | 'connection' | 'compiled' | 'keysOnly'> & { shown?: (row: Row<T>) => boolean },
): NodeRow => ({ prefix, rows, type, ...more });

/** Finds the node of a table; throws an error with the table's name when no resource declares it. */
export function nodeFinder(nodes: readonly NodeRow[]): (table: Rows) => NodeRow {
  const byTable = new Map<Rows, NodeRow>(nodes.map((each) => [each.rows, each]));
  return (table) => {
    const found = byTable.get(table);
    if (!found) throw new Error(`an edge refers to the table ${getTableName(table)}, which belongs to no node`);
    return found;
  };
}

/** The listing of a node, with the filters that a field always has. */
export function listingOf({ listing }: NodeRow, fixed: Record<string, unknown> | undefined): Listing {
  return fixed ? { ...listing, fixed } : listing;
}
