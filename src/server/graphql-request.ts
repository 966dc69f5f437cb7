import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { parsedJson } from '../request/json.js';
import { type Problem, problem, DomainError } from '../request/problems.js';
import { repeatedProblems } from './json-body.js';

/** Refuses an answer that the client could not take, and what is no GraphQL request. */
export function refuseMisshapen(request: FastifyRequest): void {
  if (graphTypeOf(request) === undefined) throw new DomainError(problem('not_acceptable'));
  const problems = misshapen(request.method === 'POST' ? request.body : request.query, request.method === 'POST');
  if (problems.length > 0) throw new DomainError(...problems);
}

/** What keeps a body from being a GraphQL request at all; Apollo would refuse it without the request's id. */
function misshapen(raw: unknown, post: boolean): Problem[] {
  const one = 'Send one operation, as a JSON object with `query`.';
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return [problem('body_invalid', undefined, one)];
  const { query, variables, operationName, extensions } = raw as Record<string, unknown>;
  if (query === undefined) return [problem('parameter_missing', 'request.query')];
  if (query === '' || query === null) return [problem('parameter_invalid_empty', 'request.query')];
  if (typeof query !== 'string') return [problem('parameter_invalid', 'request.query', 'must be a string')];
  if (!post && typeof variables === 'string') {
    const repeated = repeatedVariables(variables);
    if (repeated.length > 0) return repeated;
  }
  const map = (v: unknown) => v === undefined || v === null || (typeof v === 'object' && !Array.isArray(v)) || !post;
  const out: Problem[] = [];
  if (!map(variables)) out.push(problem('parameter_invalid', 'request.variables', 'must be a map'));
  if (!map(extensions)) out.push(problem('parameter_invalid', 'request.extensions', 'must be a map'));
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    out.push(problem('parameter_invalid', 'request.operation_name', 'must be a string'));
  return out;
}

/** Variables in a query string are JSON too. What is no JSON is left to Apollo, which says so. */
function repeatedVariables(text: string): Problem[] {
  try {
    return repeatedProblems(parsedJson(`{"variables":${text}}`), 'request');
  } catch {
    return [];
  }
}

/** The media types of a GraphQL answer; the first where the client has no preference. */
export const graphTypes = ['application/json', 'application/graphql-response+json'];

/** What clients say that they accept, and what they get: few headers, asked again and again. */
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
  const type = new Negotiator(request.raw).mediaType(graphTypes);
  accepted.set(accept, { type });
  return type;
}
