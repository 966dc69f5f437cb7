import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type GraphQLField, GraphQLInputObjectType, GraphQLNonNull, type GraphQLSchema } from 'graphql';
import { type Accepted, acceptedOf, type CallerKind } from '../../operation/accepted.js';
import type { Context } from '../../operation/context.js';
import { argumentsV1, run } from '../../operation/guard.js';
import { inputProblems, joined } from '../../operation/input-problems.js';
import type { Caller } from '../../request/caller.js';
import { cursorConflict, limitMax, type Page, pageSizeDefault } from '../../types/pagination.js';
import { camel, emptyOptional, type Problem, problem, DomainError } from '../../errors/problems.js';
import { pointsOfRoute } from '../../types/weights.js';
import { operationOf, type Route, routes, weights as fieldWeights } from '../../resources/registry.js';
import { type Decoder, decoderOf, parseQuery } from './decoder.js';
import { body, query } from './input-format.js';

/**
 * Registers the routes of /v1. Each calls the guarded resolver of its root field. It executes no GraphQL document, so
 * that problems keep the names of /v1 parameters. Spec: Endpoints.
 */
export function rest(app: FastifyInstance, schema: GraphQLSchema): void {
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  for (const route of routes) {
    const field = fields[route.field];
    if (!field?.resolve)
      throw new Error(`${route.method} ${route.path} refers to ${route.field}, which is not a root field`);
    const readers = route.method === 'GET' ? listArguments(route, field) : bodyArguments(route, field);
    // Not an async function: Fastify would wait once more for the reply that it returns.
    const handler = (request: FastifyRequest, reply: FastifyReply): void => {
      const answered = (answer: unknown) => {
        const row = objectOf(route, answer);
        const objects = route.answers === 'list' ? (row as Page<unknown>).nodes.length : 1;
        request.budget?.charge?.countObjects(objects);
        if (route.link) reply.header('link', route.link(row as object, request.context!));
        reply.send(render(route, row, request.context!.caller));
      };
      const answer = run(field, argumentsOf(route, readers, request), request.context!);
      Promise.resolve(answer)
        .then(answered)
        .catch((error: unknown) => reply.send(error));
    };
    const config = { permission: operationOf(route.field), cost: costOf(route), objects: objectsOf(route) };
    app.route({ method: route.method, url: route.path, config, handler });
  }
}

/** What a request to a route can cost at most. */
function costOf(route: Route): (request: FastifyRequest) => number {
  const weight = fieldWeights[`Query.${route.field}`];
  const points = (rows: number) => pointsOfRoute(route.answers, weight, rows);
  const byRows = Array.from({ length: limitMax + 1 }, (_, rows) => points(rows));
  const rows = objectsOf(route);
  return (request) => byRows[rows(request)]!;
}

/** How many objects a request to a route could read. The limit of a list that cannot be read here is the largest. */
function objectsOf(route: Route): (request: Pick<FastifyRequest, 'url'>) => number {
  if (route.answers !== 'list') return () => 1;
  return ({ url }) => {
    const limit = /[?&]limit=(\d+)(?:&|$)/.exec(url)?.[1];
    return Math.min(Number(limit ?? limitMax), limitMax);
  };
}

/** Reads the arguments of a request. */
type Reader = (
  request: { search: string; params: Record<string, string>; body: unknown },
  problems: Problem[],
) => Record<string, unknown>;

/** The readers of a route, one for each kind of caller that it has had: what these have in common is made once. */
export type Readers = (caller: CallerKind) => Reader;

function readersOf(route: Route, made: (accepted: Accepted) => Reader): Readers {
  const operation = operationOf(route.field);
  const readers = new Map<Accepted, Reader>();
  return (caller) => {
    const accepted = acceptedOf(operation, caller);
    const reader = readers.get(accepted) ?? made(accepted);
    readers.set(accepted, reader);
    return reader;
  };
}

function argumentsOf(route: Route, readers: Readers, request: FastifyRequest): Record<string, unknown> {
  const mark = request.url.indexOf('?');
  const search = mark < 0 ? '' : request.url.slice(mark);
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries((request.params ?? {}) as Record<string, string>))
    params[route.params?.[name] ?? name] = value;
  return checkedArguments(route, readers, { search, params, body: request.body }, request.context!.caller);
}

/** The arguments of a request. Refuses it with all problems that need no look at the database. */
export function checkedArguments(
  route: Route,
  readers: Readers,
  request: Parameters<Reader>[0],
  caller: CallerKind,
): Record<string, unknown> {
  const problems: Problem[] = [];
  const args = readers(caller)(request, problems);
  if (problems.length === 0) return args;
  // Adds the problems by the edition's own rules, as the guard would, but not for parameters that are refused already.
  throw new DomainError(...joined(problems, inputProblems(operationOf(route.field), args, caller)));
}

