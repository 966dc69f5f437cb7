import { getTableName } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Arg, Args, type ClassType, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import type { Link as LinkTable, Row, Rows } from '../db/list-statement.js';
import type { Context } from '../operation/context.js';
import { DomainError, problem } from '../request/problems.js';
import { type Listing, PageArgs } from '../types/pagination.js';

/** What the graph shows about a field besides its type. */
interface Shown {
  nullable?: true;
  description?: string;
  /** Why clients should use another field, and which one. */
  deprecationReason?: string;
}
/** The type of a field: a class, a scalar, an enum, or a list of one. */
type Returns = () => object | [object];

/** An edge to the object whose column `match` has the value of the property `of` of the parent's row. */
interface LinkEdge<P extends string> extends Shown {
  read: 'link';
  table: Rows;
  match: PgColumn;
  of: P;
}

/** An edge to a page of the objects that have the parent's id in the column `match`, or in a table of links. */
interface PageEdge extends Shown {
  read: 'edge';
  table: Rows;
  match: PgColumn | LinkTable;
  args: ClassType<PageArgs>;
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
  /** The field is the current balance of its parent, an account; see the query compiler. */
  balance?: true;
}

/** A field of a type. It may name only properties that the rows of the type have. */
export type Edge<R = never> = LinkEdge<keyof R & string> | PageEdge | ObjectEdge<keyof R & string> | ValueEdge<R>;

/** An edge to the one object whose id, or whose column `by`, has the value of a property of the row. */
export function link<P extends string>(
  table: Rows,
  of: P,
  { by = table.id, ...shown }: Shown & { by?: PgColumn } = {},
): LinkEdge<P> {
  return { read: 'link', table, match: by, of, ...shown };
}

/** An edge to a page of the objects that have the parent's id in a column. */
export function page<T extends Rows>(
  table: T,
  match: PgColumn | LinkTable,
  { args = PageArgs, ...shown }: Omit<Shown, 'nullable'> & Partial<Pick<PageEdge, 'args' | 'fixed'>> = {},
): PageEdge {
  return { read: 'edge', table, match, args, ...shown };
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
  more: Shown & Pick<ValueEdge<R>, 'args' | 'json' | 'balance'> = {},
): ValueEdge<R> {
  return { read: 'value', returns, resolve, ...more };
}

/** The edges and other fields that a resource adds to the type of a table's rows. */
export interface Fields {
  table: Rows;
  edges: Readonly<Record<string, Edge>>;
}

/**
 * Declares the fields that the type of a table's rows gets. A property that the rows do not have is a compile error.
 */
export function fields<T extends Rows>(table: T, edges: Record<string, Edge<Row<T>>>): Fields {
  return { table, edges };
}

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

type Method = (...args: never[]) => unknown;
type Parameter = (target: object, name: string, index: number) => void;

/** Adds a method to a resolver class, with the decorators that a method in source text would have. */
function method(target: object, name: string, run: Method, parameters: Parameter[], field: MethodDecorator) {
  const descriptor = { value: run, writable: true, configurable: true };
  Object.defineProperty(target, name, descriptor);
  for (const [i, parameter] of parameters.entries()) parameter(target, name, i);
  field(target, name, descriptor);
}

/** The class that resolves the fields that a resource adds to a type. */
export function edgeResolver({ table, edges }: Fields, nodeOf: (table: Rows) => NodeRow): Function {
  class Edges {}
  for (const [name, edge] of Object.entries(edges)) {
    const { nullable = false, description, deprecationReason } = edge;
    const decorators = 'args' in edge && edge.args ? [Args(() => edge.args!)] : [];
    const field = FieldResolver(returnsOf(edge, nodeOf), {
      nullable,
      ...(description && { description }),
      ...(deprecationReason && { deprecationReason }),
    });
    method(Edges.prototype, name, runOf(edge, nodeOf), [Root(), Ctx(), ...decorators], field);
  }
  Resolver(() => nodeOf(table).type)(Edges);
  return Edges;
}

/** The type of an edge's field. */
export function returnsOf(edge: Edge, nodeOf: (table: Rows) => NodeRow): () => ClassType {
  if (edge.read === 'link') return () => nodeOf(edge.table).type as ClassType;
  if (edge.read === 'edge') return () => nodeOf(edge.table).connection as ClassType;
  return edge.returns as () => ClassType;
}

