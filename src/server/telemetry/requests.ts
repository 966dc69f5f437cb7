import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Api, Metrics } from './metrics.js';

/** Which API or page a request belongs to. */
export function apiOf(request: FastifyRequest): Api {
  const { url = '', config } = request.routeOptions;
  if (config.probe) return 'probe';
  if (config.page) return 'page';
  if (config.operator) return 'operator';
  if (url === '/graphql') return 'graphql';
  return url.startsWith('/v1') ? 'rest' : 'other';
}

/** The root field of a GraphQL operation, or the method and route of another request. */
export function operationOf(request: FastifyRequest): string {
  const operation = request.budget?.report.operation;
  if (operation) return operation;
  const { url } = request.routeOptions;
  return url ? `${request.method} ${url}` : 'none';
}

/** Counts each request when its answer has been sent. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { codes = [], answeredBy } = request.budget?.report ?? {};
    metrics.answered({
      api: apiOf(request),
      operation: operationOf(request),
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
      codes,
      answeredBy,
    });
    done();
  });
}
