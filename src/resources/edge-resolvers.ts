import { Arg, Args, type ClassType, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { propertyOf } from '../db/schema/drizzle-types.js';
import type { Rows } from '../db/list/statement.js';
import type { Context } from '../operation/context.js';
import { DomainError, problem } from '../errors/problems.js';
import { type PageArgs, pageArgsOf } from '../types/pagination.js';
import {
  type Edge,
  type Fields,
  isType,
  type LinksEdge,
  listingOf,
  type NodeRow,
  type Place,
  type RootRead,
  type Through,
} from './edges.js';

type Method = (...args: never[]) => unknown;
type Parameter = (target: object, name: string, index: number) => void;

/** Adds a method to a resolver class, with the decorators that a method in source text would have. */
function method(target: object, name: string, run: Method, parameters: Parameter[], field: MethodDecorator) {
  const descriptor = { value: run, writable: true, configurable: true };
  Object.defineProperty(target, name, descriptor);
  for (const [i, parameter] of parameters.entries()) parameter(target, name, i);
  field(target, name, descriptor);
}

/** A field that is made from a declaration instead of a method in source text. */
interface DeclaredField {
  name: string;
  returns: () => ClassType | [ClassType];
  shown: { nullable?: boolean; description?: string; deprecationReason?: string };
  run: Method;
  parameters: Parameter[];
}

/** The class that resolves declared fields of a type. */
export function fieldsResolver(type: () => ClassType<object>, declared: readonly DeclaredField[]): Function {
  class DeclaredFields {}
  for (const { name, returns, shown, run, parameters } of declared)
    method(DeclaredFields.prototype, name, run, parameters, FieldResolver(returns, shown));
  Resolver(type)(DeclaredFields);
  return DeclaredFields;
}

/** The class that resolves the fields that a resource adds to a type. */
export function edgeResolver({ of, edges }: Fields, nodeOf: (table: Rows) => NodeRow): Function {
  const declared = Object.entries(edges).map(([name, edge]) => {
    const { description, deprecationReason } = edge;
    const args = argsOf(edge, nodeOf);
    return {
      name,
      returns: returnsOf(edge, nodeOf),
      shown: {
        nullable: 'nullable' in edge && edge.nullable === true,
        ...(description && { description }),
        ...(deprecationReason && { deprecationReason }),
      },
      run: runOf(edge, nodeOf),
      parameters: [Root(), Ctx(), ...(args ? [Args(() => args)] : [])],
    };
  });
  return fieldsResolver(() => (isType(of) ? of : nodeOf(of).type), declared);
}

/** The arguments of an edge's field; undefined where it has none. */
function argsOf(edge: Edge, nodeOf: (table: Rows) => NodeRow): ClassType<object> | undefined {
  if (edge.read === 'edge') return edge.args ?? pageArgsOf(nodeOf(edge.table).type.name);
  return edge.read === 'value' ? edge.args : undefined;
}

/** The type of an edge's field. */
export function returnsOf(edge: Edge, nodeOf: (table: Rows) => NodeRow): () => ClassType | [ClassType] {
  if (edge.read === 'link') return () => nodeOf(edge.table).type as ClassType;
  if (edge.read === 'links') return () => [nodeOf(edge.table).type as ClassType];
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
  const { table } = edge;
  if (edge.read === 'edge') {
    const { match } = edge;
    const listing = listingOf(nodeOf(table), edge.fixed);
    return (row: { id: string }, { scope }: Context, args: PageArgs) => scope.edge(table, listing, match, row.id, args);
  }
  if (edge.read === 'links') return linksOf(edge);
  const { of, nullable } = edge;
  // An edge by another column than the id may find nothing and returns null; GraphQL reports an error where the field
  // is not nullable.
  if (edge.match !== table.id)
    return (row: object, { scope }: Context) => scope.findBy(table, edge.match, valueIn(row, of)!);
  if (nullable) return (row: object, { scope }: Context) => scope.find(table, valueIn(row, of));
  return (row: object, { scope }: Context) => scope.one(table, valueIn(row, of)!);
}

/** The value in a place of a row. */
function valueIn(row: object, of: Place): string | null | undefined {
  if (typeof of === 'string') return (row as Record<string, string | null>)[of];
  const [property, member] = of;
  return (row as Record<string, Record<string, string | null> | null>)[property]?.[member];
}

/** The method that resolves an edge to a short list. */
function linksOf({ table, of, each }: LinksEdge<string | Through>): Method {
  const idsOf = async (row: { id: string }, scope: Context['scope']): Promise<readonly string[]> => {
    // `links` takes only properties that the rows have, and that are lists of ids.
    if (typeof of === 'string') return Reflect.get(row, of);
    const found = await scope.all(of.links, of.parent, row.id, of.where);
    const property = propertyOf(of.child);
    return [...new Set(found.map((one) => (one as Record<string, string>)[property]!))];
  };
  return async (row: { id: string }, { scope }: Context) => {
    const ids = await idsOf(row, scope);
    if (each) return Promise.all(ids.map((id) => scope.one(table, id)));
    return (await Promise.all(ids.map((id) => scope.find(table, id)))).filter((found) => found !== null);
  };
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
