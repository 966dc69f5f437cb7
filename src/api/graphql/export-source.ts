import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
} from 'graphql';
import { memberOf, nearestOf, nearestValues, withoutFilter } from './filter-argument.js';
import { argumentsOf, explorerLink, shapedAs } from './nearest-query.js';
import type { Context } from '../../operation/context.js';
import { argumentPath, DomainError, type Problem } from '../../errors/problems.js';
import { operationOf, routes } from '../../resources/registry.js';
import { listOnV1, pageArguments, type PathOfList, pathsOf } from '../rest/list-path.js';

/** A list that can be exported: its paths on /v1, the shortest first, and its input in the graph. */
interface Source {
  paths: readonly PathOfList[];
  input: GraphQLInputObjectType;
}

type Values = Readonly<Record<string, unknown>>;
/** The input of an export in the graph: its source has one member, the list. */
interface ExportInput {
  source: Readonly<Record<string, Values>>;
  format: string;
}

/**
 * Gives `createExport` an input of the graph's own: a source with a member for each list that /v1 has, whose filters
 * and order are the arguments of the query of the same name. Below the guard an export stays the path and the query of
 * a list on /v1: both APIs have one rule, one idempotency key and one stored form. type-graphql does not know `@oneOf`,
 * so the type is made here. Spec: extension.
 */
export function withExportSource(mutation: GraphQLObjectType, query: GraphQLObjectType): GraphQLObjectType {
  const config = mutation.toConfig();
  const field = config.fields.createExport!;
  const { args } = mutation.getFields().createExport!;
  const before = getNamedType(args[0]!.type) as GraphQLInputObjectType;
  const sources = sourcesOf(query);
  const source = new GraphQLInputObjectType({
    name: 'ExportSource',
    isOneOf: true,
    description: 'The list to export, with its filters and its order. An empty member is the whole list.',
    fields: Object.fromEntries(
      [...sources].map(([name, { input }]) => [name, { type: input, description: descriptionOf(name) }]),
    ),
  });
  const input = new GraphQLInputObjectType({
    name: before.name,
    description: before.description,
    fields: {
      source: { type: new GraphQLNonNull(source), description: 'The list. It is the list of the acting account.' },
      format: before.toConfig().fields.format!,
    },
  });
  const createExport = {
    ...field,
    args: { input: { ...field.args!.input!, type: new GraphQLNonNull(input) } },
    extensions: { ...field.extensions, argumentsV1: args },
  };
  return new GraphQLObjectType({ ...config, fields: { ...config.fields, createExport } });
}

/**
 * Makes the resolver of `createExport`, which takes the path and the query of a list, take a source, too. It does so
 * before the guard, so that a request has the same parameters and the same fingerprint through both APIs.
 */
export function readExportSource(schema: GraphQLSchema): void {
  const field = schema.getMutationType()!.getFields().createExport!;
  const resolve = field.resolve as GraphQLFieldResolver<unknown, Context>;
  const sources = sourcesOf(schema.getQueryType()!);
  field.resolve = async (root, args: { input: object }, context: Context, info) => {
    if (!('source' in args.input)) return resolve(root, args, context, info);
    const { source, format } = args.input as ExportInput;
    const [[name, values]] = Object.entries(source) as [[string, Values]];
    const { paths, input } = sources.get(name)!;
    try {
      const [list, filters] = listOnV1(paths, Object.values(input.getFields()), given(sources.get(name)!, values));
      return await resolve(root, { input: { list, ...(filters !== '' && { filters }), format } }, context, info);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const nearest = context.gateway?.explorer ? nearestOf(error) : undefined;
      const list = nearest && shapedAs(Object.values(input.getFields()), nearestValues(nearest, values));
      const works = { input: { source: { [name]: list }, format } };
      const nearestUrl = list && explorerLink(info, (node) => argumentsOf(field.args, works, node), 'export { id }');
      const told = error.problems.map((found) => ({ ...found, nearestUrl: found.nearest && nearestUrl }));
      throw new DomainError(...told.map((found) => ofSource(found, name, values)));
    }
  };
}

/** The lists of /v1 by the names of their queries. */
function sourcesOf(query: GraphQLObjectType): ReadonlyMap<string, Source> {
  const names = new Set(routes.flatMap(({ answers, field }) => (answers === 'list' ? [field] : [])));
  return new Map([...names].map((name) => [name, sourceOf(query.getFields()[name]!)]));
}

function sourceOf({ name, args }: GraphQLField<unknown, unknown>): Source {
  const paths = pathsOf(name);
  const isNeeded = (argument: string) => paths.every(({ inPath }) => Object.values(inPath).includes(argument));
  const fields = args
    .filter((argument) => !pageArguments.includes(argument.name))
    .map(
      ({ name: argument, type, description, defaultValue, deprecationReason }): [string, GraphQLInputFieldConfig] => [
        argument,
        isNeeded(argument)
          ? { type: new GraphQLNonNull(getNullableType(type)), description, defaultValue }
          : { type, description, defaultValue, deprecationReason },
      ],
    );
  const input = new GraphQLInputObjectType({
    name: `${name[0]!.toUpperCase()}${name.slice(1)}Source`,
    description: `The list \`${name}\` to export: its filters and its order.`,
    fields: Object.fromEntries(fields),
  });
  return { paths, input };
}

/** What a member of the source is, for clients. */
function descriptionOf(name: string): string {
  const { editions } = operationOf(name);
  return `The list of the query \`${name}\`.${editions?.length === 1 ? ` Edition ${editions[0]} only.` : ''}`;
}

/** A problem of a list of /v1, or of its query, at the member of the source. */
function ofSource(found: Problem, name: string, { filter }: Values): Problem {
  const [, part, ...rest] = found.field?.split('.') ?? [];
  if (part === 'list') return { ...found, path: ['source', name] };
  if (part === 'filter') return { ...found, path: ['source', name, part] };
  if (part !== 'filters') return found;
  const [first = '', ...below] = argumentPath(['', ...rest].join('.'));
  const member = filter == null ? undefined : memberOf(String(first), filter);
  return { ...found, path: ['source', name, ...(member === undefined ? [first] : ['filter', member]), ...below] };
}

/** The arguments of a list of /v1, whose path has some of them. */
function given({ paths }: Source, values: Values): Values {
  const inPath = new Set(paths.flatMap((path) => Object.values(path.inPath)));
  const ofPath = Object.entries(values).filter(([name]) => inPath.has(name));
  const others = Object.entries(values).filter(([name]) => !inPath.has(name));
  return { ...withoutFilter(Object.fromEntries(others), 'export'), ...Object.fromEntries(ofPath) };
}
