import 'reflect-metadata';
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, ConfigError, config } from './config/config.js';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from './server/telemetry/metrics.js';
import type { Store } from './db/connect/open.js';
import type { Demo } from './server/demo/demo.js';
import { DashboardLinks } from './server/dashboard/links.js';
import { faultLine, logger } from './errors/log.js';
import { slowStatements } from './server/telemetry/slow-statements.js';
import { checkoutTermsOf } from './resources/checkout/terms.js';
import { MigrationError } from './db/schema/schema-version.js';
import { during, StartError } from './db/connect/start.js';
import { certificateExpires, renewCertificate } from './server/http/certificates.js';
import { answerWhileStarting, listening } from './server/http/starting.js';
import { exitWhileStarting, isFirst, onStop, sayAlive, sayServing, supervise } from './server/cluster.js';

/** Prints a long step when stderr is a terminal. */
function progress(step: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${step} …\n`);
}

/** Prints a line for the operator, whether or not stderr is a terminal. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Loads the program that serves, which takes about a second: only once the settings are right and the database is open,
 * and never in the primary process of several, which only supervises the others.
 */
async function loaded() {
  const { gateway } = await import('./server/app.js');
  const { buildGraph } = await import('./api/graphql/server.js');
  const { openDemo } = await import('./server/demo/demo.js');
  const { Operator } = await import('./operator/operator.js');
  const { sealTaxCards } = await import('./resources/person/encryption.js');
  const { sealWebhookSecrets } = await import('./resources/webhook-endpoint/encryption.js');
  const { Worker } = await import('./jobs/runner.js');
  const { WebhookRequests } = await import('./jobs/webhook-request.js');
  const { acquirersOf } = await import('./hosted/adapter/client.js');
  const { watchHealth } = await import('./operator/health/watch.js');
  // What is encrypted, each with how all of it comes under the first key.
  const encrypted = { 'tax card numbers': sealTaxCards, 'secrets of webhook endpoints': sealWebhookSecrets };
  return { acquirersOf, watchHealth, gateway, buildGraph, openDemo, Operator, encrypted, WebhookRequests, Worker };
}

/** Starts what the settings ask for of metrics, traces and the log of slow statements. */
async function telemetry(settings: Config, database: Store['database'], log: Logger) {
  const traces = settings.traced
    ? await import('./server/telemetry/traces.js').then(({ Traces }) => Traces.start(settings.OTEL_SERVICE_NAME))
    : undefined;
  const counted = settings.METRICS_PORT !== undefined;
  const metrics = counted ? new (await import('./server/telemetry/metrics.js')).Metrics() : undefined;
  metrics?.watchDatabase(database);
  if (settings.tls) metrics?.watchCertificate(() => certificateExpires(settings));
  if (traces) database.observers.push(traces);
  const { SLOW_STATEMENT_MILLISECONDS: slow } = settings;
  if (slow > 0) database.observers.push(slowStatements(log, slow));
  return { metrics, traces };
}

/** Serves metrics, if there is a port for them; throws a ConfigError that names the setting at fault. */
async function metricsEndpoint({ METRICS_PORT, METRICS_HOST }: Config, text: () => Promise<string>): Promise<void> {
  if (METRICS_PORT === undefined) return;
  const { serveMetrics } = await import('./server/telemetry/endpoint.js');
  try {
    await serveMetrics({ METRICS_PORT, METRICS_HOST }, text);
  } catch (error) {
    throw new ConfigError(`METRICS_PORT and METRICS_HOST: ${(error as Error).message}.`);
  }
}

/** Serves the metrics of this process, or lets the first process of several ask for them. */
async function servedMetrics(settings: Config, metrics: Metrics | undefined): Promise<void> {
  if (!metrics) return;
  if (cluster.isPrimary) return metricsEndpoint(settings, () => metrics.registry.metrics());
  const { answerForMetrics } = await import('./server/telemetry/process-metrics.js');
  answerForMetrics(metrics.registry);
}

/** Runs the processes of `WORKERS`, logs those that are replaced, and serves the metrics of all. */
async function supervised(settings: Config): Promise<void> {
  const log = logger(settings.LOG_LEVEL);
  const { ProcessMetrics } = await import('./server/telemetry/process-metrics.js');
  const metrics = new ProcessMetrics();
  await metricsEndpoint(settings, () => metrics.text());
  return supervise(settings.WORKERS, settings.tls !== undefined, {
    replaced(reason, worker) {
      metrics.replaced(reason);
      log.error({ reason, ...worker }, 'a process of WORKERS is replaced');
    },
  });
}

async function main(): Promise<void> {
  exitWhileStarting();
  const settings = config({ serves: true });
  if (settings.WORKERS > 1 && cluster.isPrimary) return supervised(settings);
  if (cluster.isWorker) sayAlive();
  // SIGHUP would end a process that is still starting.
  if (settings.tls) process.on('SIGHUP', () => {});
  const answered = await during('listening', () => answerWhileStarting(settings, isFirst()));
  const { openStore } = await import('./db/connect/open.js');
  const store = await openStore(settings, { migrates: true, progress, say });
  const log = logger(settings.LOG_LEVEL);
  const { metrics, traces } = await telemetry(settings, store.database, log);
  const { acquirersOf, watchHealth, gateway, buildGraph, ...parts } = await loaded();
  const { openDemo, Operator, encrypted, WebhookRequests, Worker } = parts;
  const { database, secrets } = store;
  const schema = buildGraph();
  const acquirers = acquirersOf(settings);
  const certificate = () => settings.tls?.cert;
  const operator = new Operator(database, schema, secrets, undefined, checkoutTermsOf(settings), certificate);
  const demo = store.embedded
    ? await during('seeding the demo', () => openDemo(store, operator, schema, progress))
    : [];
  const links =
    settings.transport === 'local' && settings.DASHBOARD ? new DashboardLinks(store.pepper, demo) : undefined;
  const app = await gateway({
    ...{ config: settings, database, schema, pepper: secrets, log, metrics, traces, links },
    ...{ demos: demo, acquirers },
  });
  const retention = {
    idempotencySeconds: settings.IDEMPOTENCY_HOURS * 3_600,
    eventSeconds: settings.EVENT_DAYS && settings.EVENT_DAYS * 86_400,
    requestSeconds: settings.REQUEST_LOG_DAYS * 86_400,
  };
  const requests = new WebhookRequests({ local: settings.transport === 'local' });
  const checkSeconds = settings.LEDGER_CHECK_HOURS * 3_600;
  const webhooks = { secrets, requests, queries: app.eventQueries };
  const worker = new Worker(database, log, retention, acquirers, webhooks, checkSeconds, app.bulk, metrics);
  await answered();
  await during('listening', () => listening(app, settings));
  sayServing();
  await servedMetrics(settings, metrics);
  worker.start();

  const stopping = new AbortController();
  if (!store.embedded) void watchHealth(operator, log, metrics, stopping.signal);
  encryptAgain(store, encrypted, log, stopping.signal);
  const end = async () => {
    stopping.abort();
    await drained(app, worker, settings);
    await store.close();
    await traces?.stop().catch(() => {});
    process.exit(0);
  };
  const reload = settings.tls && (() => renewCertificate(app.server, settings, log));
  onStop(end, () => process.exit(1), reload);
  if (isFirst()) announce(settings, (app.server.address() as { port: number }).port, demo, links);
}

/** Encrypts all under the first key: once for each start, which does not wait, and not in each round of the worker. */
function encryptAgain(
  { database, secrets }: Store,
  encrypted: Awaited<ReturnType<typeof loaded>>['encrypted'],
  log: Logger,
  stopping: AbortSignal,
): void {
  for (const [what, seal] of Object.entries(encrypted))
    void seal(database, secrets, () => stopping.aborted).then(
      (count) => count > 0 && log.info({ count }, `${what} were encrypted`),
      (error: unknown) => stopping.aborted || log.error(faultLine(error), `${what} could not be encrypted`),
    );
}

/** Ends the service of requests and the worker. Exits when requests under way take longer than DRAIN_SECONDS. */
async function drained(app: FastifyInstance, worker: { stop(): Promise<void> }, settings: Config): Promise<void> {
  // Until balancers have seen that /readyz fails, new requests still arrive.
  app.startDraining();
  await sleep(settings.SHUTDOWN_DELAY_SECONDS * 1_000);
  setTimeout(() => process.exit(1), settings.DRAIN_SECONDS * 1_000);
  await app.close();
  await worker.stop();
}

function announce(
  { HOST, EXPLORER, DASHBOARD, OPERATOR_API, transport }: Config,
  port: number,
  demo: Demo[],
  links: DashboardLinks | undefined,
): void {
  const host = HOST.includes(':') ? `[${HOST}]` : HOST;
  const origin = `${transport === 'tls' ? 'https' : 'http'}://${host}:${port}`;
  const lines = [`Tidegate is listening on ${origin}`];
  if (DASHBOARD) lines.push(`  Dashboard ${origin}/dashboard`);
  if (EXPLORER) lines.push(`  Explorer  ${origin}/graphiql`);
  lines.push(`  Docs      ${origin}/docs`);
  if (OPERATOR_API) lines.push(`  Operators ${origin}/operator`);
  for (const { edition, name, testKey } of demo) {
    lines.push('', `  Edition ${edition}: the demo platform ${name}`, `  Test key  ${testKey}`);
    if (links) lines.push(`  Dashboard ${origin}/dashboard/sign-in#code=${links.newCode(edition)}`);
    if (EXPLORER) lines.push(`  Explore   ${origin}/graphiql#key=${testKey}`);
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

// The process state is undefined after an uncaught exception, so the process exits and a supervisor restarts it.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    process.stderr.write(`${event}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof MigrationError || error instanceof StartError;
  const detail = error instanceof Error ? (known ? error.message : error.stack) : String(error);
  process.stderr.write(`Tidegate could not start.\n${detail}\n`);
  process.exit(1);
});
