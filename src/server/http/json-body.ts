import type { FastifyRequest } from 'fastify';
import { type JsonBody, parsedJson } from '../../request/json.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body. Refuses a body that is not JSON in UTF-8, and an object with a repeated key. An empty body is an
 * empty object.
 */
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

/** A problem for each key that an object of a JSON body repeats: the values contradict each other, so none is used. */
export function repeatedProblems({ repeated }: JsonBody, object: string): Problem[] {
  return repeated.map((path) =>
    problem('parameter_invalid', `${object}.${path}`, 'is given more than once. Send it once.'),
  );
}
