import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { helpPath } from '../../errors/catalogue.js';
import { graphErrors } from '../../api/graphql/errors.js';
import { errorV1, type Problem, problem, DomainError, retryAfter } from '../../errors/problems.js';
import { graphTypeOf, graphTypes } from '../graphql/request.js';

const frameworkProblems: Record<string, Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: problem('body_too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: problem(
    'body_invalid',
    undefined,
    'The content type is not supported. Send JSON, as Content-Type: application/json.',
  ),
  FST_PROTO_VIOLATION: problem(
    'parameter_unknown',
    'file',
    'must not have a field with a reserved name, such as constructor',
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: problem('body_invalid'),
  FST_REQ_FILE_TOO_LARGE: problem('body_too_large'),
  FST_FILES_LIMIT: problem('parameter_invalid', 'file.file', 'must be one file'),
  FST_FIELDS_LIMIT: problem('body_too_large'),
  FST_PARTS_LIMIT: problem('body_too_large'),
  FST_INVALID_MULTIPART_CONTENT_TYPE: problem('body_invalid', undefined, 'Send the file as multipart/form-data.'),
};

/**
 * The problems that the client sees: those of a domain error, of a refusal by the framework, or of an internal error
 * without details.
 */
export function problemsOf(error: FastifyError): Problem[] {
  if (error instanceof DomainError) return error.problems;
  return [
    frameworkProblems[error.code] ??
      (error.statusCode && error.statusCode < 500 ? problem('body_invalid') : problem('service_fault')),
  ];
}

/** Answers a request with its problems, in the format of the requested API. */
export function refuse(request: FastifyRequest, reply: FastifyReply, problems: Problem[]): FastifyReply {
  const answer = errorV1(problems);
  request.budget?.report.codes.push(...problems.map(({ code }) => code));
  const wait = retryAfter(problems);
  if (wait !== undefined) reply.header('retry-after', String(wait));
  // Bearer and never Basic, because a browser would store the key.
  if (answer.http_status_code === 401) reply.header('www-authenticate', 'Bearer');
  reply.header('request-id', request.id).code(answer.http_status_code);
  const graph = request.url.split('?', 1)[0] === '/graphql' || request.routeOptions.config.operator === 'graph';
  if (!graph) return reply.header('link', helpLinks(problems)).send(answer);
  const type = graphTypeOf(request) ?? graphTypes[0]!;
  return reply.type(`${type}; charset=utf-8`).send(graphErrors(problems, request.id, request.budget?.cost));
}

/** The header Link of an error on /v1: the entry of each of its codes in the documentation. */
export function helpLinks(problems: Problem[]): string {
  const codes = new Set(problems.map(({ code }) => code));
  return [...codes].map((code) => `<${helpPath(code)}>; rel="help"`).join(', ');
}