/** The names of the arguments that the path contains. */
function paramsOf(route: Route): string[] {
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => route.params?.[name] ?? name);
}

/**
 * Reads query parameters: the page parameters of /v1, and the field's own arguments in the format of a query string.
 */
export function listArguments(route: Route, field: GraphQLField<unknown, Context>): Readers {
  const { object } = operationOf(route.field);
  const declared = argumentsV1(field);
  const paged = declared.some((argument) => argument.name === 'first');
  const elsewhere = new Set([...paramsOf(route), ...pageArguments, ...(route.without ?? [])]);
  const own = declared.filter(({ name }) => !elsewhere.has(name));
  return readersOf(route, (accepted) => queryReader(object, paged, decoderOf(own, object, query, accepted)));
}

function queryReader(object: string, paged: boolean, decoder: Decoder): Reader {
  return ({ search, params }, problems) => {
    const raw = parseQuery(search);
    const taken = (name: string) => {
      const value = raw[name];
      delete raw[name];
      return value;
    };
    const [limit, after, before] = [taken('limit'), taken('starting_after'), taken('ending_before')];
    const args = Object.assign(decoder(raw, problems), params);
    if (!paged) {
      for (const [name, value] of Object.entries({ limit, starting_after: after, ending_before: before })) {
        if (value !== undefined) problems.push(problem('parameter_unknown', `${object}.${name}`));
      }
      return args;
    }
    const size = limitOf(limit, object, problems);
    const cursor = (name: string, value: unknown): string | undefined => {
      if (typeof value === 'string' && value !== '') return value;
      if (value === '') problems.push(problem('parameter_invalid_empty', `${object}.${name}`, emptyOptional));
      else if (value !== undefined)
        problems.push(problem('parameter_invalid', `${object}.${name}`, 'must be one object id'));
      return undefined;
    };
    const [newer, older] = [cursor('ending_before', before), cursor('starting_after', after)];
    if (before !== undefined && after !== undefined) problems.push(cursorConflict(object, 'after'));
    return Object.assign(args, newer === undefined ? { first: size, after: older } : { last: size, before: newer });
  };
}

const pageArguments = ['first', 'after', 'last', 'before'];

function limitOf(raw: unknown, object: string, problems: Problem[]): number {
  if (raw === undefined) return pageSizeDefault;
  const limit = typeof raw === 'string' && /^[1-9]\d{0,3}$/.test(raw) ? Number(raw) : 0;
  if (raw === '') problems.push(problem('parameter_invalid_empty', `${object}.limit`, emptyOptional));
  else if (limit < 1 || limit > limitMax)
    problems.push(problem('parameter_invalid', `${object}.limit`, `must be a whole number from 1 to ${limitMax}`));
  return limit;
}

/** Reads a JSON body as the members of the field's `input`. The body may not contain the parameters of the path. */
export function bodyArguments(route: Route, field: GraphQLField<unknown, Context>, format = body): Readers {
  const { object } = operationOf(route.field);
  const argument = argumentsV1(field).find(({ name }) => name === 'input');
  const type = argument?.type instanceof GraphQLNonNull ? argument.type.ofType : argument?.type;
  if (!(type instanceof GraphQLInputObjectType)) throw new Error(`${field.name} takes no input`);
  const elsewhere = [...paramsOf(route), ...(route.without ?? [])];
  const own = Object.values(type.getFields()).filter(({ name }) => !elsewhere.includes(name));
  return readersOf(route, (accepted) => bodyReader(object, decoderOf(own, object, format, accepted)));
}

function bodyReader(object: string, decoder: Decoder): Reader {
  return ({ search, params, body: raw }, problems) => {
    for (const name of Object.keys(parseQuery(search)))
      problems.push(
        problem('parameter_unknown', `${object}.${name}`, 'is not a query parameter; send parameters in the body'),
      );
    if (typeof (raw ?? {}) !== 'object' || Array.isArray(raw))
      throw new DomainError(problem('body_invalid', undefined, 'The body must be a JSON object.'));
    return {
      input: Object.assign(decoder((raw ?? {}) as Record<string, unknown>, problems), params),
    };
  };
}

/** The object of a resolver's result: the member of a payload, or the result itself, which is an object or a page. */
function objectOf(route: Route, answer: unknown): unknown {
  return route.answers === 'payload'
    ? (answer as Record<string, unknown>)[camel(operationOf(route.field).object)]
    : answer;
}

function render(route: Route, answer: unknown, caller: Caller): object {
  const shape = route.shape as (row: unknown, caller: Caller) => object;
  if (route.answers === 'list') {
    const page = answer as Page<unknown>;
    return { object: 'list', data: page.nodes.map((node) => shape(node, caller)), has_next: page.hasNext };
  }
  return shape(answer, caller);
}
