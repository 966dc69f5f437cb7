import type { Socket } from 'node:net';
import helmet from '@fastify/helmet';
import fastifyMultipart from '@fastify/multipart';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import type { Logger } from 'pino';
import { Callers } from '../auth/api-keys.js';
import { tokenOf } from '../resources/checkout/link.js';
import { type Checkouts, checkoutTermsOf } from '../resources/checkout/terms.js';
import type { Config } from '../config.js';
import { Context } from '../operation/context.js';
import type { Database } from '../db/database.js';
import { Scope } from '../db/scope.js';
import { editions } from '../editions/editions.js';
import { examples } from '../api/graphql/explorer-examples.js';
import { explorer } from '../api/graphql/explorer.js';
import { fileRoutes } from '../api/rest/file-upload.js';
import { graphErrors, type Rules } from '../api/graphql/errors.js';
import { type Asker, buildApollo, graphRules, publicSizes } from '../api/graphql/server.js';
import { permit } from '../operation/guard.js';
import { type Acquirers, acquirerOf, acquirers as delivered } from '../hosted/acquirer.js';
import { hostedPages, mangledPage } from '../hosted/page.js';
import { idempotencyKey } from '../operation/idempotency.js';
import { type JsonBody, parsedJson } from '../request/json.js';
import { type GraphBody, DocumentCache } from '../api/graphql/document-cache.js';
import { faultLine, requestLine } from './log.js';
import { OperatorContext } from '../operator/context.js';
import { Credential } from '../operator/credential.js';
import { buildOperatorGraph, operatorRules, sizes as operatorSizes } from '../operator/graph.js';
import type { ListSizes } from '../api/graphql/query-cost.js';
import { Operator } from '../operator/operator.js';
import type { Permission } from '../auth/permissions.js';
import { errorV1, type Problem, problem, DomainError, retryAfter } from '../request/problems.js';
import { rest } from '../api/rest/handler.js';
import { routes } from '../api/rest/routes.js';
import { QueryCompiler } from '../api/graphql/compiler/compiler.js';
import { clientLeft, RequestBudget, type RequestLimits, tooLarge, tooLate } from '../request/budget.js';
import { newRequestId } from '../request/id.js';
import { Secrets } from '../db/secrets.js';
import type { Caller } from '../request/caller.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the caller is known; absent on pages and probes. */
    context: Context | null;
    /** Set once the operator is known. */
    operator: OperatorContext | null;
    /** What the request may use; it ends when the client disconnects. Set before anything else is looked at. */
    budget: RequestBudget | null;
    /** Ends the request when its time is over, counted from now. */
    startTime(): void;
  }
  interface FastifyContextConfig {
    /** The permission that a route needs, asked for before its body is read. */
    permission?: Permission;
    /** Pages that need no key. */
    open?: true;
    /** The operator's endpoint, which takes its credential alone. */
    operator?: Credential;
    /** Whose answers may take longer than REQUEST_SECONDS. */
    lasting?: true;
    /** Whose bodies are read by the handler, which then starts the time of the request itself. */
    streamed?: true;
    /** Probes, which need neither a key nor HTTPS. */
    probe?: true;
  }
}

/** What the gateway is built from. */
export interface Parts {
  config: Config;
  database: Database;
  schema: GraphQLSchema;
  pepper: string | Secrets;
  log: Logger;
  /** Who takes payers' money; without it the sandbox in test mode, and in live mode none. */
  acquirers?: Acquirers;
}

/**
 * The HTTP application: /graphql, /v1, /operator/graphql, the explorer and the probes. Every request goes the same way:
 * HTTPS, key, permission, and only then its body.
 */
