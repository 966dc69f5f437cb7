import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isEnumType,
  isObjectType,
} from 'graphql';
import {
  argumentPath,
  DomainError,
  type Nearest,
  type Problem,
  problem,
  shownFilters,
  snake,
} from '../../errors/problems.js';
import type { Context } from '../../operation/context.js';
import { argumentsV1 } from '../../operation/guard.js';
import { listOnV1, pageArguments, pathFor, type PathOfList, pathsOf } from '../rest/list-path.js';
import { argumentsOf, explorerLink, linkLengthMax } from './nearest-query.js';
import { isPageType } from './query-parts.js';

/**
 * The arguments of a list that are no filters. The page, the order and whose objects the list has say how a list is
 * read and not which of its objects match; a search also orders the list by what it finds.
 */
const notFilters = new Set([
  ...['first', 'after', 'last', 'before', 'orderBy', 'orderCurrency', 'scope', 'search', 'metadata'],
]);

/** Arguments whose filter has another name, by the type of the objects and their own name. */
const otherNames: Readonly<Record<string, string>> = { 'Event type': 'types' };

/** Filters that are no arguments of the graph, by the type of the objects, or by the list if it had none before. */
const onlyFilters: Readonly<Record<string, readonly string[]>> = {
  Payout: ['amount', 'currency'],
  billedReceivables: ['amount', 'dueDate', 'overdue', 'status', 'currency', 'transactionType'],
};

type Field = GraphQLField<unknown, Context>;
type Values = Readonly<Record<string, unknown>>;

/** The name of the type of a list's objects. */
const nodeOf = ({ type }: Field) => getNamedType(type).name.replace(/Connection$/, '');

const isList = (field: Field) => {
  const page = getNamedType(field.type);
  return isObjectType(page) && isPageType(page) && field.args.some(({ name }) => name === 'created');
};

/** The lists of a schema, with the types that have them. */
function listsOf(schema: GraphQLSchema): [type: GraphQLObjectType, field: Field][] {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types.flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) => (isList(field) ? [[type, field] as [typeof type, Field]] : [])),
  );
}

/**
 * Gives each list the argument `filter`, an input with its filters, and deprecates the arguments of the same names.
 * Below the guard a list has its filters as arguments, as `/v1` has them as parameters. Lists with the same filters
 * have one type of them.
 */
export function addFilters(schema: GraphQLSchema, declared: readonly string[]): void {
  const inputs = new Map<string, GraphQLInputObjectType>();
  const named = new Set<string>();
  const query = schema.getQueryType();
  const places = ([type, { name }]: [GraphQLObjectType, Field]) =>
    type === query ? declared.indexOf(name) : declared.length;
  // The root lists come first, because the types are named by them.
  for (const [type, field] of listsOf(schema).toSorted((one, other) => places(one) - places(other))) {
    const page = getNamedType(field.type).name;
    const filters = field.args.filter(({ name }) => !notFilters.has(name));
    const key = filters.length > 1 ? [page, ...filters.map(({ name }) => name)].join(' ') : '';
    // The first list of a page has the name of its objects, and a further one its own, such as `partners`.
    const singular = field.name[0]!.toUpperCase() + field.name.slice(1, -1);
    const own = named.has(page) ? singular : nodeOf(field);
    named.add(page);
    const shown = shownBy(schema, field, filters);
    const input = inputs.get(key) ?? inputOf(own, type, field, filters, shown);
    inputs.set(key, input);
    const others = field.args.filter(({ name }) => notFilters.has(name));
    const filter: GraphQLArgument = {
      ...others[0]!,
      name: 'filter',
      type: input,
      description: 'Which objects the list has: those that match all members.',
    };
    field.extensions = { ...field.extensions, argumentsV1: [...field.args] };
    const without = [...(onlyFilters[nodeOf(field)] ?? []), ...(onlyFilters[field.name] ?? [])];
    const before = filters.filter(({ name }) => !without.includes(name));
    field.args = [...others, filter, ...before.map((each) => deprecated(each, nodeOf(field), shown))];
  }
}

