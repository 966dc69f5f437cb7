import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { parsedJson } from '../../request/json.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';
import { repeatedProblems } from '../http/json-body.js';

/**
 * Refuses a request whose Accept header allows no media type of ours, and a body that is no GraphQL request. A request
 * that names its document by a hash needs no `query`; `persisted` says whether it does. Where there are subscriptions,
 * a client may accept server-sent events alone.
 */
export function refuseMisshapen(
  request: FastifyRequest,
  persisted: (request: FastifyRequest) => boolean = refusePersisted,
  { subscriptions = false } = {},
): void {
  if (graphTypeOf(request) === undefined && !(subscriptions && acceptsEvents(request)))
    throw new DomainError(problem('not_acceptable'));
  const post = request.method === 'POST';
  const problems = misshapen(post ? request.body : request.query, post, () => persisted(request));
  if (problems.length > 0) throw new DomainError(...problems);
}

/** Refuses a hash in place of a document, where the endpoint keeps none. */
function refusePersisted({ body }: FastifyRequest): boolean {
  const { extensions } = (body ?? {}) as { extensions?: { persistedQuery?: unknown } | null };
  if (extensions?.persistedQuery != null) throw new DomainError(problem('persisted_query_not_supported'));
  return false;
}

/** The problems of a body that is no GraphQL request. Apollo would refuse it without the request's id. */
function misshapen(raw: unknown, post: boolean, persisted: () => boolean): Problem[] {
  const one = 'Send one operation, as a JSON object with `query`.';
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return [problem('body_invalid', undefined, one)];
  const { query, variables, operationName, extensions } = raw as Record<string, unknown>;
  if (query === undefined && !persisted()) return [problem('parameter_missing', 'request.query')];
  if (query === '' || query === null) return [problem('parameter_invalid_empty', 'request.query')];
  if (query !== undefined && typeof query !== 'string')
    return [problem('parameter_invalid', 'request.query', 'must be a string')];
  if (!post) return inQuery({ variables, extensions, operationName });
  const map = (v: unknown) => v === undefined || v === null || isObject(v);
  const out: Problem[] = [];
  if (!map(variables)) out.push(problem('parameter_invalid', 'request.variables', 'must be a map'));
  if (!map(extensions)) out.push(problem('parameter_invalid', 'request.extensions', 'must be a map'));
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    out.push(problem('parameter_invalid', 'request.operation_name', 'must be a string'));
  return out;
}

/** The problems of the members of a query string, in which variables and extensions are JSON objects. */
function inQuery({ operationName, ...objects }: Record<string, unknown>): Problem[] {
  const out = Object.entries(objects).flatMap(([name, text]) => (text === undefined ? [] : ofText(name, text)));
  if (operationName !== undefined && typeof operationName !== 'string')
    out.push(problem('parameter_invalid', 'request.operation_name', 'must be a string'));
  return out;
}

/** The problems of a JSON object in a query string. A member that is given twice is a list. */
function ofText(name: string, text: unknown): Problem[] {
  try {
    if (typeof text === 'string' && isObject(JSON.parse(text)))
      return repeatedProblems(parsedJson(`{"${name}":${text}}`), 'request');
  } catch {
    // It is no JSON, or nested too deeply.
  }
  return [problem('parameter_invalid', `request.${name}`, 'must be a JSON object in a query string')];
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a request may be answered by server-sent events: its client names their media type. */
export const acceptsEvents = (request: FastifyRequest): boolean =>
  /\btext\/event-stream\b/i.test(request.headers.accept ?? '');

/** The media types of a GraphQL answer. A client without a preference gets the first. */
export const graphTypes = ['application/json', 'application/graphql-response+json'];

/** A cache from Accept headers to the media type of the answer: clients repeat a few values. */
const accepted = new LRUCache<string, { type: string | undefined }>({
  max: 100,
  maxSize: 100_000,
  sizeCalculation: (_, accept) => accept.length + 1,
});

/** The media type of the answer to a GraphQL request, or undefined when the client accepts none of ours. */
export function graphTypeOf(request: FastifyRequest): string | undefined {
  const accept = request.headers.accept;
  if (accept === undefined) return graphTypes[0];
  const known = accepted.get(accept);
  if (known) return known.type;
  // An Accept header with a charset accepts only a type with the same one.
  const withCharset = graphTypes.flatMap((type) => [type, `${type}; charset=utf-8`]);
  const type = new Negotiator(request.raw).mediaType(withCharset)?.split(';', 1)[0];
  accepted.set(accept, { type });
  return type;
}