export async function gateway({
  config,
  database,
  schema,
  pepper,
  log,
  acquirers = delivered,
}: Parts): Promise<FastifyInstance> {
  const secrets = Secrets.of(pepper);
  const callers = new Callers(database, secrets);
  const terms = checkoutTermsOf(config);
  const limits: RequestLimits = {
    nodes: config.GRAPHQL_NODES_MAX,
    answerBytes: config.ANSWER_BYTES_MAX,
    seconds: config.REQUEST_SECONDS,
  };
  let draining = false;
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    bodyLimit: config.BODY_BYTES_MAX,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 15_000,
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 500 },
    // No hook runs for an address that cannot be read.
    frameworkErrors: (_: unknown, request: FastifyRequest, reply: FastifyReply) => {
      reply.headers(fixed).header('request-id', request.id);
      if (pathOf(request.url).startsWith('/checkout/')) return mangledPage(reply);
      return Promise.resolve()
        .then(() => refuseRepeated(request))
        .then(() => refuseHost(request))
        .then(() => identify(request))
        .then(() => [problem('route_missing')])
        .catch((error) => problemsOf(error))
        .then((problems) => refuse(request, reply, problems));
    },
    clientErrorHandler,
    ...(config.tls ? { https: { ...config.tls, minVersion: 'TLSv1.2', ...slowClients } } : { http: slowClients }),
  } as never) as unknown as FastifyInstance;

  app.decorateRequest('context', null);
  app.decorateRequest('operator', null);
  app.decorateRequest('budget', null);
  app.decorateRequest('startTime', () => {});
  const fixed = { ...(await securityHeaders(config)), 'cache-control': 'no-store' };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) =>
    parseJson(request, bytes as Buffer, done),
  );

  const newKey = (tenant: string, live: boolean) => callers.newKey(tenant, live);
  const identify = (request: FastifyRequest): Context | Promise<Context> => {
    const caller = callers.find(request.socket, single(request, 'authorization'), single(request, 'on-behalf-of'));
    return caller instanceof Promise ? caller.then((found) => contextOf(request, found)) : contextOf(request, caller);
  };
  const contextOf = (request: FastifyRequest, caller: Caller): Context => {
    const key = request.method === 'POST' ? idempotencyKey(single(request, 'idempotency-key')) : undefined;
    const budget = request.budget ?? undefined;
    const scope = new Scope(caller, database, budget);
    const checkouts: Checkouts = {
      terms,
      payable: (livemode) => acquirerOf(livemode, acquirers) !== undefined,
      urlOf: (place) => `${originOf(request, config)}/checkout/${tokenOf(secrets, place)}`,
    };
    const edition = editions[caller.edition];
    return new Context(caller, scope, edition, request.id, key, newKey, checkouts, secrets, budget);
  };
  const identifyOperator = async (request: FastifyRequest, credential: Credential): Promise<OperatorContext> => {
    await credential.check(single(request, 'authorization'));
    const asking = { requestId: request.id, idempotencyKey: idempotencyKey(single(request, 'idempotency-key')) };
    const acting = new Operator(database, schema, secrets, asking, terms);
    return new OperatorContext(acting, asking.requestId, asking.idempotencyKey, request.budget ?? undefined);
  };
  const admit = (request: FastifyRequest, reply: FastifyReply): undefined | Promise<void> => {
    const { open, probe, operator, permission } = request.routeOptions.config;
    if (probe) return;
    refuseRepeated(request);
    refuseHost(request);
    if (!secure(request, config)) throw new DomainError(problem('https_required'));
    // The endpoint shows the explorer to whoever opens it in a browser, and takes everything else for GraphQL.
    if (open && (request.routeOptions.url !== '/graphql' || wantsPage(request, config))) return;
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      throw new DomainError(problem('body_invalid', undefined, 'HTTP/1.1 requires the header Host.'));
    if (operator) {
      return identifyOperator(request, operator).then((context) => {
        request.operator = context;
        if (request.method === 'POST') return;
        reply.header('allow', 'POST');
        throw new DomainError(problem('method_not_allowed'));
      });
    }
    // Whatever the target looked like, it is the route that decides; only where there is none does the path.
    if (request.is404 && !keyed(request.url)) throw new DomainError(problem('route_missing'));
    const enter = (context: Context) => {
      request.context = context;
      if (request.is404 || Object.values((request.params ?? {}) as Record<string, string>).includes(''))
        refuseRoute(request, reply);
      if (permission) permit(context, permission);
    };
    const context = identify(request);
    if (context instanceof Promise) return context.then(enter);
    enter(context);
  };
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(fixed).header('request-id', request.id);
    watch(request, reply, limits);
    take(() => admit(request, reply), done);
  });
  // A client that sends its body slowly has the time that Node gives it, and a status of its own.
  app.addHook('preValidation', (request, _, done) => {
    const { lasting, streamed, probe } = request.routeOptions.config;
    if (!lasting && !streamed && !probe) request.startTime();
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.context?.replayed) reply.header('idempotent-replayed', 'true');
    if (draining) reply.header('connection', 'close');
    // The content of a file is no text.
    if (typeof payload === 'string' && isLarger(payload, limits.answerBytes)) done(tooLarge(limits.answerBytes));
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { open, probe } = request.routeOptions.config;
    const looking = request.method === 'GET' || request.method === 'HEAD';
    const quiet = (probe || (open && looking && !request.context)) && reply.statusCode < 400;
    log[quiet ? 'debug' : 'info'](requestLine(request, reply.statusCode, reply.elapsedTime), 'request');
    done();
  });
  app.addHook('preClose', async () => {
    draining = true;
  });
  app.setNotFoundHandler((request, reply) => refuseRoute(request, reply));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problems = problemsOf(error);
    if (problems[0]?.code === 'service_fault') log.error({ requestId: request.id, ...faultLine(error) }, 'fault');
    if (problems[0]?.code === 'api_key_invalid' && request.routeOptions.config.operator)
      log.warn({ requestId: request.id }, "wrong operator's key");
    return refuse(request, reply, problems);
  });

  database.onOutage = (error) => log.warn(faultLine(error), 'PostgreSQL could not serve a request');
  app.get('/healthz', { config: { probe: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { probe: true } }, async (_, reply) => {
    if (draining) return reply.code(503).send({ status: 'draining' });
    try {
      await database.ready();
      return { status: 'ok' };
    } catch {
      return reply.code(503).send({ status: 'no database' });
    }
  });

  const graph = async <C extends Asker>(
    of: GraphQLSchema,
    rules: Rules<C>,
    sizes: ListSizes,
    introspection: boolean,
    context: (request: FastifyRequest) => C,
    known?: DocumentCache,
  ) => {
    const apollo = buildApollo(of, rules, {
      introspection,
      limits: {
        depth: config.GRAPHQL_DEPTH_MAX,
        aliases: config.GRAPHQL_ALIASES_MAX,
        rootFields: config.GRAPHQL_ROOT_FIELDS_MAX,
        directives: 10,
      },
      tokensMax: config.GRAPHQL_TOKENS_MAX,
      nodesMax: config.GRAPHQL_NODES_MAX,
      sizes,
      suggestions: config.suggestions,
      ...(known && { known }),
      onFault: (error, requestId) => log.error({ requestId, ...faultLine(error) }, 'fault'),
    });
    await apollo.start();
    app.addHook('onClose', () => apollo.stop());
    const handle = fastifyApolloHandler(apollo, { context: async (request) => context(request) });
    return (request: FastifyRequest, reply: FastifyReply) =>
      (handle as (request: FastifyRequest, reply: FastifyReply) => unknown).call(app, request, reply) as never;
  };
  const known = new DocumentCache(new QueryCompiler(schema, undefined, config.ANSWER_BYTES_MAX), (error, requestId) =>
    log.error({ requestId, ...faultLine(error) }, 'fault'),
  );
  const graphql = await graph(
    schema,
    graphRules,
    publicSizes,
    config.INTROSPECTION,
    (request) => request.context!,
    known,
  );
  const page = explorer({ endpoint: '/graphql', examples });
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    config: { open: true },
    preHandler: (request, _, done) => take(() => request.context && refuseMisshapen(request), done),
    handler: async (request, reply) => {
      if (!request.context) return page(request, reply) as never;
      const answer =
        request.method === 'POST' ? await known.answer(request.body as GraphBody, request.context) : undefined;
      if (!answer) return graphql(request, reply);
      reply.type(`${graphTypeOf(request)}; charset=utf-8`).headers(answer.headers);
      return answer.body;
    },
  });
  if (config.OPERATOR_KEY !== undefined) {
    // Whoever has the credential may see the schema, whatever the public one shows.
    const handler = await graph(
      buildOperatorGraph(),
      operatorRules,
      operatorSizes,
      true,
      (request) => request.operator!,
    );
    app.route({
      method: app.supportedMethods,
      url: '/operator/graphql',
      // An audit of all ledgers takes as long as they need.
      config: { operator: new Credential(config.OPERATOR_KEY), lasting: true },
      preHandler: (request, _, done) => take(() => refuseMisshapen(request), done),
      handler,
    });
  }
  if (config.EXPLORER) {
    app.get('/graphiql', { config: { open: true } }, page);
    app.get('/', { config: { open: true } }, (_, reply) => reply.redirect('/graphiql'));
  }

  rest(app, schema);
  await app.register(async (files) => {
    await files.register(fastifyMultipart);
    fileRoutes(files);
  });
  await app.register(async (pages) => {
    const onFault = (error: unknown, requestId: string) => log.error({ requestId, ...faultLine(error) }, 'fault');
    hostedPages(pages, { database, secrets, terms, acquirers, onFault });
  });
  // An expectation that nobody can meet is ignored, as HTTP allows: the answer to the request says what there is to say.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  await app.ready();
  return app;
}