function deprecated(filter: GraphQLArgument, node: string, shown: ReadonlyMap<string, Shown>): GraphQLArgument {
  const [better] = [...shown].find(([, { of, replaces }]) => replaces && of === filter.name) ?? [];
  const name = better ?? otherNames[`${node} ${filter.name}`] ?? filter.name;
  return { ...filter, deprecationReason: `Use \`filter: { ${name}: … }\`.` };
}

/**
 * The members of a filter that take what a field of the objects shows, so that a client can send a value back as it
 * came, with the filters whose values they are.
 */
function shownBy(schema: GraphQLSchema, field: Field, filters: readonly GraphQLArgument[]): Map<string, Shown> {
  const node = schema.getType(nodeOf(field));
  const fields = isObjectType(node) ? node.getFields() : {};
  const members = [...shownFilters].flatMap(([name, of]) => {
    const replaced = filters.find((each) => each.name === of);
    const type = fields[name] && getNamedType(fields[name].type);
    if (!replaced || !isEnumType(type)) return [];
    const description = `${replaced.description!.replace(/(, such as|\. ).*$/s, '.')} It excludes \`${of}\`.`;
    const member = { type: new GraphQLList(new GraphQLNonNull(type)), description };
    return [[name, { of, member, replaces: isEnumType(getNamedType(replaced.type)) }] as const];
  });
  return new Map(members);
}

/** A member that takes what a field shows, and whether the filter with the same values is its older form. */
interface Shown {
  of: string;
  member: GraphQLInputFieldConfig;
  replaces: boolean;
}

function inputOf(
  own: string,
  type: GraphQLObjectType,
  field: Field,
  filters: readonly GraphQLArgument[],
  shown: ReadonlyMap<string, Shown>,
) {
  const node = nodeOf(field);
  const name = filters.length === 1 ? 'Created' : type.name === 'Query' ? own : `${node}Of${type.name}`;
  return new GraphQLInputObjectType({
    name: `${name}Filter`,
    description:
      'Only the objects of a list that match all members. A member that is null or left out matches every one.',
    fields: Object.fromEntries(
      filters
        .filter(({ name: member }) => otherNames[`${node} ${member}`] === undefined)
        .flatMap(({ name: member, type: of, description }) => {
          const [better, found] = [...shown].find(([, each]) => each.of === member) ?? [];
          const deprecationReason = found?.replaces ? `Use \`${better}\`.` : undefined;
          const own = [member, { type: of, description, deprecationReason }] as const;
          return found ? [[better, found.member] as const, own] : [own];
        }),
    ),
  });
}

/** Arguments with the members of `filter` among them, each under the name of the filter whose values it has. */
export function flattened({ filter, ...others }: Values): Record<string, unknown> {
  const given = { ...(filter as Values | null | undefined) };
  for (const [name, of] of shownFilters) {
    const value = given[name];
    delete given[name];
    if (value != null) given[of] = value;
  }
  return { ...others, ...given };
}

/**
 * The arguments of a list with its filters among them. Refuses a filter beside the arguments that it replaces: which of
 * two values of one filter is meant would be a guess.
 */
export function withoutFilter(args: Values, object = 'list'): Record<string, unknown> {
  const { filter, ...given } = args;
  if (filter === undefined || filter === null) return given;
  const beside = Object.keys(given).filter((name) => !notFilters.has(name) && given[name] != null);
  if (beside.length > 0)
    throw new DomainError({
      ...problem(
        'parameter_invalid',
        `${object}.filter`,
        `cannot be combined with ${beside.join(', ')}. Give ${beside.length > 1 ? 'them' : 'it'} within filter.`,
      ),
      path: ['filter'],
    });
  for (const [name, of] of shownFilters) {
    const members = filter as Values;
    if (members[name] == null || members[of] == null) continue;
    throw new DomainError({
      ...problem(
        'parameter_invalid',
        `${object}.${snake(of)}`,
        `cannot be combined with ${of}. Leave out one of them.`,
      ),
      path: ['filter', name],
    });
  }
  return flattened(args);
}

