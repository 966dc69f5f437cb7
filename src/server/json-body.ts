import type { FastifyRequest } from 'fastify';
import { type JsonBody, parsedJson } from '../request/json.js';
import { type Problem, problem, DomainError } from '../request/problems.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body. Refuses what is no JSON in UTF-8, and an object that has a key twice. An empty body is an empty object. */
export function parseJson(
  { routeOptions }: FastifyRequest,
  bytes: Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  let body: JsonBody = { value: {}, repeated: [] };
  try {
    if (bytes.length > 0) body = parsedJson(utf8.decode(bytes));
  } catch {
    done(new DomainError(problem('body_invalid')));
    return;
  }
  const problems = repeatedProblems(body, routeOptions.config.permission?.object ?? 'request');
  if (problems.length > 0) done(new DomainError(...problems));
  else done(null, body.value);
}

/** Keys that an object of a JSON body has twice: the two values contradict each other, and none is taken. */
export function repeatedProblems({ repeated }: JsonBody, object: string): Problem[] {
  return repeated.map((path) => problem('parameter_invalid', `${object}.${path}`, 'is given more than once'));
}
