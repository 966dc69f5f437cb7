import type { FastifyReply, FastifyRequest } from 'fastify';
import { problem, DomainError } from '../../errors/problems.js';
import { restRoutes, routes } from '../../resources/registry.js';
import { pathOf } from './request.js';

/** Refuses a request for an unknown path, or with a method that the path does not have. */
export function refuseRoute(request: FastifyRequest, reply: FastifyReply): never {
  const allowed = methodsOf(pathOf(request.url));
  if (allowed.length === 0) throw new DomainError(problem('route_missing'));
  reply.header('allow', allowed.join(', '));
  throw new DomainError(problem('method_not_allowed'));
}

const patterns = [...routes, ...restRoutes].map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
}));

/** The methods of a path, for the Allow header; empty when the path is unknown. */
function methodsOf(path: string): string[] {
  if (path === '/graphql') return ['GET', 'POST'];
  const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
  return [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