/**
 * Makes the resolvers of lists read `filter`, before the guard, and say of a combination that no index serves which is
 * the nearest one that works.
 */
export function readFilters(schema: GraphQLSchema): void {
  for (const [type, field] of listsOf(schema)) {
    const { resolve } = field;
    if (!resolve) continue;
    const object = objectOf(field);
    const paths = type === schema.getQueryType() ? pathsOf(field.name) : [];
    field.resolve = (source, args: Record<string, unknown>, context, info) => {
      const { filter } = args;
      const explained = (error: unknown): never => {
        const linked = context.gateway?.explorer ? info : undefined;
        throw error instanceof DomainError ? placed(error, { field, paths, args, info: linked }) : error;
      };
      try {
        const answer = resolve(source, filter == null ? args : withoutFilter(args, object), context, info);
        return answer instanceof Promise ? answer.catch(explained) : answer;
      } catch (error) {
        return explained(error);
      }
    };
  }
}

/** A list that was refused. `info` is undefined for a request of /v1, and where no explorer could open a link. */
interface Refused {
  field: Field;
  paths: readonly PathOfList[];
  args: Values;
  info: GraphQLResolveInfo | undefined;
}

/** An error of a list with the places of its problems in `filter`, and with the nearest list that works. */
function placed(error: DomainError, { field, paths, args, info }: Refused): DomainError {
  const { filter } = args;
  const nearest = nearestOf(error);
  const links = nearest && nearestIn(nearest, { field, paths, args, info });
  return new DomainError(
    ...error.problems.map((found) => {
      const near = typeof found.nearest === 'object' ? links : {};
      return filter ? ofFilter({ ...found, ...near }, filter) : { ...found, ...near };
    }),
  );
}

/** The nearest list that works. All problems of a list have the same. */
export const nearestOf = ({ problems }: DomainError): Nearest | undefined =>
  problems.map(({ nearest }) => nearest).find((each) => typeof each === 'object');

/** The arguments of a list that was refused, flat, with those of the nearest one that works. */
export function nearestValues({ without, set }: Nearest, args: Values): Values {
  const kept = Object.entries(flattened(args)).filter(([name]) => !without.includes(name));
  return { ...Object.fromEntries(kept), ...set };
}

/** The links to the nearest list that works: its path on /v1, and where the graph has asked, its query. */
function nearestIn(nearest: Nearest, { field, paths, args, info }: Refused): Partial<Problem> {
  const values = nearestValues(nearest, args);
  const declared = argumentsV1(field).filter(({ name }) => !pageArguments.includes(name));
  const url = pathFor(paths, values) ? listOnV1(paths, declared, values).filter(Boolean).join('?') : undefined;
  return {
    ...(url !== undefined && url.length <= linkLengthMax && { metadata: { nearest_url: url } }),
    ...(info && { nearestUrl: explorerLink(info, (node) => argumentsOf(field.args, values, node)) }),
  };
}

/** The noun of the objects of a list, which begins the names of its parameters. */
const objectOf = (field: Field) => snake(nodeOf(field)).replace(/^_/, '');

function ofFilter(found: Problem, filter: object): Problem {
  const [first, ...rest] = found.path ?? argumentPath(found.field);
  if (first === undefined || first === 'filter') return found;
  const name = memberOf(String(first), filter);
  return name === undefined ? found : { ...found, path: ['filter', name, ...rest] };
}

/** The member of a given filter that has the values of an argument. */
export function memberOf(argument: string, filter: object): string | undefined {
  if ((filter as Values)[argument] != null) return argument;
  const [shown] = [...shownFilters].find(([name, of]) => of === argument && (filter as Values)[name] != null) ?? [];
  return shown ?? (argument in filter ? argument : undefined);
}
