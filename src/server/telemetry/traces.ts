import { type Context, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import type { ObservedStatement, StatementObserver } from '../../db/connect/observer.js';
import { apiOf, operationOf } from './requests.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The spans of the request; null when nothing is traced. */
    trace: { http: Span | undefined; graphql: Span | undefined; context: Context } | null;
  }
}

/**
 * The attributes that the instrumentation takes from what a client sends. They are left out: an address holds the token
 * of a payment page, a searched text or the variables of a query.
 */
const withoutClientValues = Object.fromEntries(
  [
    ...['url.path', 'url.query', 'user_agent.original', 'server.address', 'server.port', 'client.address'],
    ...['network.peer.address', 'network.peer.port'],
    'http.request.method_original',
  ].map((name) => [name, undefined]),
);

/**
 * Traces requests: the span of HTTP comes from OpenTelemetry's own instrumentation, below it is one for the GraphQL
 * operation, and below that one for each statement. No span has a value of a client or of a statement.
 */
export class Traces implements StatementObserver {
  readonly #tracer = trace.getTracer('tidegate');

  private constructor(readonly stop: () => Promise<void>) {}

  /** Starts OpenTelemetry by its environment variables. Call it before Fastify is loaded. */
  static async start(serviceName: string): Promise<Traces> {
    const { NodeSDK } = await import('@opentelemetry/sdk-node');
    const { HttpInstrumentation } = await import('@opentelemetry/instrumentation-http');
    const sdk = new NodeSDK({
      // What the gateway itself requests goes to receivers of webhooks, which get no header of ours.
      instrumentations: [
        new HttpInstrumentation({
          disableOutgoingRequestInstrumentation: true,
          startIncomingSpanHook: (request) => {
            // Each span of a trace would have its text. A client's trace is continued by `traceparent` alone.
            if ('headers' in request) delete request.headers.tracestate;
            return withoutClientValues;
          },
        }),
      ],
      serviceName,
    });
    sdk.start();
    return new Traces(() => sdk.shutdown());
  }

  /** Names the spans of requests, and makes a span for each GraphQL operation. */
  followRequests(app: FastifyInstance): void {
    app.decorateRequest('trace', null);
    app.addHook('onRequest', (request, _, done) => {
      request.trace = { http: trace.getActiveSpan(), graphql: undefined, context: context.active() };
      done();
    });
    // A turn begins in the context of the request that gave its own back, so the context is set again.
    app.addHook('preHandler', (request, _, done) => {
      const kept = request.trace;
      if (!kept) return done();
      const api = apiOf(request);
      if (api === 'graphql' || api === 'operator') {
        kept.graphql = this.#tracer.startSpan('GraphQL', {}, kept.context);
        kept.context = trace.setSpan(kept.context, kept.graphql);
      }
      return context.with(kept.context, done);
    });
    app.addHook('onResponse', (request, reply, done) => {
      const { http, graphql } = request.trace ?? {};
      const operation = operationOf(request);
      const route = request.routeOptions.url;
      http?.updateName(route ? `${request.method} ${route}` : request.method);
      http?.setAttributes({ ...(route && { 'http.route': route }), 'tidegate.request_id': request.id });
      graphql?.updateName(`GraphQL ${operation}`).setAttribute('graphql.operation.name', operation);
      const { codes = [] } = request.budget?.report ?? {};
      if (codes.length > 0) (graphql ?? http)?.setAttribute('error.type', codes[0]!);
      if (reply.statusCode >= 500) graphql?.setStatus({ code: SpanStatusCode.ERROR });
      graphql?.end();
      done();
    });
  }

  began({ name, pool }: ObservedStatement): (error?: unknown) => void {
    // The worker looks for work several times a second: its statements outside a request are no trace.
    if (!trace.getActiveSpan()) return () => {};
    const span = this.#tracer.startSpan(name, {
      kind: SpanKind.CLIENT,
      attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name, 'tidegate.pool': pool },
    });
    return (error) => {
      // The message of an error may contain a value.
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
  }
}
