import type { Permission } from '../../auth/permissions.js';
import type { Bulk } from '../../operation/bulk.js';
import type { Context } from '../../operation/context.js';
import type { EventQueries } from '../../operation/event-queries.js';
import type { OperatorContext } from '../../operator/context.js';
import type { RequestBudget } from '../../limits/budget.js';
import type { TimeLimit } from '../lifetime.js';

// What the gateway adds to Fastify's application, requests and routes.
declare module 'fastify' {
  interface FastifyInstance {
    /** Runs the queries of webhook endpoints, for the worker. */
    eventQueries: EventQueries;
    /** Exports and imports, for the worker. */
    bulk: Bulk;
    /** Makes /readyz answer 503 and answers end their connections, while requests are served. */
    startDraining(): void;
  }
  interface FastifyRequest {
    /** Set when the caller has been identified; null on pages and probes. */
    context: Context | null;
    /** Set when the operator has been identified. */
    operator: OperatorContext | null;
    /** The limits of the request; it ends when the client disconnects. Set before any check of the request. */
    budget: RequestBudget | null;
    /** Ends the request REQUEST_SECONDS after its start. An answer that has begun with bounds of its own stops it. */
    timeLimit: TimeLimit | null;
  }
  interface FastifyContextConfig {
    /** The permission that a route needs; checked before the body is read. */
    permission?: Permission;
    /** The route needs no key. */
    open?: true;
    /** The route needs no key, and answers a request with the header Authorization as its caller. */
    keyOptional?: true;
    /** The route is for operators alone: their graph, or another one. */
    operator?: 'graph' | 'rest';
    /** The answer may take longer than REQUEST_SECONDS. */
    lasting?: true;
    /** The handler reads the body, and then starts its time limit itself. */
    streamed?: true;
    /** The route is a probe, which needs neither a key nor HTTPS. */
    probe?: true;
  }
}