/**
 * Takes a step of a request and goes on, at once where there was nothing to wait for: most steps of most requests are
 * such, and a promise for each would cost more than they do.
 */
function take(step: () => unknown, done: (error?: Error) => void): void {
  let waited: unknown;
  try {
    waited = step();
  } catch (error) {
    done(error as Error);
    return;
  }
  if (waited instanceof Promise) waited.then(() => done(), done);
  else done();
}

/** Refuses an answer that the client could not take, and what is no GraphQL request. */
function refuseMisshapen(request: FastifyRequest): void {
  if (graphTypeOf(request) === undefined) throw new DomainError(problem('not_acceptable'));
  const problems = misshapen(request.method === 'POST' ? request.body : request.query, request.method === 'POST');
  if (problems.length > 0) throw new DomainError(...problems);
}

/**
 * Follows a request to its end: it ends early when its client disconnects, and, once its time is started, when that is
 * over. Then it is answered at once, whatever it still waits for: a write goes on, and its outcome is found by its key.
 */
function watch(request: FastifyRequest, reply: FastifyReply, limits: RequestLimits): void {
  const budget = new RequestBudget(limits);
  let timer: NodeJS.Timeout | undefined;
  request.budget = budget;
  request.startTime = () => {
    clearTimeout(timer);
    budget.start();
    timer = setTimeout(() => {
      budget.end(tooLate(limits.seconds));
      if (!reply.sent) reply.header('retry-after', '1').send(budget.ended);
    }, limits.seconds * 1_000);
  };
  reply.raw.once('close', () => {
    clearTimeout(timer);
    if (!reply.raw.writableFinished) budget.end(clientLeft());
  });
}

