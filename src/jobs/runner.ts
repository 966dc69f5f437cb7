import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CrossTenantReads, ScopeSource, WorkerCalls } from '../db/doors.js';
import { acquirers as delivered } from '../hosted/acquirer.js';
import { pollStatus, sendRefunds, submitsRefunds } from '../hosted/status-poll.js';
import { payerScope } from '../hosted/session.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { besideOtherReleases } from '../db/write/other-releases.js';
import { faultLine } from '../errors/log.js';
import { DomainError } from '../errors/problems.js';
import { refund } from '../resources/refund/table.js';
import { transaction } from '../resources/transaction/table.js';
import type { Bulk } from '../operation/bulk.js';
import { BulkWork } from './bulk.js';
import type { PollTimer } from './poll-timer.js';
import { DueJobs } from './due.js';
import { measureDueAges } from './due-ages.js';
import { Exports } from './exports.js';
import { Faults, workLine } from './faults.js';
import { Heartbeat } from './heartbeat.js';
import { Imports } from './imports.js';
import { JobBatches } from './job-batches.js';
import { failedPoll, WorkQueue, type PollResult, type WorkObserver } from './work-queue.js';
import { LedgerChecks } from './ledger-checks.js';
import { Numbering } from './numbering.js';
import { type Aged, retentionDefault, scanOfOld } from './retention.js';
import type { Retention } from '../operation/work.js';
import { countStuck } from './stuck-count.js';
import { OwnWork, type TenantWork } from './table.js';
import { TenantScan, type Scanned } from './tenant-scan.js';
import { kinds, Watch } from './watch.js';
import { type WebhookParts, Webhooks } from './webhooks.js';
import { ageWork, rowWork } from './work.js';

const statusPollsMax = 50;
const forgottenMax = 5_000;
/** The pause after a poll for old rows that has failed. */
const interruptedMilliseconds = 1_000;
const forgetEveryMilliseconds = 3_600_000;

/**
 * Does the work that is due: it runs jobs (the sandbox's verifications, issuing addresses), numbers events, seals
 * postings, adds deposits to their totals, delivers events to webhook endpoints, checks the ledger, makes exports and
 * imports, and deletes old rows. Any number of gateways may run a worker: it claims a job with SKIP LOCKED, and the
 * statement that does the job deletes it. Each kind of work has a queue of its own, in which some tenants have their
 * turn at once, and fails tenant by tenant: the other tenants go on, and the fault is stored, logged and tried again.
 */
export class Worker {
  #running: Promise<unknown> | undefined;
  readonly #stop = new AbortController();
  readonly #numbers: Numbering;
  readonly #faults: Faults;
  readonly #due: DueJobs;
  readonly #jobs: WorkQueue;
  readonly #statusPolls: WorkQueue;
  readonly #events: WorkQueue;
  /** The queues of the work that the resources declare, and all queues, by their work. */
  readonly #declared: ReadonlyMap<TenantWork, WorkQueue>;
  readonly #queues: ReadonlyMap<TenantWork, WorkQueue>;
  readonly #watch: Watch;
  readonly #webhooks: Webhooks | undefined;
  readonly #ledgerChecks: LedgerChecks | undefined;

