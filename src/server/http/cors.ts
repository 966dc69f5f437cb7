import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { DomainError, problem } from '../../errors/problems.js';
import { isApi, isSecure } from './request.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request is a preflight that the CORS plugin answers. */
    corsPreflightEnabled: boolean;
  }
  interface FastifyContextConfig {
    /** The route of the CORS plugin for every path: a request that reaches it is a request without a route. */
    anyPath?: true;
    /** The route answers no page of another origin. */
    cors?: false;
  }
}

/** The headers of answers of both APIs that a page on another origin may read. */
const exposedHeaders = [
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Request-Id',
  'Retry-After',
  'Tidegate-Consistency',
  'WWW-Authenticate',
];

/**
 * The headers that such a page may send: those that the APIs read, and those that GraphQL clients and tracing add.
 */
const allowedHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'On-Behalf-Of',
  'Tidegate-Consistency',
  'Apollo-Require-Preflight',
  'X-Apollo-Operation-Name',
  'ApolloGraphQL-Client-Name',
  'ApolloGraphQL-Client-Version',
  'GraphQL-Preflight',
  'Baggage',
  'Sentry-Trace',
  'Traceparent',
  'Tracestate',
];

const notAdmitted = 'Pages of this origin may not use the gateway. Ask its operator to add the origin to CORS_ORIGINS.';

/** How long a browser may keep the answer to a preflight. */
const maxAge = 600;

/**
 * Opens /v1 and /graphql to the pages of the origins in CORS_ORIGINS. A preflight is answered before any check of a
 * key, without cost and without a turn; one of another origin is refused with the reason. Over plain HTTP it is refused
 * like every request, so that a browser does not send the token. Cookies are never accepted. Everything else, such as
 * payment pages, the explorer and the operator's endpoint, has no such headers. Register it before the other hooks, so
 * that refusals have the headers, too.
 */
export async function crossOrigin(app: FastifyInstance, config: Config, fixed: Record<string, string>): Promise<void> {
  const closed: FastifyCorsOptions = { origin: false };
  const open = new Map(
    config.CORS_ORIGINS.map((origin): [string, FastifyCorsOptions] => [
      origin,
      { origin, methods: ['GET', 'HEAD', 'POST'], allowedHeaders, exposedHeaders, maxAge },
    ]),
  );
  const optionsOf = (request: FastifyRequest): FastifyCorsOptions => {
    const { origin = '', 'access-control-request-method': asked } = request.headers;
    const options = open.get(origin);
    if (!options || !isApi(request.url)) return closed;
    if (request.method !== 'OPTIONS') return options;
    return asked !== undefined && isSecure(request, config) ? options : closed;
  };
  app.addHook('onRoute', (route) => {
    if (route.url === '*') route.config = { ...route.config, anyPath: true };
    else if (!isApi(route.url)) route.config = { ...route.config, cors: false };
  });
  const handle = await handlerOfPlugin(app, optionsOf);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.cors === false) return done();
    if (optionsOf(request) !== closed) return handle(request, reply, done);
    reply.header('vary', 'Origin');
    const { origin, 'access-control-request-method': asked } = request.headers;
    // A preflight has no key, so the check of the key would refuse it with a reason that misleads.
    const refused = request.method === 'OPTIONS' && origin !== undefined && asked !== undefined && !open.has(origin);
    if (refused && isApi(request.url)) done(new DomainError(problem('permission_denied', undefined, notAdmitted)));
    else done();
  });
  app.addHook('onSend', (request, reply, _, done) => {
    if (request.corsPreflightEnabled) reply.headers(fixed).header('request-id', request.id);
    done();
  });
}

type Handler = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/**
 * The hook of @fastify/cors, for the requests that it concerns. It copies its options for each request and adds members
 * to the copy, which V8 makes a hidden class for each time, and most requests come from servers and have no origin.
 * Measured: docs/decisions/cheap-requests.md.
 */
function handlerOfPlugin(
  app: FastifyInstance,
  optionsOf: (request: FastifyRequest) => FastifyCorsOptions,
): Promise<Handler> {
  return new Promise((resolve, reject) => {
    let handle: Handler | undefined;
    const host = {
      decorateRequest: app.decorateRequest.bind(app),
      options: app.options.bind(app),
      addHook: (_: string, hook: Handler) => (handle = hook),
    };
    const delegator = (request: FastifyRequest, done: (error: Error | null, options?: FastifyCorsOptions) => void) =>
      done(null, optionsOf(request));
    // The plugin uses these three members of the application.
    cors(host as unknown as FastifyInstance, { delegator }, (error) => (error ? reject(error) : resolve(handle!)));
  });
}

/** Whether no route was registered for the path and method of a request. */
export function isUnrouted(request: FastifyRequest): boolean {
  return request.is404 || request.routeOptions.config.anyPath === true;
}

/** Removes the headers for other origins from an answer that is not one of the APIs, such as the explorer's page. */
export function closeToOthers(reply: FastifyReply): void {
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
}
