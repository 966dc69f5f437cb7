import compress from '@fastify/compress';
import fastifyMultipart from '@fastify/multipart';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { exportContentRoute } from '../api/rest/bulk/download.js';
import { fileRoutes } from '../api/rest/file-upload.js';
import { NodeCounter } from '../api/graphql/query-cost.js';
import { publicSizes } from '../api/graphql/server.js';
import { contractEndpoint } from '../api/rest/contract/endpoint.js';
import { rest } from '../api/rest/handler.js';
import { Callers } from '../auth/api-keys.js';
import type { Config } from '../config/config.js';
import { consistencyHeader } from '../db/replicas/consistency-token.js';
import type { Store } from '../db/connect/open.js';
import { Secrets } from '../config/secrets.js';
import type { Acquirers } from '../hosted/acquirer.js';
import { acquirersOf } from '../hosted/adapter/client.js';
import type { Hosted } from '../hosted/answers.js';
import { hostedPages, mangledPage } from '../hosted/page.js';
import { Operator } from '../operator/operator.js';
import { RefusedChanges } from '../operator/action/refused-changes.js';
import { WrongKeys } from '../operator/access/wrong-keys.js';
import { type RequestLimits, tooLarge } from '../limits/budget.js';
import { newRequestId } from '../request/id.js';
import { problem } from '../errors/problems.js';
import { checkoutTermsOf } from '../resources/checkout/terms.js';
import { Admission, refuseHost } from './limits/admission.js';
import { acquirerReports } from './http/acquirer-reports.js';
import { bodyHeaders, refuseOtherTypes } from './http/body-headers.js';
import { compressionOptions } from './http/compression.js';
import { conditionalRequests } from './http/conditional-requests.js';
import { crossOrigin } from './http/cors.js';
import { AccountContexts } from './account-contexts.js';
import { docsSite } from './http/docs-site.js';
import { browserProgram, consoleProgram, dashboardProgram } from './dashboard/files.js';
import type { DashboardLinks } from './dashboard/links.js';
import { dashboardSessions } from './dashboard/session.js';
import type { Demo } from './demo/demo.js';
import './http/fastify-members.js';
import { graphEndpoints } from './graphql/endpoints.js';
import { securityHeaders } from './http/headers.js';
import { Identity } from './identity.js';
import { InFlight } from './limits/in-flight.js';
import { parseJson } from './http/json-body.js';
import { isLarger, take, TimeLimits, watch } from './lifetime.js';
import { sharedServices } from './gateway-services.js';
import { faultLine } from '../errors/log.js';
import { requestLine } from './telemetry/request-line.js';
import { refuseRoute } from './http/methods.js';
import { probes } from './http/probes.js';
import { RateLimit } from './limits/rate-limit.js';
import { QuickRefusal } from './limits/quick-refusal.js';
import { problemsOf, refuse } from './http/refusal.js';
import { RepeatedRefusals } from './limits/repeated-refusals.js';
import { pathOf, trusting } from './http/request.js';
import { operatorRoutes } from './dashboard/operator-session.js';
import type { Metrics } from './telemetry/metrics.js';
import { observe } from './telemetry/observe.js';
import type { Traces } from './telemetry/traces.js';
import { missingPage, startPage } from './dashboard/start-page.js';
import { eventStreamRoute } from './streams/event-stream.js';
import { streamServices } from './streams/gateway-streams.js';
import type { StreamServices } from './streams/follower.js';
import { webSockets } from './streams/upgrade.js';
import { secureContext } from './http/certificates.js';
import { endSilentConnections } from './http/silent-connections.js';
import { refuseRepeated } from './http/single-headers.js';
import { clientErrorHandler, slowClients } from './http/unreadable.js';

/** The parts from which the gateway is built. */
export interface Parts {
  config: Config;
  database: Store['database'];
  schema: GraphQLSchema;
  pepper: string | Secrets;
  log: Logger;
  /** Counts requests; without it, nothing is counted. */
  metrics?: Metrics | undefined;
  /** Follows requests; without it, nothing is traced. */
  traces?: Traces | undefined;
  /** The acquirers; by default those of the settings. */
  acquirers?: Acquirers;
  /** The one-time links to the dashboard that the start prints; only a local gateway with a demo has them. */
  links?: DashboardLinks | undefined;
  /** The demos whose test keys the start page of a local gateway shows. */
  demos?: readonly Demo[];
}

/**
 * The HTTP application: /graphql, /v1, /operator/graphql, the explorer, the documentation and the probes. It checks
 * every request in the same order: HTTPS, key, permission, and only then its body.
 */
