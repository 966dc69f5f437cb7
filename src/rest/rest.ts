import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type GraphQLField, GraphQLInputObjectType, GraphQLNonNull, type GraphQLSchema } from 'graphql';
import type { CheckoutPlace } from '../checkout/link.js';
import type { Context } from '../context.js';
import { inputProblems, permissionOf, remaining } from '../guard.js';
import { limitMax, type Page, pageSizeDefault } from '../listing.js';
import { camel, type Problem, problem, Refusal } from '../problems.js';
import { type Route, routes } from './routes.js';
import { body, parseQuery, query, read } from './wire.js';

/**
 * Registers the routes of /v1. Each calls the guarded resolver of its root field; no GraphQL document is
 * executed, so that faults keep the names of /v1 parameters. Spec: Endpoints.
 */
export function rest(app: FastifyInstance, schema: GraphQLSchema): void {
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  for (const route of routes) {
    const field = fields[route.field];
    if (!field?.resolve) throw new Error(`${route.method} ${route.path} names ${route.field}, which is no root field`);
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const answer = await field.resolve!(
        undefined,
        argumentsOf(route, field, request),
        request.context!,
        undefined as never,
      );
      const row = objectOf(route, answer);
      if (route.page)
        reply.header('link', `<${request.context!.checkouts.urlOf(row as CheckoutPlace)}>; rel="payment"`);
      reply.send(render(route, row));
    };
    app.route({ method: route.method, url: route.path, config: { permission: permissionOf(route.field) }, handler });
  }
}

function argumentsOf(
  route: Route,
  field: GraphQLField<unknown, Context>,
  request: FastifyRequest,
): Record<string, unknown> {
  const problems: Problem[] = [];
  const { object } = permissionOf(route.field);
  const search = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
  const params = Object.fromEntries(
    Object.entries((request.params ?? {}) as Record<string, string>).map(([name, value]) => [
      route.params?.[name] ?? name,
      value,
    ]),
  );
  const args =
    route.method === 'GET'
      ? listArguments(route, field, object, search, params, problems)
      : bodyArguments(field, object, search, request.body, params, problems);
  // The edition's own rules join in, but not about what is refused already.
  problems.push(...remaining(problems, inputProblems(route.field, object, args, request.context!.edition)));
  if (problems.length > 0) throw new Refusal(...problems);
  return args;
}

/** Query parameters: the page parameters of /v1, and the field's own arguments in the spelling of a query string. */
function listArguments(
  route: Route,
  field: GraphQLField<unknown, Context>,
  object: string,
  search: string,
  params: Record<string, string>,
  problems: Problem[],
) {
  const { limit, starting_after: after, ending_before: before, ...raw } = parseQuery(search);
  const paged = field.args.some((argument) => argument.name === 'first');
  const own = field.args.filter(
    ({ name }) => !(name in params) && !pageArguments.has(name) && !route.without?.includes(name),
  );
  const args = { ...read(own, raw, object, query, problems), ...params };
  if (!paged) {
    for (const [name, value] of Object.entries({ limit, starting_after: after, ending_before: before })) {
      if (value !== undefined) problems.push(problem('parameter_unknown', `${object}.${name}`));
    }
    return args;
  }
  const size = limitOf(limit, object, problems);
  const cursor = (name: string, value: unknown): string | undefined => {
    if (typeof value === 'string' && value !== '') return value;
    if (value === '') problems.push(problem('parameter_invalid_empty', `${object}.${name}`));
    else if (value !== undefined)
      problems.push(problem('parameter_invalid', `${object}.${name}`, 'must be one object id'));
    return undefined;
  };
  const [newer, older] = [cursor('ending_before', before), cursor('starting_after', after)];
  if (before !== undefined && after !== undefined) {
    problems.push(problem('parameter_invalid', `${object}.ending_before`, 'cannot be combined with starting_after'));
  }
  return { ...args, ...(newer === undefined ? { first: size, after: older } : { last: size, before: newer }) };
}

const pageArguments = new Set(['first', 'after', 'last', 'before']);

function limitOf(raw: unknown, object: string, problems: Problem[]): number {
  if (raw === undefined) return pageSizeDefault;
  const limit = typeof raw === 'string' && /^\d{1,4}$/.test(raw) ? Number(raw) : 0;
  if (raw === '') problems.push(problem('parameter_invalid_empty', `${object}.limit`));
  else if (limit < 1 || limit > limitMax)
    problems.push(problem('parameter_invalid', `${object}.limit`, `must be a whole number from 1 to ${limitMax}`));
  return limit;
}

/** A JSON body, as the members of the field's `input`; the parameters of the path are members that the body may not have. */
function bodyArguments(
  field: GraphQLField<unknown, Context>,
  object: string,
  search: string,
  raw: unknown,
  params: Record<string, string>,
  problems: Problem[],
) {
  for (const name of Object.keys(parseQuery(search)))
    problems.push(
      problem('parameter_unknown', `${object}.${name}`, 'is not a query parameter; send parameters in the body'),
    );
  if (typeof (raw ?? {}) !== 'object' || Array.isArray(raw))
    throw new Refusal(problem('body_invalid', undefined, 'The body must be a JSON object.'));
  const argument = field.args.find(({ name }) => name === 'input');
  const type = argument?.type instanceof GraphQLNonNull ? argument.type.ofType : argument?.type;
  if (!(type instanceof GraphQLInputObjectType)) throw new Error(`${field.name} takes no input`);
  const own = Object.values(type.getFields()).filter(({ name }) => !(name in params));
  return { input: { ...read(own, (raw ?? {}) as Record<string, unknown>, object, body, problems), ...params } };
}

/** What an answer of the graph is about: the query's own value, the page, or the payload's member. */
function objectOf(route: Route, answer: unknown): unknown {
  return route.answers === 'payload'
    ? (answer as Record<string, unknown>)[camel(permissionOf(route.field).object)]
    : answer;
}

function render(route: Route, answer: unknown): object {
  const shape = route.shape as (row: unknown) => object;
  if (route.answers === 'list') {
    const page = answer as Page<unknown>;
    return { object: 'list', data: page.nodes.map(shape), has_next: page.hasNext };
  }
  return shape(answer);
}
