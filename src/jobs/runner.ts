import { setTimeout as sleep } from 'node:timers/promises';
import { and, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { Database } from '../db/database.js';
import { event } from '../resources/event/table.js';
import { acquirers as delivered } from '../hosted/acquirer.js';
import { pollStatus } from '../hosted/status-poll.js';
import { payerScope } from '../hosted/session.js';
import { statusPollKind, job } from './table.js';
import type { TenantAndMode } from '../db/tenant-and-mode.js';
import { beyond, first, type TenantTable, tenantsAndModes } from './tenants.js';
import { unsealed } from '../resources/ledger/table.js';
import { faultLine } from '../server/log.js';
import { DomainError } from '../request/problems.js';
import { transaction } from '../resources/transaction/table.js';
import { idempotency } from '../operation/table.js';

const pollMilliseconds = 250;
const batchMax = 50;
const statusPollsMax = 50;
const tenantsMax = 100;
const numberedMax = 500;
const sealedMax = 1_000;
const forgottenMax = 5_000;
const sealEveryMilliseconds = 2_000;
const forgetEveryMilliseconds = 3_600_000;
/**
 * The longest time that the worker spends on one tenant before the next tenant, and on deleting old rows before it
 * numbers events again.
 */
const turnMilliseconds = 500;

/** The time for which the worker keeps rows that may be deleted. */
export interface Retention {
  /** Seconds for the stored responses of idempotency keys; the database keeps them for at least a day. */
  idempotencySeconds: number;
  /** Seconds for events; undefined keeps them for ever. */
  eventSeconds?: number | undefined;
}

/** The retention that the README promises when no setting changes it. */
export const retentionDefault: Retention = { idempotencySeconds: 48 * 3600 };

/** A tenant and mode with due jobs: `runs` for jobs of the database, `polls` for status polls of an acquirer. */
interface Due extends TenantAndMode {
  runs: boolean;
  polls: boolean;
}

/**
 * Does the work that is due: it runs jobs (the sandbox's verifications, issuing addresses), numbers events, seals
 * postings and deletes old rows. Any number of gateways may run a worker: it claims a job with SKIP LOCKED, and the
 * statement that does the job deletes it. The worker finds tenants in the order of their keys, and each query continues
 * where the previous one ended, so every tenant has its turn, whatever the number of tenants with work. The worker logs
 * a fault of one tenant and continues with the next. Jobs have a loop of their own, so they cannot delay the numbering
 * of events, the sealing of postings and the deletion of old rows.
 */
export class Worker {
  #running: Promise<unknown> | undefined;
  readonly #stop = new AbortController();
  /** The last tenant and mode whose jobs the worker found. */
  #after = first;
  /**
   * The batch size of a tenant and mode after a batch has failed: half of the previous size each time, until the
   * failing job is alone in its batch.
   */
  readonly #batches = new Map<string, number>();
  #sealedAt = Number.NEGATIVE_INFINITY;
  #forgottenAt = Number.NEGATIVE_INFINITY;
  /** The current pass over old rows, if one has begun and has not ended. */
  #forgetting: AsyncGenerator<void> | undefined;
  /** The running status polls, by tenant and mode. */
  readonly #polling = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
    private readonly retention: Retention = retentionDefault,
    private readonly acquirers = delivered,
  ) {}

  start(): void {
    this.#running = Promise.all([this.#loop(() => this.#work()), this.#loop(() => this.#keepUp())]);
  }

  /** Stops the worker; resolves when its running statements and status polls have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all(this.#polling.values());
  }

  get #stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /**
   * Runs rounds until the worker is stopped. The next round begins at once when work is left, otherwise after a pause.
   */
  async #loop(round: () => Promise<boolean>): Promise<void> {
    while (!this.#stopping) {
      const more = await this.#attempt(round, false, 'the worker will try again');
      const pause = pollMilliseconds * (0.75 + Math.random() / 2);
      if (!more) await sleep(pause, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  /** Does a piece of work; logs an error and returns `otherwise` in its place. */
  async #attempt<T>(work: () => Promise<T>, otherwise: T, consequence: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // The log reports an outage once, and not at each attempt.
      const outage = error instanceof DomainError && error.status === 503;
      this.log[outage ? 'debug' : 'warn'](faultLine(error), consequence);
      return otherwise;
    }
  }

  /**
   * Runs one round of jobs, over the next tenants that have any. Returns whether the next round should begin at once.
   * The query uses statement_timestamp(), because a clock that moves during the statement cannot bound an index scan:
   * PostgreSQL would read all jobs that are due later.
   */
  async #work(): Promise<boolean> {
    const due = await this.database.read<Due>(
      'tenants_with_jobs',
      (db) =>
        db
          .select({
            tenantId: job.tenantId,
            livemode: job.livemode,
            runs: sql<boolean>`bool_or(${job.kind} <> ${sql.raw(`'${statusPollKind}'`)})`,
            polls: sql<boolean>`bool_or(${job.kind} = ${sql.raw(`'${statusPollKind}'`)})`,
          })
          .from(job)
          .where(and(sql`${job.due} <= extract(epoch from statement_timestamp())::bigint`, beyond(job)))
          .groupBy(job.tenantId, job.livemode)
          .orderBy(job.tenantId, job.livemode)
          .limit(tenantsMax),
      { tenant: this.#after.tenantId, live: this.#after.livemode },
    );
    // Fewer tenants than the limit are the last ones: the next query begins with the first tenant again.
    const last = due.length < tenantsMax ? undefined : due.at(-1);
    this.#after = last ? { tenantId: last.tenantId, livemode: last.livemode } : first;
    let more = last !== undefined;
    for (const { tenantId, livemode, runs, polls } of due) {
      if (this.#stopping) return false;
      if (polls) this.#startStatusPolls({ tenantId, livemode });
      if (!runs) continue;
      const done = await this.#attempt(
        () => this.#run({ tenantId, livemode }),
        0,
        'jobs of a tenant will be tried again',
      );
      more ||= done > 0;
    }
    return more;
  }

  /**
   * Runs a batch of jobs and returns how many it ran. The database counts a failed attempt against the job that fails,
   * and keeps the work of the jobs before it. When a whole batch fails, the next batch has half of its size; a job that
   * fails alone in its batch gets the failed attempt.
   */
  async #run({ tenantId, livemode }: TenantAndMode): Promise<number> {
    const key = `${tenantId} ${livemode}`;
    const size = this.#batches.get(key) ?? batchMax;
    try {
      const [row] = await this.database.call('run_jobs', [tenantId, livemode, size]);
      if (size * 2 >= batchMax) this.#batches.delete(key);
      else this.#batches.set(key, size * 2);
      return Number(row?.run_jobs);
    } catch (error) {
      if (size > 1) {
        this.#batches.set(key, Math.floor(size / 2));
      } else {
        this.#batches.delete(key);
        await this.database.call('charge_first_job', [tenantId, livemode, String((error as Error).message)]);
      }
      throw error;
    }
  }

  /** Starts the status polls of a tenant and mode. An acquirer may be slow, so other jobs do not wait for it. */
  #startStatusPolls(tenantAndMode: TenantAndMode): void {
    const key = `${tenantAndMode.tenantId} ${tenantAndMode.livemode}`;
    if (this.#polling.has(key)) return;
    const onFault = (error: unknown) =>
      this.log.warn(faultLine(error), 'the status of an attempt will be polled again');
    const polling = this.#pollStatus(tenantAndMode, onFault)
      .catch(onFault)
      .finally(() => this.#polling.delete(key));
    this.#polling.set(key, polling);
  }

  async #pollStatus({ tenantId, livemode }: TenantAndMode, onFault: (error: unknown) => void): Promise<void> {
    const args = { limit: statusPollsMax };
    const due = await this.database.write('claim_inquiries', tenantId, livemode, null, args, transaction);
    await pollStatus(payerScope(this.database, { tenantId, livemode }), due, onFault, this.acquirers);
  }

  /**
   * Numbers events, seals postings and deletes old rows; returns whether any of them has more to do. An error in one of
   * them does not stop the others.
   */
  async #keepUp(): Promise<boolean> {
    const numbers = await this.#attempt(() => this.#number(), false, 'events will be numbered later');
    const seals = await this.#attempt(() => this.#seal(), false, 'postings will be sealed later');
    const forgets = await this.#attempt(() => this.#forget(), false, 'old rows will be deleted later');
    return numbers || seals || forgets;
  }

  /** Numbers the events without a number; returns whether there may be more. */
  #number(): Promise<boolean> {
    const found = tenantsAndModes(this.database, this.#stop.signal, 'tenants_with_events', event, isNull(event.number));
    return this.#byTurns(found, 'events of a tenant will be numbered later', ({ tenantId, livemode }) =>
      this.#batch('number_events', [tenantId, livemode], numberedMax),
    );
  }

  /** Every two seconds, seals the postings without a seal; returns whether there may be more. */
  async #seal(): Promise<boolean> {
    if (performance.now() - this.#sealedAt < sealEveryMilliseconds) return false;
    const found = tenantsAndModes(this.database, this.#stop.signal, 'tenants_with_unsealed', unsealed);
    const more = await this.#byTurns(found, 'postings of a tenant will be sealed later', ({ tenantId, livemode }) =>
      this.#batch('seal_postings', [tenantId, livemode], sealedMax),
    );
    if (!more) this.#sealedAt = performance.now();
    return more;
  }

  /**
   * Once an hour, deletes rows past their retention, in batches; returns whether the pass over all tenants continues.
   */
  async #forget(): Promise<boolean> {
    if (!this.#forgetting) {
      if (performance.now() - this.#forgottenAt < forgetEveryMilliseconds) return false;
      this.#forgottenAt = performance.now();
      this.#forgetting = this.#forgetAll();
    }
    const until = performance.now() + turnMilliseconds;
    while (performance.now() < until && !this.#stopping) {
      if (!(await this.#forgetting.next()).done) continue;
      this.#forgetting = undefined;
      return false;
    }
    return true;
  }

  /** Deletes the old rows of every tenant; yields after each batch. */
  async *#forgetAll(): AsyncGenerator<void> {
    const { idempotencySeconds, eventSeconds } = this.retention;
    yield* this.#forgetEach('tenants_with_answers', idempotency, 'forget_old_answers', idempotencySeconds);
    if (eventSeconds !== undefined)
      yield* this.#forgetEach(
        'tenants_with_numbers',
        event,
        'forget_old_events',
        eventSeconds,
        isNotNull(event.number),
      );
  }

  async *#forgetEach(name: string, table: TenantTable, fn: string, seconds: number, where?: SQL): AsyncGenerator<void> {
    for await (const { tenantId, livemode } of tenantsAndModes(this.database, this.#stop.signal, name, table, where)) {
      const batch = () => this.#batch(fn, [tenantId, livemode, seconds], forgottenMax);
      while (await this.#attempt(batch, false, 'old rows of a tenant will be deleted later')) yield;
      yield;
    }
  }

  /**
   * Calls a database function that handles at most `max` rows of a tenant and mode; returns whether it handled `max`.
   */
  async #batch(fn: string, values: (string | number | boolean)[], max: number): Promise<boolean> {
    const [row] = await this.database.call(fn, [...values, max]);
    return Number(row?.[fn]) === max;
  }

  /** Runs batches for each tenant and mode while it has work, at most for one turn; returns whether any has more. */
  async #byTurns(
    found: AsyncIterable<TenantAndMode>,
    consequence: string,
    batch: (tenantAndMode: TenantAndMode) => Promise<boolean>,
  ): Promise<boolean> {
    let left = false;
    for await (const tenantAndMode of found) {
      const until = performance.now() + turnMilliseconds;
      let more = true;
      while (more && performance.now() < until && !this.#stopping)
        more = await this.#attempt(() => batch(tenantAndMode), false, consequence);
      left ||= more;
    }
    return left && !this.#stopping;
  }
}