  constructor(
    private readonly database: CrossTenantReads & WorkerCalls & ScopeSource,
    private readonly log: Logger,
    private readonly retention: Retention = retentionDefault,
    private readonly acquirers = delivered,
    /** What deliveries to webhook endpoints need; without it, none is made. */
    webhooks?: WebhookParts,
    /** How often the ledger of each tenant and mode is checked; without it, never. */
    ledgerCheckSeconds?: number,
    /** What exports and imports need; without it, none is made. */
    private readonly bulk?: Bulk,
    /** Counts what is done, for metrics. */
    private readonly observer?: WorkObserver,
  ) {
    this.#watch = new Watch(database, log, this.#stop.signal);
    const parts = webhooks && { ...webhooks, observer };
    this.#webhooks = parts && new Webhooks(database, log, parts, this.#watch.timers.deliveries, this.#stop.signal);
    this.#ledgerChecks = ledgerCheckSeconds
      ? new LedgerChecks(database, log, ledgerCheckSeconds, observer, this.#stop.signal)
      : undefined;
    this.#faults = new Faults(database, log, (work) => this.observer?.failed(work));
    this.#numbers = new Numbering(database, () => this.#webhooks?.wake());
    this.#due = new DueJobs(database);
    const turned = (work: TenantWork, seconds: number) => this.observer?.turned(work, seconds);
    const queue = (
      work: TenantWork,
      atOnce: number,
      batch: (tenantAndMode: TenantAndMode) => Promise<boolean>,
      timer?: PollTimer,
      continues = false,
    ) => new WorkQueue(work, { atOnce, batch, continues, turned, timer }, this.#faults, this.#stop.signal);
    const { timers } = this.#watch;
    const batches = new JobBatches(database, log, this.#numbers);
    this.#jobs = queue(OwnWork.RUN_JOBS, 3, (each) => batches.run(each), timers.jobs);
    this.#statusPolls = queue(OwnWork.POLL_STATUSES, 20, (each) => this.#pollStatus(each));
    this.#events = queue(OwnWork.NUMBER_EVENTS, 2, (each) => this.#numbers.batch(each), timers.events);
    const ofRows = [...rowWork].map(([name, { fn, max }]) =>
      queue(name, 1, (each) => this.#batch(fn, each, [], max), this.#watch.timerOf(name)),
    );
    const ofAge = [...ageWork].flatMap(([name, { fn, kept }]) => {
      const found = kept(retention);
      if (!found) return [];
      const seconds = found.given ? [found.seconds] : [];
      return queue(name, 1, (each) => this.#batch(fn, each, seconds, forgottenMax), undefined, true);
    });
    const byWork = (queues: WorkQueue[]) => new Map(queues.map((each) => [each.work, each]));
    this.#declared = byWork([...ofRows, ...ofAge]);
    this.#queues = byWork([this.#jobs, this.#statusPolls, this.#events, ...ofRows, ...ofAge]);
    this.observer?.works([...this.#queues.keys()]);
  }

  start(): void {
    this.#numbers.start(this.#events);
    const { timers } = this.#watch;
    this.#running = Promise.all([
      this.#watch.run(),
      this.#loop(() => this.#offerJobs(), this.#jobs, timers.jobs),
      this.#finds('tenants_with_events', kinds.events, this.#events, timers.events),
      ...[...rowWork].map(([name, { table, where }]) =>
        this.#finds(
          `tenants_with_${name}`,
          { table, ...(where && { where }) },
          this.#declared.get(name)!,
          this.#watch.timerOf(name),
        ),
      ),
      this.#retryFaults(),
      this.#forget(),
      this.#webhooks?.run(),
      this.#ledgerChecks?.run(),
      ...this.#bulkWork(),
      measureDueAges(this.database, this.observer, this.#stop.signal),
      countStuck(this.database, this.observer, this.#stop.signal),
      new Heartbeat(this.database, this.#stop.signal).run(),
    ]);
  }

  /** Exports and imports. */
  #bulkWork(): Promise<void>[] {
    const { database, log, bulk } = this;
    const { signal } = this.#stop;
    const { exports, imports } = this.#watch.timers;
    if (!bulk) return [];
    return [
      new BulkWork(database, log, 'exports', new Exports(database, bulk), bulk, exports, signal).run(),
      new BulkWork(database, log, 'imports', new Imports(database, bulk), bulk, imports, signal).run(),
    ];
  }

  /** Stops the worker; resolves when its running statements and status polls have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#numbers.stop();
    await this.#running;
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()));
  }

  get #stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Finds the tenants with a kind of work by the order of tenants. */
  #finds(name: string, rows: Scanned, queue: WorkQueue, timer: PollTimer): Promise<void> {
    const scan = new TenantScan(this.database, name, rows);
    return this.#loop(() => this.#offerNext(scan, queue), queue, timer);
  }

  /**
   * Looks for tenants with work until the worker is stopped. The next poll begins at once when it may find more, and
   * otherwise when its timer says so.
   */
  async #loop(poll: () => Promise<PollResult>, queue: WorkQueue, timer: PollTimer): Promise<void> {
    while (!this.#stopping) {
      const { more, found } = await this.#attempt(poll, 'the worker will look for work again', failedPoll);
      await queue.room();
      if (!more) await timer.next(found);
    }
  }

  /** Looks for work; logs an error and returns something else in its place. */
  async #attempt<T>(poll: () => Promise<T>, consequence: string, otherwise: T): Promise<T> {
    try {
      return await poll();
    } catch (error) {
      // The log reports an outage once, and not at each attempt.
      const outage = error instanceof DomainError && error.status === 503;
      this.log[outage ? 'debug' : 'warn'](faultLine(error), consequence);
      return otherwise;
    }
  }

  async #offerJobs(): Promise<PollResult> {
    const { runs, polls, more } = await this.#due.poll();
    this.observer?.found('run_jobs', runs.length);
    this.observer?.found('poll_statuses', polls.length);
    this.#statusPolls.offer(polls);
    return { more: this.#jobs.offer(runs, more) && more, found: runs.length + polls.length > 0 };
  }

  async #offerNext(scan: TenantScan, queue: WorkQueue): Promise<PollResult> {
    const { rows, ended, found } = await scan.next();
    if (ended) this.observer?.found(queue.work, found);
    return { more: queue.offer(rows, !ended) && !ended, found: found > 0 };
  }

  /** Offers the work whose next attempt is due, whether or not a poll finds it, every second while there are faults. */
  async #retryFaults(): Promise<void> {
    while (!this.#stopping) {
      const offered = await this.#attempt(
        async () => {
          // A gateway of another version may have stored work that this one does not know.
          for (const { work, ...tenantAndMode } of await this.#faults.due())
            this.#queues.get(work)?.offer([tenantAndMode]);
          return true;
        },
        'the worker will look for faults again',
        false,
      );
      await this.#watch.timers.faults.next(!offered);
    }
  }

  async #sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => {});
  }