/** The method that resolves an edge. */
function runOf(edge: Edge, nodeOf: (table: Rows) => NodeRow): Method {
  if (edge.read === 'value') return (row: never, context: Context, args: never) => edge.resolve(row, context, args);
  if (edge.read === 'object') {
    const members = Object.entries(edge.of);
    return (row: Record<string, unknown>) => Object.fromEntries(members.map(([name, of]) => [name, row[of]]));
  }
  const { table, match } = edge;
  if (edge.read === 'edge') {
    const listing = listingOf(nodeOf(table), edge.fixed);
    return (row: { id: string }, { scope }: Context, args: PageArgs) => scope.edge(table, listing, match, row.id, args);
  }
  const { of, nullable } = edge;
  // An edge by another column than the id may find nothing and returns null; GraphQL reports an error where the field
  // is not nullable.
  if (edge.match !== table.id)
    return (row: Record<string, string>, { scope }: Context) => scope.findBy(table, edge.match, row[of]!);
  if (nullable) return (row: Record<string, string | null>, { scope }: Context) => scope.find(table, row[of]);
  return (row: Record<string, string>, { scope }: Context) => scope.one(table, row[of]!);
}

/** Reads what a root field returns. */
export type RootReader = (source: unknown, args: never, context: Context) => Promise<unknown>;

/** The function that reads what a root field returns. */
export function rootReader(object: string, node: NodeRow, read: RootRead): RootReader {
  const { rows } = node;
  if (read.read === 'page') {
    const listing = listingOf(node, read.fixed);
    return (_, args: PageArgs, { scope }) => scope.page(rows, listing, args);
  }
  const field = `${object}.id`;
  if (!node.shown) return (_, { id }: { id: string }, { scope }) => scope.one(rows, id, field);
  return async (_, { id }: { id: string }, { scope }) => {
    const row = await scope.one(rows, id, field);
    if (node.shown?.(row) === false) throw new DomainError(problem('resource_missing', field));
    return row;
  };
}

/**
 * The class that declares the root fields that read a resource's own objects. The schema calls their readers without it
 * (see `readDirectly`).
 */
export function rootResolver(
  object: string,
  node: NodeRow,
  reads: readonly (readonly [name: string, read: RootRead])[],
): Function {
  class Reads {}
  for (const [name, read] of reads) {
    const { description } = read;
    const reader = rootReader(object, node, read) as (_: unknown, args: object, context: Context) => Promise<unknown>;
    if (read.read === 'one') {
      method(
        Reads.prototype,
        name,
        (id: string, context: Context) => reader(undefined, { id }, context),
        [Arg('id', () => ID, { description: `The id of the object, such as \`${node.prefix}_…\`.` }), Ctx()],
        Query(() => node.type, { nullable: true, description }),
      );
    } else {
      method(
        Reads.prototype,
        name,
        (args: PageArgs, context: Context) => reader(undefined, args, context),
        [Args(() => read.args), Ctx()],
        Query(() => node.connection, { description }),
      );
    }
  }
  Resolver()(Reads);
  return Reads;
}

function listingOf({ listing }: NodeRow, fixed: Record<string, unknown> | undefined): Listing {
  return fixed ? { ...listing, fixed } : listing;
}

/** How the query compiler reads a field in PostgreSQL: it reads the same rows as the field's resolver. */
export type Rule =
  | { read: 'one'; table: Rows }
  | { read: 'page'; table: Rows; listing: Listing }
  | { read: 'link'; table: Rows; match: PgColumn; of: string }
  | { read: 'edge'; table: Rows; listing: Listing; match: PgColumn | LinkTable }
  | { read: 'object'; of: Record<string, string> }
  | { read: 'value'; json: (column: (property: string) => string) => string }
  | { read: 'balance' };

/** The query compiler's rule for a root field; undefined where only the resolvers can read it. */
export function ruleOfRead(read: RootRead, node: NodeRow): Rule | undefined {
  if (!node.compiled || node.shown) return undefined;
  const { rows: table } = node;
  return read.read === 'one' ? { read: 'one', table } : { read: 'page', table, listing: listingOf(node, read.fixed) };
}

/** The query compiler's rule for an edge; undefined where only the resolvers can read it. */
export function ruleOfEdge(edge: Edge, nodeOf: (table: Rows) => NodeRow): Rule | undefined {
  if (edge.read === 'object') return { read: 'object', of: edge.of };
  if (edge.read === 'value') {
    if (edge.balance) return { read: 'balance' };
    return edge.json && { read: 'value', json: edge.json };
  }
  const node = nodeOf(edge.table);
  if (!node.compiled) return undefined;
  const { table } = edge;
  if (edge.read === 'link') return { read: 'link', table, match: edge.match, of: edge.of };
  return { read: 'edge', table, listing: listingOf(node, edge.fixed), match: edge.match };
}

/** Finds the node of a table; throws an error with the table's name when no resource declares it. */
export function nodeFinder(nodes: readonly NodeRow[]): (table: Rows) => NodeRow {
  const byTable = new Map<Rows, NodeRow>(nodes.map((each) => [each.rows, each]));
  return (table) => {
    const found = byTable.get(table);
    if (!found) throw new Error(`an edge refers to the table ${getTableName(table)}, which belongs to no node`);
    return found;
  };
}