/** Headers of which a request has one: Node keeps the first of several, and a proxy before it may have read the last. */
const onceOnly = new Set(['authorization', 'host']);

/** Refuses a header that stands twice, whatever its values. */
function refuseRepeated({ raw: { rawHeaders } }: FastifyRequest): void {
  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const written = rawHeaders[i]!;
    if (written.length !== 4 && written.length !== 13) continue;
    const name = written.toLowerCase();
    if (!onceOnly.has(name)) continue;
    if (seen.has(name))
      throw new DomainError(
        problem(
          'body_invalid',
          undefined,
          `The header ${name === 'host' ? 'Host' : 'Authorization'} stands twice. Send it once.`,
        ),
      );
    seen.add(name);
  }
}

/** A host as RFC 3986 has it: letters, digits, dots and hyphens, or an address of IPv6 in brackets; then maybe a port. */
const hostPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Refuses a Host that is none: it stands in payment links, in their header and in logs of proxies. */
function refuseHost({ headers: { host } }: FastifyRequest): void {
  if (host !== undefined && !hostPattern.test(host))
    throw new DomainError(
      problem('body_invalid', undefined, 'The header Host is not a host name or address with an optional port.'),
    );
}

/** Whether a text has more bytes than so many; of most texts their length tells. */
function isLarger(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}

