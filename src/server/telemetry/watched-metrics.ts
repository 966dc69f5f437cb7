import type { DatabaseState } from '../../db/doors.js';
import type { CrossTenantQueries } from '../../db/cluster/cross-tenant-queries.js';
import type { Replicas } from '../../db/replicas/replicas.js';
import { type ObservedStatement, type PoolName, poolNames, type StatementObserver } from '../../db/connect/observer.js';
import { queueNames, refusals } from '../../limits/queue-refusal.js';
import { Instruments } from './instruments.js';

/** The metrics whose values are read from parts of the process when they are asked for. */
export abstract class WatchedMetrics extends Instruments implements StatementObserver {
  /** The statements of each pool that run or wait now. */
  protected readonly running = Object.fromEntries(poolNames.map((pool) => [pool, 0])) as Record<PoolName, number>;

  abstract began(statement: ObservedStatement): (error?: unknown) => void;

  /** Adds the statements of a database, and the nodes to which its tenants are distributed. */
  watchDatabase(
    database: Pick<DatabaseState, 'observers' | 'poolSizes' | 'readiness'> & {
      crossTenant: Pick<CrossTenantQueries, 'nodes'>;
    },
  ): void {
    database.observers.push(this);
    this.gauge('tidegate_statements_in_flight', 'Statements that run or wait now.', ['pool'], (gauge) => {
      for (const [pool, count] of Object.entries(this.running)) gauge.set({ pool }, count);
    });
    this.gauge('tidegate_pool_connections_max', 'The connections that each pool may have.', ['pool'], (gauge) => {
      for (const [pool, size] of Object.entries(database.poolSizes)) gauge.set({ pool }, size);
    });
    this.gauge(
      'tidegate_last_commit_age_seconds',
      'The time since the last small commit of a process was acknowledged. It tries one every 2 seconds.',
      [],
      (gauge) => {
        const age = database.readiness.commitAgeSeconds;
        if (age !== undefined) gauge.set(age);
      },
      'max',
    );
    this.gauge(
      'tidegate_database_node_up',
      'Whether a node of a cluster that holds tenants answered the last poll for work: 1 or 0.',
      ['node'],
      (gauge) => {
        gauge.reset();
        for (const { name, answers } of database.crossTenant.nodes) gauge.set({ node: name }, answers ? 1 : 0);
      },
      'min',
    );
  }

  /** Adds the requests in flight, and the delay of the event loop. */
  watchRequests(load: () => { working: number; inFlight: number; pages: number; loopDelaySeconds: number }): void {
    this.gauge('tidegate_requests', 'Requests of the APIs and of payment pages.', ['state'], (gauge) => {
      const { working, inFlight, pages } = load();
      gauge.set({ state: 'working' }, working);
      gauge.set({ state: 'in_flight' }, inFlight);
      gauge.set({ state: 'page' }, pages);
    });
    this.gauge(
      'tidegate_event_loop_delay_seconds',
      'The mean delay of the event loop in the last half of a second, by which requests are admitted.',
      [],
      (gauge) => gauge.set(load().loopDelaySeconds),
      'max',
    );
  }

  /** Adds what the queues of the process have refused since now, each queue from 0 on. */
  watchQueues(): void {
    const before = { ...refusals };
    this.counted(
      'tidegate_queue_refused_total',
      'What a queue has refused with 503, because too much waited in it or something waited too long.',
      ['queue'],
      () => queueNames.map((queue) => [{ queue }, refusals[queue] - before[queue]] as const),
    );
  }

  /** Adds the end of the certificate that is served, in epoch seconds. */
  watchCertificate(expires: () => number): void {
    this.gauge(
      'tidegate_certificate_expires_seconds',
      'When the certificate in TLS_CERT_FILE expires, as a Unix time.',
      [],
      (gauge) => gauge.set(expires()),
      'min',
    );
  }

  /** Adds the open streams. */
  watchStreams(size: () => number): void {
    this.gauge('tidegate_streams', 'Open streams of events and subscriptions, and WebSockets.', [], (gauge) =>
      gauge.set(size()),
    );
  }

  /** Adds the requests that the request log has dropped. */
  watchRequestLog(dropped: () => number): void {
    this.counted(
      'tidegate_request_log_dropped_total',
      'Answered requests that are not in the request log, because too many were waiting or could not be written.',
      [],
      () => [[{}, dropped()]],
    );
  }

  /** Adds the replicas. */
  watchReplicas(replicas: Pick<Replicas, 'states' | 'onPrimary'>): void {
    const lagIn = (unit: 'seconds' | 'bytes', help: string) =>
      this.gauge(
        `tidegate_replica_lag_${unit}`,
        help,
        ['replica'],
        (gauge) => {
          gauge.reset();
          for (const { name, lag } of replicas.states) if (lag) gauge.set({ replica: name }, lag[unit]);
        },
        'max',
      );
    lagIn(
      'seconds',
      'How old at most the data of a replica are. It grows while the replica or the primary does not answer.',
    );
    lagIn('bytes', "The bytes of the primary's log that a replica had not replayed at its last answer.");
    this.counted(
      'tidegate_replica_reads_total',
      'Statements that a replica may answer, by their outcome: answered there; asked again on the primary, ' +
        'because nothing was found (missing) or it failed; or on the primary at once.',
      ['replica', 'outcome'],
      () => [
        ...replicas.states.flatMap(({ name, counts }) =>
          Object.entries(counts).map(([outcome, count]) => [{ replica: name, outcome }, count] as const),
        ),
        [{ replica: '', outcome: 'primary' }, replicas.onPrimary] as const,
      ],
    );
  }
}
