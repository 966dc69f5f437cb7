import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { queueNames, refusals } from '../../limits/queue-refusal.js';
import type { DatabaseState } from '../../db/doors.js';
import type { CrossTenantQueries } from '../../db/cluster/cross-tenant-queries.js';
import type { Replicas } from '../../db/replicas/replicas.js';
import type { ObservedStatement, PoolName, StatementObserver } from '../../db/connect/observer.js';

/** The upper ends of the buckets for durations, in seconds. */
const seconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What a metric says of a request when its answer has been sent. */
export interface ObservedRequest {
  /** Which API or page: graphql, rest, operator, page, probe or other. */
  api: string;
  /** The root field, or the method and route. */
  operation: string;
  status: number;
  seconds: number;
  /** The codes of the errors in the answer. */
  codes: readonly string[];
  answeredBy: 'compiled' | 'resolvers' | undefined;
}

/**
 * The metrics of one process, for Prometheus. No label has a value that a client can choose: operations are root fields
 * and routes, statements are the names of SQL functions. The names are listed in docs/operations/monitor.md, and a test
 * compares the two.
 */
export class Metrics implements StatementObserver {
  readonly registry = new Registry();
  readonly #requests = this.#histogram(
    'tidegate_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer.',
    ['api', 'operation'],
  );
  readonly #answers = this.#counter('tidegate_http_requests_total', 'Answered requests.', [
    'api',
    'operation',
    'status',
  ]);
  readonly #refusals = this.#counter('tidegate_errors_total', 'Errors in answers, by their code.', ['api', 'code']);
  readonly #documents = this.#counter(
    'tidegate_graphql_operations_total',
    'GraphQL operations, by what answered them: a compiled query or the resolvers.',
    ['answered_by'],
  );
  readonly #statements = this.#histogram(
    'tidegate_statement_duration_seconds',
    'Time of a statement, with its wait for a connection and all attempts. Reads have no name.',
    ['pool', 'statement'],
  );
  readonly #failures = this.#counter('tidegate_statement_failures_total', 'Statements that failed or were refused.', [
    'pool',
  ]);
  readonly #repeats = this.#counter(
    'tidegate_statement_repeats_total',
    'Attempts at a statement after an outage or a conflict.',
    ['pool'],
  );
  readonly #turns = this.#histogram(
    'tidegate_worker_turn_seconds',
    "Time from finding a tenant's work until its turn ends.",
    ['work'],
  );
  readonly #workFailures = this.#counter('tidegate_worker_failures_total', "Attempts at a tenant's work that failed.", [
    'work',
  ]);
  readonly #found = this.#gauge(
    'tidegate_worker_found',
    'Rows with work that the last poll over all tenants has found, of each tenant the first ones.',
    ['work'],
  );
  readonly #stuck = this.#gauge(
    'tidegate_stuck',
    'What has failed and is tried again: single jobs, and work of whole tenants. Counted every 30 seconds, to 10,000.',
    ['of'],
    undefined,
    'max',
  );
  readonly #deliveries = this.#histogram(
    'tidegate_webhook_attempt_seconds',
    'Attempts to deliver an event to a webhook endpoint.',
    ['outcome'],
  );
  readonly #checks = this.#histogram(
    'tidegate_ledger_check_seconds',
    "Time of a check of a tenant's ledger, by its outcome: passed, violated or failed.",
    ['outcome'],
  );
  readonly #checkAge = this.#gauge(
    'tidegate_ledger_check_age_seconds',
    "The age of the oldest of all tenants' last checks of the ledger.",
    [],
    undefined,
    'max',
  );
  readonly #ledgers = this.#gauge(
    'tidegate_ledgers',
    'Tenants and modes whose last check of the ledger found a violation, and those without a check that has ended.',
    ['state'],
    undefined,
    'max',
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Counts a request whose answer has been sent. */
  answered({ api, operation, status, seconds: took, codes, answeredBy }: ObservedRequest): void {
    this.#requests.observe({ api, operation }, took);
    this.#answers.inc({ api, operation, status });
    for (const code of codes) this.#refusals.inc({ api, code });
    if (answeredBy) this.#documents.inc({ answered_by: answeredBy });
  }

  began({ name, pool }: ObservedStatement): (error?: unknown) => void {
    const statement = pool === 'read' || pool === 'slow' ? '' : name;
    const end = this.#statements.startTimer({ pool, statement });
    return (error) => {
      end();
      if (error !== undefined) this.#failures.inc({ pool });
    };
  }

  repeated(pool: PoolName): void {
    this.#repeats.inc({ pool });
  }

  /** A tenant's turn of some kind of work has ended. */
  turned(work: string, took: number): void {
    this.#turns.observe({ work }, took);
  }

  /** An attempt at a tenant's work has failed. */
  failed(work: string): void {
    this.#workFailures.inc({ work });
  }

  /** A poll over all tenants has found rows with work. */
  found(work: string, rows: number): void {
    this.#found.set({ work }, rows);
  }

  /** What fails and is tried again was counted. */
  stuck({ jobs, work }: Record<'jobs' | 'work', number>): void {
    this.#stuck.set({ of: 'job' }, jobs);
    this.#stuck.set({ of: 'tenant' }, work);
  }

  /** An event was sent to a webhook endpoint, or could not be. */
  delivered(outcome: 'delivered' | 'failed', took: number): void {
    this.#deliveries.observe({ outcome }, took);
  }

  /** A check of a tenant's ledger has ended. */
  checked(outcome: string, took: number): void {
    this.#checks.observe({ outcome }, took);
  }

  /** A round of the checks over all tenants has ended. */
  ledger({ oldestSeconds, violated, unchecked }: Record<'oldestSeconds' | 'violated' | 'unchecked', number>): void {
    this.#checkAge.set(oldestSeconds);
    this.#ledgers.set({ state: 'violated' }, violated);
    this.#ledgers.set({ state: 'unchecked' }, unchecked);
  }

  /** Adds the statements of a database, and the nodes to which its tenants are distributed. */
  watchDatabase(
    database: Pick<DatabaseState, 'observers' | 'load'> & { crossTenant: Pick<CrossTenantQueries, 'nodes'> },
  ): void {
    database.observers.push(this);
    this.#gauge('tidegate_statements_in_flight', 'Statements that run or wait now.', ['pool'], (gauge) => {
      for (const [pool, count] of Object.entries(database.load)) gauge.set({ pool }, count);
    });
    this.#gauge(
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
    this.#gauge('tidegate_requests', 'Requests of the APIs and of payment pages.', ['state'], (gauge) => {
      const { working, inFlight, pages } = load();
      gauge.set({ state: 'working' }, working);
      gauge.set({ state: 'in_flight' }, inFlight);
      gauge.set({ state: 'page' }, pages);
    });
    this.#gauge(
      'tidegate_event_loop_delay_seconds',
      'The mean delay of the event loop in the last half of a second, by which requests are admitted.',
      [],
      (gauge) => gauge.set(load().loopDelaySeconds),
      'max',
    );
  }

  /** Adds what the queues of the process have refused since now, each queue from 0 on. */
  watchQueues(): void {
    const counted = { ...refusals };
    new Counter({
      ...{ name: 'tidegate_queue_refused_total', labelNames: ['queue'], registers: [this.registry] },
      help: 'What a queue has refused with 503, because too much waited in it or something waited too long.',
      collect() {
        for (const queue of queueNames) this.inc({ queue }, refusals[queue] - counted[queue]);
        Object.assign(counted, refusals);
      },
    });
  }

  /** Adds the open streams. */
  watchStreams(size: () => number): void {
    this.#gauge('tidegate_streams', 'Open streams of events and subscriptions, and WebSockets.', [], (gauge) =>
      gauge.set(size()),
    );
  }

  /** Adds the requests that the request log has dropped. */
  watchRequestLog(dropped: () => number): void {
    let counted = 0;
    new Counter({
      name: 'tidegate_request_log_dropped_total',
      help: 'Answered requests that are not in the request log, because too many were waiting or could not be written.',
      registers: [this.registry],
      collect() {
        this.inc(dropped() - counted);
        counted = dropped();
      },
    });
  }

  /** Adds the replicas. */
  watchReplicas(replicas: Pick<Replicas, 'states' | 'onPrimary'>): void {
    const lagIn = (unit: 'seconds' | 'bytes', help: string) =>
      this.#gauge(
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
    const counted = new Map<string, number>();
    new Counter({
      name: 'tidegate_replica_reads_total',
      help:
        'Statements that a replica may answer, by their outcome: answered there; asked again on the primary, ' +
        'because nothing was found (missing) or it failed; or on the primary at once.',
      ...{ labelNames: ['replica', 'outcome'], registers: [this.registry] },
      collect() {
        const add = (replica: string, outcome: string, count: number) => {
          const before = counted.get(`${replica} ${outcome}`) ?? 0;
          this.inc({ replica, outcome }, count - before);
          counted.set(`${replica} ${outcome}`, count);
        };
        for (const { name, counts } of replicas.states)
          for (const [outcome, count] of Object.entries(counts)) add(name, outcome, count);
        add('', 'primary', replicas.onPrimary);
      },
    });
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: seconds, registers: [this.registry] });
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** A value of now. `aggregator` says how the values of several processes make one. */
  #gauge<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    measure?: (gauge: Gauge<L>) => void,
    aggregator: 'sum' | 'max' | 'min' = 'sum',
  ): Gauge<L> {
    const collect = measure && {
      collect(this: Gauge<L>) {
        measure(this);
      },
    };
    return new Gauge({ name, help, labelNames, aggregator, registers: [this.registry], ...collect });
  }
}