/** The headers that keep browsers careful. They are the same on every answer, so helmet is asked for them once. */
async function securityHeaders(config: Config): Promise<Record<string, string>> {
  const sample = Fastify();
  await sample.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: config.transport === 'local' ? false : { maxAge: 31_536_000 },
    frameguard: { action: 'deny' },
  });
  sample.get('/', async (_, reply) => reply.code(204).send());
  const { headers } = await sample.inject('/');
  await sample.close();
  const { date: _, connection: __, 'content-length': ___, ...fixed } = headers as Record<string, string>;
  return fixed;
}

/** What keeps a body from being a GraphQL request at all; Apollo would refuse it without the request's id. */
function misshapen(raw: unknown, post: boolean): Problem[] {
  const one = 'Send one operation, as a JSON object with `query`.';
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return [problem('body_invalid', undefined, one)];
  const { query, variables, operationName, extensions } = raw as Record<string, unknown>;
  if (query === undefined) return [problem('parameter_missing', 'request.query')];
  if (query === '' || query === null) return [problem('parameter_invalid_empty', 'request.query')];
  if (typeof query !== 'string') return [problem('parameter_invalid', 'request.query', 'must be a string')];
  if (!post && typeof variables === 'string') {
    const repeated = repeatedVariables(variables);
    if (repeated.length > 0) return repeated;
  }
  const map = (v: unknown) => v === undefined || v === null || (typeof v === 'object' && !Array.isArray(v)) || !post;
  const out: Problem[] = [];
  if (!map(variables)) out.push(problem('parameter_invalid', 'request.variables', 'must be a map'));
  if (!map(extensions)) out.push(problem('parameter_invalid', 'request.extensions', 'must be a map'));
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    out.push(problem('parameter_invalid', 'request.operation_name', 'must be a string'));
  return out;
}

/** Variables in a query string are JSON too. What is no JSON is left to Apollo, which says so. */
function repeatedVariables(text: string): Problem[] {
  try {
    return repeatedProblems(parsedJson(`{"variables":${text}}`), 'request');
  } catch {
    return [];
  }
}

/** A client that sends its headers by the byte must not hold a socket for long. */
const slowClients = {
  requireHostHeader: false,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
};

/** What Node says of a request that it could not read, and how it is answered; anything else is not well-formed. */
const unread: Record<string, [status: string, problem: Problem]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', problem('request_timeout')],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', problem('headers_too_large')],
};
const malformed: [status: string, problem: Problem] = [
  '400 Bad Request',
  problem('body_invalid', undefined, 'The request is not well-formed HTTP.'),
];

/** Answers what is no HTTP, or did not arrive in time, unless the client is gone or reads another answer already. */
function clientErrorHandler({ code = '' }: { code?: string }, socket: Socket): void {
  const answering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
  if (code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  socket.end(unreadAnswer(...(unread[code] ?? malformed)));
}

/** An answer as it goes over the wire; there is no request to answer it by. */
function unreadAnswer(status: string, told: Problem): string {
  const body = JSON.stringify(errorV1([told]));
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${newRequestId()}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Whether a target that matches no route is of /v1 or /graphql, in whatever form it came: those ask for a key first. */
function keyed(target: string): boolean {
  const path = pathOf(target);
  return path === '/graphql' || path === '/v1' || path.startsWith('/v1/');
}

/** The path of a request target: of an absolute one too, and with its letters decoded. */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, '').split('?', 1)[0]!;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Refuses a path that is none, or that has other methods. */
function refuseRoute(request: FastifyRequest, reply: FastifyReply): never {
  const allowed = methodsOf(pathOf(request.url));
  if (allowed.length === 0) throw new DomainError(problem('route_missing'));
  reply.header('allow', allowed.join(', '));
  throw new DomainError(problem('method_not_allowed'));
}

/** A browser that opens the endpoint gets the explorer; everything else there is GraphQL. */
function wantsPage(request: FastifyRequest, config: Config): boolean {
  return (
    config.EXPLORER &&
    request.method === 'GET' &&
    request.headers.authorization === undefined &&
    (request.headers.accept ?? '').includes('text/html')
  );
}

/** Whether the request came over HTTPS, or may come without. Spec: Authentication 4. */
function secure(request: FastifyRequest, config: Config): boolean {
  if (config.transport !== 'proxy') return true;
  const proto = single(request, 'x-forwarded-proto');
  return trusted(request.socket, config) && (proto === 'https' || proto?.split(',').at(-1)?.trim() === 'https');
}

/** Where payers find us: as the operator says, or as whoever asks has found us. */
function originOf(request: FastifyRequest, config: Config): string {
  const { localAddress = '', localPort } = request.socket;
  // HTTP/1.0 need not name the host that it asks.
  const host =
    request.headers.host ?? `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
  return config.PUBLIC_URL ?? `${config.transport === 'local' ? 'http' : 'https'}://${host}`;
}

/** Whether the peer of a connection is a trusted proxy: asked once for each connection, since it stays who it is. */
function trusted(socket: Socket, config: Config): boolean {
  const known = trust.get(socket);
  if (known !== undefined) return known;
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const answer = config.proxies.check(peer, peer.includes(':') ? 'ipv6' : 'ipv4');
  trust.set(socket, answer);
  return answer;
}

const trust = new WeakMap<Socket, boolean>();

/** A header that may stand once. Node joins most repeated ones; two different keys in one request are a fault. */
function single(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(
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
function repeatedProblems({ repeated }: JsonBody, object: string): Problem[] {
  return repeated.map((path) => problem('parameter_invalid', `${object}.${path}`, 'is given more than once'));
}

const patterns = [
  ...routes,
  { method: 'POST', path: '/v1/files' },
  { method: 'GET', path: '/v1/files/:id/content' },
].map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
}));

