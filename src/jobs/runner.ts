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
/** How long one tenant is worked for before another has its turn, and old rows are deleted for before events are numbered again. */
const turnMilliseconds = 500;

/** How long the worker keeps what may be deleted. */
export interface Retention {
  /** Seconds for answers of idempotency keys; the database keeps them for a day at least. */
  idempotencySeconds: number;
  /** Seconds for events; undefined is for ever. */
  eventSeconds?: number | undefined;
}

/** What the README promises where no setting says otherwise. */
export const retentionDefault: Retention = { idempotencySeconds: 48 * 3600 };

/** A tenant and mode with work that is due: for the database, for an acquirer, or for both. */
interface Due extends TenantAndMode {
  runs: boolean;
  asks: boolean;
}

/**
 * Does the work that is due: the sandbox's verifications, addresses to issue, numbers of events, seals, and old rows to delete.
 * Any number of gateways may run one: a job is claimed with SKIP LOCKED and deleted by the statement
 * that does it. Tenants are found in the order of their keys, each look going on where the one before it ended, so that every
 * tenant has its turn however many have work. A fault of one tenant is logged, and the next tenant is worked for.
 * Jobs have a loop of their own: events are numbered, postings sealed and old rows deleted whatever the jobs do.
 */
export class Worker {
  #running: Promise<unknown> | undefined;
  readonly #stop = new AbortController();
  /** The last tenant and mode whose jobs were looked for. */
  #after = first;
  /** How many jobs a tenant and mode is done at once where a batch has failed: half as many each time, until the job that fails is alone. */
  readonly #batches = new Map<string, number>();
  #sealedAt = Number.NEGATIVE_INFINITY;
  #forgottenAt = Number.NEGATIVE_INFINITY;
  /** The pass over old rows that is under way. */
  #forgetting: AsyncGenerator<void> | undefined;
  /** The questions under way, by tenant and mode. */
  readonly #asking = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
    private readonly retention: Retention = retentionDefault,
    private readonly acquirers = delivered,
  ) {}

  start(): void {
    this.#running = Promise.all([this.#loop(() => this.#work()), this.#loop(() => this.#keepUp())]);
  }

  /** Ends after the statements under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all(this.#asking.values());
  }

  get #stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Runs rounds until the worker is stopped: at once after a round that has left work, and otherwise after a pause. */
  async #loop(round: () => Promise<boolean>): Promise<void> {
    while (!this.#stopping) {
      const more = await this.#attempt(round, false, 'the worker will try again');
      const pause = pollMilliseconds * (0.75 + Math.random() / 2);
      if (!more) await sleep(pause, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  /** Does a piece of work; what goes wrong with it is logged, and is `otherwise`. */
  async #attempt<T>(work: () => Promise<T>, otherwise: T, consequence: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // An outage is in the log once, and not once for each try.
      const away = error instanceof DomainError && error.status === 503;
      this.log[away ? 'debug' : 'warn'](faultLine(error), consequence);
      return otherwise;
    }
  }

  /**
   * One round of jobs over the next tenants that have any; whether to look again at once. The time is the statement's, since a
   * clock that moves under it could not bound the walk of an index: what is due later would all be read.
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
            asks: sql<boolean>`bool_or(${job.kind} = ${sql.raw(`'${statusPollKind}'`)})`,
          })
          .from(job)
          .where(and(sql`${job.due} <= extract(epoch from statement_timestamp())::bigint`, beyond(job)))
          .groupBy(job.tenantId, job.livemode)
          .orderBy(job.tenantId, job.livemode)
          .limit(tenantsMax),
      { tenant: this.#after.tenantId, live: this.#after.livemode },
    );
    // Fewer than asked for are the last ones: the next look begins anew.
    const last = due.length < tenantsMax ? undefined : due.at(-1);
    this.#after = last ? { tenantId: last.tenantId, livemode: last.livemode } : first;
    let more = last !== undefined;
    for (const { tenantId, livemode, runs, asks } of due) {
      if (this.#stopping) return false;
      if (asks) this.#ask({ tenantId, livemode });
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
   * Runs a batch of jobs, and gives how many were run. The database charges the job that fails and keeps what was done before it; where a
   * batch fails as a whole, half of it is tried the next time, and in the end the job that is alone is charged.
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

  /** Asks an acquirer, which may be slow: the work of the database does not wait for it. */
  #ask(tenantAndMode: TenantAndMode): void {
    const key = `${tenantAndMode.tenantId} ${tenantAndMode.livemode}`;
    if (this.#asking.has(key)) return;
    const onFault = (error: unknown) => this.log.warn(faultLine(error), 'an attempt will be asked about again');
    const asked = this.#pollStatus(tenantAndMode, onFault)
      .catch(onFault)
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
  }

  async #pollStatus({ tenantId, livemode }: TenantAndMode, onFault: (error: unknown) => void): Promise<void> {
    const args = { limit: statusPollsMax };
    const due = await this.database.write('claim_inquiries', tenantId, livemode, null, args, transaction);
    await pollStatus(payerScope(this.database, { tenantId, livemode }), due, onFault, this.acquirers);
  }

  /** Numbers events, seals postings and deletes old rows; whether there is more of any. A fault of one leaves the others alone. */
  async #keepUp(): Promise<boolean> {
    const numbers = await this.#attempt(() => this.#number(), false, 'events will be numbered later');
    const seals = await this.#attempt(() => this.#seal(), false, 'postings will be sealed later');
    const forgets = await this.#attempt(() => this.#forget(), false, 'old rows will be deleted later');
    return numbers || seals || forgets;
  }

  /** Numbers the events that have none; whether there may be more. */
  #number(): Promise<boolean> {
    const found = tenantsAndModes(this.database, this.#stop.signal, 'tenants_with_events', event, isNull(event.number));
    return this.#byTurns(found, 'events of a tenant will be numbered later', ({ tenantId, livemode }) =>
      this.#batch('number_events', [tenantId, livemode], numberedMax),
    );
  }

  /** Every few seconds, seals the postings that have no seal yet; whether there may be more. */
  async #seal(): Promise<boolean> {
    if (performance.now() - this.#sealedAt < sealEveryMilliseconds) return false;
    const found = tenantsAndModes(this.database, this.#stop.signal, 'tenants_with_unsealed', unsealed);
    const more = await this.#byTurns(found, 'postings of a tenant will be sealed later', ({ tenantId, livemode }) =>
      this.#batch('seal_postings', [tenantId, livemode], sealedMax),
    );
    if (!more) this.#sealedAt = performance.now();
    return more;
  }

  /** Once an hour, deletes what is older than it is kept, a batch after the other; whether the pass over all tenants is still under way. */
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

  /** Deletes the old rows of every tenant, and stops after each batch. */
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

  /** Calls a function of the database that handles at most so many rows of a tenant and mode; whether it has handled as many. */
  async #batch(fn: string, values: (string | number | boolean)[], max: number): Promise<boolean> {
    const [row] = await this.database.call(fn, [...values, max]);
    return Number(row?.[fn]) === max;
  }

  /** Works for each tenant and mode as long as there is work, and not longer than a turn; whether any has more. */
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