  /** Polls the status of a tenant's attempts, and submits its refunds. An acquirer may be slow: no job waits for it. */
  async #pollStatus({ tenantId, livemode }: TenantAndMode): Promise<boolean> {
    const onFault = (error: unknown) =>
      this.log.warn(
        { ...workLine('poll_statuses', { tenantId, livemode }), ...faultLine(error) },
        'the acquirer will be asked again',
      );
    const args = { limit: statusPollsMax };
    const due = await this.database.write('claim_status_polls', tenantId, livemode, null, args, transaction);
    // A gateway of an earlier release could not list the events of a refund that is made here.
    const duplicates = !(await besideOtherReleases(this.database));
    const submits = submitsRefunds(livemode, this.acquirers);
    const claim = { ...args, duplicates, submits };
    const refunds = await this.database.write('claim_refunds', tenantId, livemode, null, claim, refund);
    const scope = payerScope(this.database, { tenantId, livemode });
    await pollStatus(scope, due, onFault, this.acquirers);
    await sendRefunds(scope, refunds, onFault, this.acquirers);
    return false;
  }

  /** Once an hour, deletes the old rows of every tenant. */
  async #forget(): Promise<void> {
    while (!this.#stopping) {
      for (const [name, work] of ageWork) {
        const scan = scanOfOld(this.database, `tenants_with_${name}`, work, this.retention);
        if (scan) await this.#pass(scan, this.#declared.get(name)!);
      }
      await this.#sleep(forgetEveryMilliseconds);
    }
  }

  /** Finds all tenants with old rows, some at a time: the next poll waits until each of them has had a turn. */
  async #pass(scan: TenantScan<Aged>, queue: WorkQueue): Promise<void> {
    for (let ended = false; !ended && !this.#stopping; ) {
      const found = await this.#attempt(
        async () => {
          const poll = await scan.next();
          ended = poll.ended;
          queue.offer(poll.rows.filter(({ old }) => old !== false));
          return true;
        },
        'the worker will look for old rows again',
        false,
      );
      if (!found) await this.#sleep(interruptedMilliseconds);
      await queue.room();
    }
    await queue.idle();
  }

  /** Calls a database function that handles at most `max` rows of a tenant; returns whether it handled `max`. */
  async #batch(fn: string, { tenantId, livemode }: TenantAndMode, more: number[], max: number): Promise<boolean> {
    const [row] = await this.database.work(fn, [tenantId, livemode, ...more, max]);
    return Number(row?.[fn]) === max;
  }
}
