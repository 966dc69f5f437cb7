import { collectDefaultMetrics } from 'prom-client';
import { type ObservedStatement, type PoolName, poolNames } from '../../db/connect/observer.js';
import { version } from '../../config/version.js';
import { programVersion } from '../../db/schema/schema-version.js';
import { WatchedMetrics } from './watched-metrics.js';

/** Which API or page a request may belong to. */
const apis = ['graphql', 'rest', 'operator', 'page', 'probe', 'other'] as const;
export type Api = (typeof apis)[number];

/** The codes of errors that alert rules count. */
const alarming = ['service_fault', 'service_unavailable'];

/** What a metric says of a request when its answer has been sent. */
export interface ObservedRequest {
  api: Api;
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
export class Metrics extends WatchedMetrics {
  readonly #requests = this.histogram(
    'tidegate_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer.',
    ['api', 'operation'],
  );
  readonly #answers = this.counter('tidegate_http_requests_total', 'Answered requests.', [
    'api',
    'operation',
    'status',
  ]);
  readonly #refusals = this.counter('tidegate_errors_total', 'Answers with an error, by its code.', ['api', 'code']);
  readonly #documents = this.counter(
    'tidegate_graphql_operations_total',
    'GraphQL operations, by what answered them: a compiled query or the resolvers.',
    ['answered_by'],
  );
  readonly #statements = this.histogram(
    'tidegate_statement_duration_seconds',
    'Time of a statement, with its wait for a connection and all attempts. Reads have no name.',
    ['pool', 'statement'],
  );
  readonly #failures = this.counter('tidegate_statement_failures_total', 'Statements that failed or were refused.', [
    'pool',
  ]);
  readonly #repeats = this.counter(
    'tidegate_statement_repeats_total',
    'Attempts at a statement after an outage or a conflict.',
    ['pool'],
  );
  readonly #turns = this.histogram(
    'tidegate_worker_turn_seconds',
    "Time from finding a tenant's work until this round of it ends.",
    ['work'],
  );
  readonly #workFailures = this.counter('tidegate_worker_failures_total', "Attempts at a tenant's work that failed.", [
    'work',
  ]);
  readonly #found = this.gauge(
    'tidegate_worker_found',
    'Rows with work that the last poll over all tenants has found, of each tenant the first ones.',
    ['work'],
  );
  readonly #stuck = this.gauge(
    'tidegate_stuck',
    'What has failed and is tried again: single jobs, and work of whole tenants. Counted every 30 seconds, to 10,000.',
    ['of', 'mode'],
    undefined,
    'max',
  );
  readonly #deliveries = this.histogram(
    'tidegate_webhook_attempt_seconds',
    'Attempts to deliver an event to a webhook endpoint.',
    ['outcome'],
  );
  readonly #checks = this.histogram(
    'tidegate_ledger_check_seconds',
    "Time of a check of a tenant's ledger, by its outcome: passed, violated or failed.",
    ['outcome'],
  );
  readonly #checkAge = this.gauge(
    'tidegate_ledger_check_age_seconds',
    "The age of the oldest of all tenants' last checks of the ledger.",
    [],
    undefined,
    'max',
  );
  readonly #ledgers = this.gauge(
    'tidegate_ledgers',
    'Tenants and modes whose last check of the ledger found a violation, and those without a check that has ended.',
    ['state'],
    undefined,
    'max',
  );

  readonly #dueAges = this.gauge(
    'tidegate_oldest_due_seconds',
    'How long the oldest work of live mode is overdue: jobs, payouts among them, deliveries, and events to number.',
    ['of'],
    undefined,
    'max',
  );
  readonly #health = this.gauge(
    'tidegate_health',
    'What the checks of `tidegate doctor` have found that is not well, every ten minutes.',
    ['check', 'level'],
    undefined,
    'max',
  );
  /** When the last backup was made, by `performance.now()` in seconds. */
  #backupAt: number | undefined;
  /** The operations that were answered, by API, each of which has a count of its 503. */
  readonly #known = new Set<string>();

  /** Each series that an alert rule counts is there from the start: the increase of one that is born with 1 is 0. */
  constructor() {
    super();
    collectDefaultMetrics({ register: this.registry });
    this.gauge(
      'tidegate_last_backup_age_seconds',
      'The age of the last backup that this program has made. Without one there is no value.',
      ['by'],
      (gauge) => {
        if (this.#backupAt !== undefined) gauge.set({ by: 'tidegate' }, performance.now() / 1_000 - this.#backupAt);
      },
      'max',
    );
    const { version: schema } = programVersion();
    this.gauge(
      'tidegate_build_info',
      'The version of the program, and that of the database that it makes: 1.',
      ['version', 'schema'],
      undefined,
      'first',
    ).set({ version, schema }, 1);
    for (const api of apis) for (const code of alarming) this.#refusals.inc({ api, code }, 0);
    for (const by of ['compiled', 'resolvers']) this.#documents.inc({ answered_by: by }, 0);
    for (const pool of poolNames) {
      this.#failures.inc({ pool }, 0);
      this.#repeats.inc({ pool }, 0);
    }
    for (const outcome of ['delivered', 'failed', 'undecryptable']) this.#deliveries.zero({ outcome });
    for (const outcome of ['passed', 'violated', 'failed']) this.#checks.zero({ outcome });
  }

  /** The worker has these kinds of work. */
  works(names: readonly string[]): void {
    for (const work of names) {
      this.#workFailures.inc({ work }, 0);
      this.#turns.zero({ work });
    }
  }

  /** Counts a request whose answer has been sent. */
  answered({ api, operation, status, seconds: took, codes, answeredBy }: ObservedRequest): void {
    this.#requests.observe({ api, operation }, took);
    const key = `${api} ${operation}`;
    if (!this.#known.has(key)) this.#answers.inc({ api, operation, status: 503 }, 0);
    this.#known.add(key);
    this.#answers.inc({ api, operation, status });
    for (const code of new Set(codes)) this.#refusals.inc({ api, code });
    if (answeredBy) this.#documents.inc({ answered_by: answeredBy });
  }

  began({ name, pool }: ObservedStatement): (error?: unknown) => void {
    const statement = pool === 'read' || pool === 'slow' ? '' : name;
    const end = this.#statements.startTimer({ pool, statement });
    this.running[pool]++;
    return (error) => {
      end();
      this.running[pool]--;
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
  stuck(counts: Record<string, Record<'jobs' | 'work', number>>): void {
    for (const [mode, { jobs, work }] of Object.entries(counts)) {
      this.#stuck.set({ of: 'job', mode }, jobs);
      this.#stuck.set({ of: 'tenant', mode }, work);
    }
  }

  /** How long the oldest work is overdue was measured. */
  dueAges(ages: Record<'job' | 'payout' | 'delivery' | 'event', number>): void {
    for (const [of, age] of Object.entries(ages)) this.#dueAges.set({ of }, age);
  }

  /** The health of the deployment was checked. */
  health(findings: readonly { check: string; level: string }[]): void {
    this.#health.reset();
    for (const level of ['look', 'now']) for (const { check } of findings) this.#health.set({ check, level }, 0);
    for (const { check, level } of findings) if (level !== 'ok') this.#health.inc({ check, level });
  }

  /** The age of the last backup was asked. */
  backup(seconds: number | undefined): void {
    this.#backupAt = seconds === undefined ? undefined : performance.now() / 1_000 - seconds;
  }

  /** An event was sent to a webhook endpoint, or could not be. */
  delivered(outcome: 'delivered' | 'failed' | 'undecryptable', took: number): void {
    this.#deliveries.observe({ outcome }, took);
  }

  /** A check of a tenant's ledger has ended. */
  checked(outcome: string, took: number): void {
    this.#checks.observe({ outcome }, took);
  }

  /** What the last checks of all ledgers say was read, or has changed. */
  ledger({ oldestSeconds, violated, unchecked }: Record<'oldestSeconds' | 'violated' | 'unchecked', number>): void {
    this.#checkAge.set(oldestSeconds);
    this.#ledgers.set({ state: 'violated' }, violated);
    this.#ledgers.set({ state: 'unchecked' }, unchecked);
  }
}
