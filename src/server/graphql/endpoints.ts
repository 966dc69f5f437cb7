import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { QueryCompiler } from '../../api/graphql/compiler/compiler.js';
import type { GraphBody } from '../../api/graphql/document-cache.js';
import type { Rules } from '../../api/graphql/errors.js';
import { subscriptionReader } from '../../api/graphql/subscription.js';
import { NodeCounter } from '../../api/graphql/query-cost.js';
import { type ServerContext, buildApollo, type GraphServer, graphRules } from '../../api/graphql/server.js';
import type { Config } from '../../config/config.js';
import { operatorBodyBytesMax } from '../../operator/graph/file-content.js';
import { buildOperatorGraph, operatorRules, sizes as operatorSizes } from '../../operator/graph/graph.js';
import { closeToOthers } from '../http/cors.js';
import { explorerRoutes } from './explorer-routes.js';
import { graphTypeOf, refuseMisshapen } from './request.js';
import { answerNotFound, namesDocument, PersistedDocuments } from './persisted-documents.js';
import type { StreamServices } from '../streams/follower.js';
import { subscriptionBySse } from '../streams/graphql-sse.js';
import { subscriptionsByWebSocket } from '../streams/graphql-ws.js';
import { Subscriptions } from '../streams/subscriptions.js';
import { trustedDocuments } from './trusted-documents.js';
import { take } from '../lifetime.js';

/** The parts from which the endpoints are built. */
export interface GraphEndpoints {
  config: Config;
  schema: GraphQLSchema;
  /** Counts the nodes of its documents. */
  nodes: NodeCounter;
  streams: StreamServices;
  /** Called with an internal error, to log it with the request's id. */
  onFault: (error: unknown, requestId: string) => void;
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => never;

/** Registers /graphql, the operator's endpoint and the explorer. */
export async function graphEndpoints(app: FastifyInstance, parts: GraphEndpoints): Promise<void> {
  const { config, schema, nodes, streams, onFault } = parts;
  const trusted = trustedDocuments(config, schema);
  const { handle, documents } = await served(app, parts, {
    schema,
    rules: graphRules,
    nodes,
    introspection: config.INTROSPECTION,
    context: (request) => request.context!,
    compiler: compilerOf(config, schema),
    trusted: new Set(trusted.values()),
  });
  const limits = { ...documentLimitsOf(config), introspection: config.INTROSPECTION };
  const reader = subscriptionReader(schema, { ...limits, rules: graphRules, nodes, documents, onFault });
  const subscriptions = new Subscriptions(streams, reader, onFault);
  const persisted = new PersistedDocuments(config, trusted);
  const sendExplorer = config.EXPLORER ? explorerRoutes(app, config) : undefined;
  const route: Omit<RouteOptions, 'method'> = {
    url: '/graphql',
    config: { open: true },
    preHandler: (request, _, done) =>
      take(() => request.context && refuseMisshapen(request, namesDocument, { subscriptions: true }), done),
    handler: async (request, reply) => {
      if (!request.context) {
        closeToOthers(reply);
        // No other request is admitted without one. The page is sent; the handler's type knows only answers.
        return sendExplorer!(request, reply) as never;
      }
      const named = request.method === 'POST' && namesDocument(request);
      const resolved = persisted.resolved(request);
      const { charge } = request.budget!;
      if (charge && request.method === 'POST' && resolved)
        charge.exemption = app.exemptRequests.ofDocument(request, schema, nodes, resolved.body as GraphBody);
      await charge?.refuseLate();
      if (!resolved) return answerNotFound(request, reply);
      // Fastify has sent the stream; the handler's type knows only answers.
      const stream = await subscriptionBySse(subscriptions, resolved, reply);
      if (stream) return stream as never;
      const answer =
        request.method === 'POST'
          ? await documents?.answer(request.body as GraphBody, request.context, named)
          : undefined;
      if (!answer) return handle(resolved, reply);
      reply.type(`${graphTypeOf(request)}; charset=utf-8`).headers(answer.headers);
      return answer.body;
    },
  };
  app.route({ ...route, method: 'POST' });
  app.route({ ...route, method: 'GET', wsHandler: subscriptionsByWebSocket({ subscriptions, persisted, onFault }) });
  if (config.OPERATOR_API) await operatorEndpoint(app, parts);
}

async function operatorEndpoint(app: FastifyInstance, parts: GraphEndpoints): Promise<void> {
  const schema = buildOperatorGraph();
  const { handle } = await served(app, parts, {
    schema,
    rules: operatorRules,
    nodes: new NodeCounter(schema, operatorSizes),
    // An operator may see this schema, even when the public schema is hidden.
    introspection: true,
    context: (request) => request.operator!,
  });
  app.route({
    method: app.supportedMethods,
    url: '/operator/graphql',
    // It has files of banks. A request without a key of an operator is refused before its body is read.
    bodyLimit: Math.max(parts.config.BODY_BYTES_MAX, operatorBodyBytesMax),
    // An audit of all ledgers may take longer than any request limit.
    config: { operator: 'graph', lasting: true },
    preHandler: (request, _, done) => take(() => refuseMisshapen(request), done),
    handler: handle,
  });
}

/** The compiler of queries, unless the settings turn it off. */
export const compilerOf = (config: Config, schema: GraphQLSchema): QueryCompiler | undefined =>
  config.COMPILED_QUERIES === 'on' ? new QueryCompiler(schema, undefined, config.ANSWER_BYTES_MAX) : undefined;

/** The limits of documents in the settings: of requests, subscriptions and webhook endpoints. */
export const documentLimitsOf = (config: Config) => ({
  limits: {
    depth: config.GRAPHQL_DEPTH_MAX,
    aliases: config.GRAPHQL_ALIASES_MAX,
    rootFields: config.GRAPHQL_ROOT_FIELDS_MAX,
    directives: 10,
  },
  tokensMax: config.GRAPHQL_TOKENS_MAX,
  nodesMax: config.GRAPHQL_NODES_MAX,
  suggestions: config.suggestions,
});

/** A schema and the settings of its endpoint. */
interface Served<C extends ServerContext> {
  schema: GraphQLSchema;
  rules: Rules<C>;
  nodes: NodeCounter;
  introspection: boolean;
  context: (request: FastifyRequest) => C;
  compiler?: QueryCompiler | undefined;
  /** The texts of the documents that the operator trusts. */
  trusted?: ReadonlySet<string>;
}

/** Starts an Apollo server for a schema; returns its route handler and its document cache. */
async function served<C extends ServerContext>(
  app: FastifyInstance,
  { config, onFault }: GraphEndpoints,
  { schema, rules, nodes, introspection, context, compiler, trusted }: Served<C>,
): Promise<{ handle: Handler } & Pick<GraphServer<C>, 'documents'>> {
  const { apollo, documents } = buildApollo(schema, rules, {
    ...documentLimitsOf(config),
    introspection,
    nodes,
    ...(compiler && { compiler }),
    ...(trusted && { trusted }),
    onFault,
  });
  await apollo.start();
  app.addHook('onClose', () => apollo.stop());
  const apolloHandle = fastifyApolloHandler(apollo, { context: async (request) => context(request) });
  const handle: Handler = (request, reply) =>
    // Apollo's handler sends the reply itself; its type wants the route's own generics.
    (apolloHandle as (request: FastifyRequest, reply: FastifyReply) => unknown).call(app, request, reply) as never;
  return { handle, documents };
}
