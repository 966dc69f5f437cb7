import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { DatabaseState, WorkerCalls } from '../../db/doors.js';
import type { Config } from '../../config/config.js';
import type { InFlight } from '../limits/in-flight.js';
import type { Metrics } from './metrics.js';
import { RequestLogWriter } from './request-log.js';
import { measureRequests } from './requests.js';

/** What is observed, and where it is reported. */
interface Observed {
  config: Config;
  database: DatabaseState & WorkerCalls;
  metrics?: Metrics | undefined;
  log: Logger;
}

/** Counts the requests for metrics, and keeps them in the request log of their account. */
export function observe(app: FastifyInstance, { config, database, metrics, log }: Observed, inFlight: InFlight): void {
  followReplicas(database, log, metrics);
  metrics?.watchRequests(() => inFlight.load);
  metrics?.watchQueues();
  if (metrics) measureRequests(app, metrics);
  if (config.REQUEST_LOG_DAYS === 0) return;
  const requestLog = new RequestLogWriter(database);
  requestLog.addTo(app);
  metrics?.watchRequestLog(() => requestLog.dropped);
}

/** Logs which replicas are used, and measures them. */
function followReplicas(
  { replicas, signals }: DatabaseState & WorkerCalls,
  log: Logger,
  metrics: Metrics | undefined,
): void {
  if (!replicas) return;
  metrics?.watchReplicas(replicas);
  signals.on('replica', (replica, reason) =>
    reason === undefined
      ? log.info({ replica }, 'a replica is used')
      : log.warn({ replica, reason }, 'a replica is not used'),
  );
}