export async function gateway(parts: Parts): Promise<FastifyInstance> {
  const { config, database, schema, log, metrics, traces, acquirers = acquirersOf(parts.config) } = parts;
  const secrets = Secrets.of(parts.pepper);
  const terms = checkoutTermsOf(config);
  const callers = new Callers(database, secrets);
  const operator = new Operator(database, schema, secrets);
  const wrongKeys = new WrongKeys(operator, log);
  const refusedChanges = new RefusedChanges();
  const onFault = (error: unknown, requestId: string) => log.error({ requestId, ...faultLine(error) }, 'fault');
  const inFlight = new InFlight(config, secrets);
  const limit = new RateLimit(config, database);
  const { chargeOf } = limit;
  const nodes = new NodeCounter(schema, publicSizes);
  const contextParts = { config, database, secrets, callers, terms, acquirers };
  const accounts = new AccountContexts(contextParts);
  const shared = sharedServices({ config, database, schema, nodes, accounts, inFlight, chargeOf, onFault });
  const identity = new Identity({ ...contextParts, schema, services: shared, wrongKeys, refusedChanges });
  const fixed = { ...(await securityHeaders(config)), 'cache-control': 'no-store' };
  const app = application(config, identity, fixed);
  const server = drainable(app);

  // Before the first route, which the CORS plugin registers: a route keeps the error handler of its registration.
  refusals(app, log);
  traces?.followRequests(app);
  await crossOrigin(app, config, fixed);
  await webSockets(app, config);
  const repeated = new RepeatedRefusals();
  repeated.addTo(app, () => server.draining);
  const quickly = new QuickRefusal(callers, inFlight, repeated, fixed, config);
  const admission = new Admission(config, identity, inFlight, parts.links);
  eachRequest(app, { config, quickly, admission, identity, fixed, log, server });
  inFlight.addTo(app);
  observe(app, parts, inFlight);
  limit.addTo(app);
  app.decorate('eventQueries', shared.eventQueries);
  app.decorate('bulk', shared.bulk);
  const services = streamServices(app, { config, identity, inFlight, database, chargeOf, refusals: repeated });
  metrics?.watchStreams(() => services.streams.size);
  await app.register(compress, compressionOptions);
  database.signals.on('outage', (error) => log.warn(faultLine(error), 'PostgreSQL could not serve a request'));
  probes(app, database, server);
  contractEndpoint(app, schema);
  docsSite(app);
  const takesLivePayments = acquirers.live !== undefined;
  startPage(app, { config, demos: parts.demos ?? [], links: parts.links, takesLivePayments });
  await graphEndpoints(app, { config, schema, nodes, streams: services, onFault });
  if (config.OPERATOR_API) operatorRoutes(app, config, [wrongKeys, refusedChanges]);
  if (config.DASHBOARD) {
    browserProgram(app, dashboardProgram, config);
    dashboardSessions(app, { config, schema });
  }
  if (config.OPERATOR_API) browserProgram(app, consoleProgram, config);
  await dataRoutes(app, schema, services, onFault);
  await payerRoutes(app, { database, secrets, terms, acquirers, onFault });
  await app.register(async (reports) => acquirerReports(reports, config, { database, operator, inFlight }));
  await app.ready();
  return app;
}

/** The payment pages. */
async function payerRoutes(app: FastifyInstance, hosted: Hosted): Promise<void> {
  await app.register(async (pages) => {
    hostedPages(pages, hosted);
    refuseOtherTypes(pages);
  });
}

/** The routes of /v1: those of the specification, and what REST alone has. */
async function dataRoutes(
  app: FastifyInstance,
  schema: GraphQLSchema,
  services: StreamServices,
  onFault: (error: unknown, requestId: string) => void,
): Promise<void> {
  await app.register(async (api) => {
    conditionalRequests(api);
    rest(api, schema);
  });
  exportContentRoute(app);
  eventStreamRoute(app, services, onFault);
  await app.register(async (files) => {
    await files.register(fastifyMultipart);
    fileRoutes(files);
  });
}

/** Whether the gateway ends: it goes on serving, its probe fails, and answers close their connections. */
function drainable(app: FastifyInstance): { draining: boolean } {
  const server = { draining: false };
  app.decorate('startDraining', () => {
    server.draining = true;
  });
  return server;
}