/** The methods of a path, for the Allow header; none when there is no such path. */
function methodsOf(path: string): string[] {
  if (path === '/graphql') return ['GET', 'POST'];
  const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
  return [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

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
    'has a field whose name every object has by nature, such as constructor',
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: problem('body_invalid'),
  FST_REQ_FILE_TOO_LARGE: problem('body_too_large'),
  FST_FILES_LIMIT: problem('parameter_invalid', 'file.file', 'must be one file'),
  FST_FIELDS_LIMIT: problem('body_too_large'),
  FST_PARTS_LIMIT: problem('body_too_large'),
  FST_INVALID_MULTIPART_CONTENT_TYPE: problem('body_invalid', undefined, 'Send the file as multipart/form-data.'),
};

/** What went wrong, for the client: a domain error, something that the framework refused, or a fault of ours with nothing told. */
function problemsOf(error: FastifyError): Problem[] {
  if (error instanceof DomainError) return error.problems;
  return [
    frameworkProblems[error.code] ??
      (error.statusCode && error.statusCode < 500 ? problem('body_invalid') : problem('service_fault')),
  ];
}

/** The media types of a GraphQL answer; the first where the client has no preference. */
const graphTypes = ['application/json', 'application/graphql-response+json'];

/** What clients say that they accept, and what they get: few headers, asked again and again. */
const accepted = new LRUCache<string, { type: string | undefined }>({
  max: 100,
  maxSize: 100_000,
  sizeCalculation: (_, accept) => accept.length + 1,
});

/** The media type of the answer to a GraphQL request, or undefined when the client accepts none of ours. */
function graphTypeOf(request: FastifyRequest): string | undefined {
  const accept = request.headers.accept;
  if (accept === undefined) return graphTypes[0];
  const known = accepted.get(accept);
  if (known) return known.type;
  const type = new Negotiator(request.raw).mediaType(graphTypes);
  accepted.set(accept, { type });
  return type;
}

function refuse(request: FastifyRequest, reply: FastifyReply, problems: Problem[]): FastifyReply {
  const answer = errorV1(problems);
  const wait = retryAfter(problems);
  if (wait !== undefined) reply.header('retry-after', String(wait));
  // Never Basic: a browser would remember the key.
  if (answer.http_status_code === 401) reply.header('www-authenticate', 'Bearer');
  reply.header('request-id', request.id).code(answer.http_status_code);
  const graph = request.url.split('?', 1)[0] === '/graphql' || request.routeOptions.config.operator;
  if (!graph) return reply.send(answer);
  const type = graphTypeOf(request) ?? graphTypes[0]!;
  return reply.type(`${type}; charset=utf-8`).send(graphErrors(problems, request.id));
}