/** The application without its routes: its limits and its parsers of requests. */
function application(config: Config, identity: Identity, fixed: Record<string, string>): FastifyInstance {
  const slow = { ...slowClients, headersTimeout: config.HEADER_SECONDS * 1_000 };
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    bodyLimit: config.BODY_BYTES_MAX,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: config.BODY_SECONDS * 1_000,
    keepAliveTimeout: config.KEEP_ALIVE_SECONDS * 1_000,
    routerOptions: { maxParamLength: 500 },
    trustProxy: config.transport === 'proxy' && trusting(config.proxies),
    // Fastify runs no hook for an address that it cannot read, so this handler does their checks.
    frameworkErrors: (_: unknown, request: FastifyRequest, reply: FastifyReply) => {
      reply.headers(fixed).header('request-id', request.id);
      if (pathOf(request.url).startsWith('/checkout/')) return mangledPage(reply);
      return Promise.resolve()
        .then(() => refuseRepeated(request))
        .then(() => refuseHost(request))
        .then(() => identity.identify(request))
        .then(() => [problem('route_missing')])
        .catch((error) => problemsOf(error))
        .then((problems) => refuse(request, reply, problems));
    },
    clientErrorHandler,
    ...(config.tls ? { https: { ...secureContext(config.tls), ...slow } } : { http: slow }),
    // Fastify's types have another instance for https than for http; here the configuration decides which.
  } as never) as unknown as FastifyInstance;
  // As the answers of the graph end, so that the answers of several commands in a terminal stand in lines of their own.
  app.setReplySerializer((answer) => `${JSON.stringify(answer)}\n`);
  app.decorateRequest('context', null);
  app.decorateRequest('operator', null);
  app.decorateRequest('budget', null);
  app.decorateRequest('timeLimit', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) =>
    parseJson(request, bytes as Buffer, done),
  );
  bodyHeaders(app);
  return app;
}

/** The parts that the hooks of every request need. */
interface EachRequest {
  config: Config;
  quickly: QuickRefusal;
  admission: Admission;
  identity: Identity;
  /** The headers of every answer. */
  fixed: Record<string, string>;
  log: Logger;
  server: { draining: boolean };
}

function eachRequest(
  app: FastifyInstance,
  { config, quickly, admission, identity, fixed, log, server }: EachRequest,
): void {
  const limits: RequestLimits = {
    nodes: config.GRAPHQL_NODES_MAX,
    answerBytes: config.ANSWER_BYTES_MAX,
    seconds: config.REQUEST_SECONDS,
  };
  const timeLimits = new TimeLimits(limits.seconds);
  app.addHook('onRequest', (request, reply, done) => {
    if (!server.draining && quickly.refuses(request, reply)) return;
    reply.headers(fixed).header('request-id', request.id);
    watch(request, reply, limits, timeLimits);
    take(() => admission.admit(request, reply), done);
  });
  // The time limit starts after the body: a slow body has Node's own limit, and a status of its own (408).
  app.addHook('preValidation', (request, _, done) => {
    const { lasting, streamed, probe } = request.routeOptions.config;
    if (!lasting && !streamed && !probe) request.timeLimit?.start();
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.context?.replayed) reply.header('idempotent-replayed', 'true');
    const consistency = identity.consistencyTokenOf(request);
    if (consistency !== undefined) reply.header(consistencyHeader, consistency);
    if (server.draining) reply.header('connection', 'close');
    // Only texts are limited: the content of a file is a buffer.
    if (typeof payload === 'string' && isLarger(payload, limits.answerBytes)) done(tooLarge(limits.answerBytes));
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { open, keyOptional, probe } = request.routeOptions.config;
    const looking = request.method === 'GET' || request.method === 'HEAD';
    const unasked = probe || request.corsPreflightEnabled || ((open || keyOptional) && looking && !request.context);
    const level = unasked && reply.statusCode < 400 ? 'debug' : 'info';
    if (log.isLevelEnabled(level)) log[level](requestLine(request, reply.statusCode, reply.elapsedTime), 'request');
    done();
  });
  app.addHook('preClose', async () => {
    server.draining = true;
  });
  endSilentConnections(app, { drainMilliseconds: config.DRAIN_SECONDS * 1_000 });
}

/** Registers the answers to requests that match no route, and to errors. */
function refusals(app: FastifyInstance, log: Logger): void {
  app.setNotFoundHandler((request, reply) => refuseRoute(request, reply));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problems = problemsOf((request.budget?.charge?.lateRefusal() as FastifyError | undefined) ?? error);
    if (problems[0]?.code === 'service_fault') log.error({ requestId: request.id, ...faultLine(error) }, 'fault');
    const page = request.is404 && problems[0]?.code === 'route_missing' && missingPage(request, reply);
    return page || refuse(request, reply, problems);
  });
}
