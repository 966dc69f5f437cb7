import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../db/database.js';
import { acquirers as delivered } from '../hosted/acquirer.js';
import { pollStatus } from '../hosted/status-poll.js';
import { payerScope } from '../hosted/session.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { faultLine } from '../errors/log.js';
import { DomainError } from '../errors/problems.js';
import { transaction } from '../resources/transaction/table.js';
import type { Bulk } from '../operation/bulk.js';
import { BulkWork } from './bulk.js';
import type { Cue } from './cue.js';
import { DueJobs } from './due.js';
import { Exports } from './exports.js';
import { Faults, workLine } from './faults.js';
import { Heartbeat } from './heartbeat.js';
import { Imports } from './imports.js';
import { JobBatches } from './job-batches.js';
import { failedLook, Lane, type Looked, type WorkObserver } from './lane.js';
import { LedgerChecks } from './ledger-checks.js';
import { Numbering } from './numbering.js';
import { type Aged, retentionDefault, walkOfOld } from './retention.js';
import type { Retention } from '../operation/work.js';
import { countStuck } from './stuck-count.js';
import { OwnWork, type TenantWork } from './table.js';
import { TenantWalk, type Walked } from './tenants.js';
import { kinds, Watch } from './watch.js';
import { type WebhookParts, Webhooks } from './webhooks.js';
import { ageWork, rowWork } from './work.js';

const statusPollsMax = 50;
const forgottenMax = 5_000;
/** The pause after a look for old rows that has failed. */
const interruptedMilliseconds = 1_000;
const forgetEveryMilliseconds = 3_600_000;

/**
 * Does the work that is due: it runs jobs (the sandbox's verifications, issuing addresses), numbers events, seals
 * postings, adds deposits to their totals, delivers events to webhook endpoints, checks the ledger, makes exports and
 * imports, and deletes old rows. Any number of gateways may run a worker: it claims a job with SKIP LOCKED, and the
 * statement that does the job deletes it. Each kind of work has a lane of its own, in which some tenants have their
 * turn at once, and fails tenant by tenant: the other tenants go on, and the fault is stored, logged and tried again.
 * An observer is set before the start.
 */
export class Worker {
  #running: Promise<unknown> | undefined;
  readonly #stop = new AbortController();
  readonly #numbers: Numbering;
  readonly #faults: Faults;
  readonly #due: DueJobs;
  readonly #jobs: Lane;
  readonly #statusPolls: Lane;
  readonly #events: Lane;
  /** The lanes of the work that the resources declare, and all lanes, by their work. */
  readonly #declared: ReadonlyMap<TenantWork, Lane>;
  readonly #lanes: ReadonlyMap<TenantWork, Lane>;
  readonly #watch: Watch;
  readonly #webhooks: Webhooks | undefined;
  readonly #ledgerChecks: LedgerChecks | undefined;
  observer: WorkObserver | undefined;

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
    private readonly retention: Retention = retentionDefault,
    private readonly acquirers = delivered,
    /** What deliveries to webhook endpoints need; without it, none is made. */
    webhooks?: WebhookParts,
    /** How often the ledger of each tenant and mode is checked; without it, never. */
    ledgerCheckSeconds?: number,
    /** What exports and imports need; without it, none is made. */
    private readonly bulk?: Bulk,
  ) {
    const observer = () => this.observer;
    this.#watch = new Watch(database, log, this.#stop.signal);
    const parts = webhooks && { ...webhooks, observer };
    this.#webhooks = parts && new Webhooks(database, log, parts, this.#watch.cues.deliveries, this.#stop.signal);
    this.#ledgerChecks = ledgerCheckSeconds
      ? new LedgerChecks(database, log, ledgerCheckSeconds, observer, this.#stop.signal)
      : undefined;
    this.#faults = new Faults(database, log, (work) => this.observer?.failed(work));
    this.#numbers = new Numbering(database, () => this.#webhooks?.wake());
    this.#due = new DueJobs(database);
    const turned = (work: TenantWork, seconds: number) => this.observer?.turned(work, seconds);
    const lane = (
      work: TenantWork,
      atOnce: number,
      batch: (tenantAndMode: TenantAndMode) => Promise<boolean>,
      cue?: Cue,
      continues = false,
    ) => new Lane(work, { atOnce, batch, continues, turned, cue }, this.#faults, this.#stop.signal);
    const { cues } = this.#watch;
    const batches = new JobBatches(database, log, this.#numbers);
    this.#jobs = lane(OwnWork.RUN_JOBS, 3, (each) => batches.run(each), cues.jobs);
    this.#statusPolls = lane(OwnWork.POLL_STATUSES, 20, (each) => this.#pollStatus(each));
    this.#events = lane(OwnWork.NUMBER_EVENTS, 2, (each) => this.#numbers.batch(each), cues.events);
    const ofRows = [...rowWork].map(([name, { fn, max }]) =>
      lane(name, 1, (each) => this.#batch(fn, each, [], max), this.#watch.cueOf(name)),
    );
    const ofAge = [...ageWork].flatMap(([name, { fn, kept }]) => {
      const found = kept(retention);
      if (!found) return [];
      const seconds = found.given ? [found.seconds] : [];
      return lane(name, 1, (each) => this.#batch(fn, each, seconds, forgottenMax), undefined, true);
    });
    const byWork = (lanes: Lane[]) => new Map(lanes.map((each) => [each.work, each]));
    this.#declared = byWork([...ofRows, ...ofAge]);
    this.#lanes = byWork([this.#jobs, this.#statusPolls, this.#events, ...ofRows, ...ofAge]);
  }

  start(): void {
    this.#numbers.start(this.#events);
    const { cues } = this.#watch;
    this.#running = Promise.all([
      this.#watch.run(),
      this.#loop(() => this.#offerJobs(), this.#jobs, cues.jobs),
      this.#finds('tenants_with_events', kinds.events, this.#events, cues.events),
      ...[...rowWork].map(([name, { table, where }]) =>
        this.#finds(
          `tenants_with_${name}`,
          { table, ...(where && { where }) },
          this.#declared.get(name)!,
          this.#watch.cueOf(name),
        ),
      ),
      this.#retryFaults(),
      this.#forget(),
      this.#webhooks?.run(),
      this.#ledgerChecks?.run(),
      ...this.#bulkWork(),
      countStuck(this.database, () => this.observer, this.#stop.signal),
      new Heartbeat(this.database, this.#stop.signal).run(),
    ]);
  }

  /** Exports and imports. */
  #bulkWork(): Promise<void>[] {
    const { database, log, bulk } = this;
    const { signal } = this.#stop;
    const { exports, imports } = this.#watch.cues;
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
    await Promise.all([...this.#lanes.values()].map((lane) => lane.idle()));
  }

  get #stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Finds the tenants with a kind of work by the order of tenants. */
  #finds(name: string, rows: Walked, lane: Lane, cue: Cue): Promise<void> {
    const walk = new TenantWalk(this.database, name, rows);
    return this.#loop(() => this.#offerNext(walk, lane), lane, cue);
  }

  /**
   * Looks for tenants with work until the worker is stopped. The next look begins at once when it may find more, and
   * otherwise when its cue says so.
   */
  async #loop(look: () => Promise<Looked>, lane: Lane, cue: Cue): Promise<void> {
    while (!this.#stopping) {
      const { more, found } = await this.#attempt(look, 'the worker will look for work again', failedLook);
      await lane.room();
      if (!more) await cue.next(found);
    }
  }

  /** Looks for work; logs an error and returns something else in its place. */
  async #attempt<T>(look: () => Promise<T>, consequence: string, otherwise: T): Promise<T> {
    try {
      return await look();
    } catch (error) {
      // The log reports an outage once, and not at each attempt.
      const outage = error instanceof DomainError && error.status === 503;
      this.log[outage ? 'debug' : 'warn'](faultLine(error), consequence);
      return otherwise;
    }
  }

  async #offerJobs(): Promise<Looked> {
    const { runs, polls, more } = await this.#due.look();
    this.observer?.found('run_jobs', runs.length);
    this.observer?.found('poll_statuses', polls.length);
    this.#statusPolls.offer(polls);
    return { more: this.#jobs.offer(runs, more) && more, found: runs.length + polls.length > 0 };
  }

  async #offerNext(walk: TenantWalk, lane: Lane): Promise<Looked> {
    const { rows, ended, found } = await walk.next();
    if (ended) this.observer?.found(lane.work, found);
    return { more: lane.offer(rows, !ended) && !ended, found: found > 0 };
  }

  /** Offers the work whose next attempt is due, whether or not a look finds it, every second while there are faults. */
  async #retryFaults(): Promise<void> {
    while (!this.#stopping) {
      const offered = await this.#attempt(
        async () => {
          // A gateway of another version may have stored work that this one does not know.
          for (const { work, ...tenantAndMode } of await this.#faults.due())
            this.#lanes.get(work)?.offer([tenantAndMode]);
          return true;
        },
        'the worker will look for faults again',
        false,
      );
      await this.#watch.cues.faults.next(!offered);
    }
  }

  async #sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => {});
  }

  /** Polls the status of a tenant's attempts. An acquirer may be slow, so other jobs do not wait for it. */
  async #pollStatus({ tenantId, livemode }: TenantAndMode): Promise<boolean> {
    const onFault = (error: unknown) =>
      this.log.warn(
        { ...workLine('poll_statuses', { tenantId, livemode }), ...faultLine(error) },
        'the status of an attempt will be polled again',
      );
    const args = { limit: statusPollsMax };
    const due = await this.database.write('claim_status_polls', tenantId, livemode, null, args, transaction);
    await pollStatus(payerScope(this.database, { tenantId, livemode }), due, onFault, this.acquirers);
    return false;
  }

  /** Once an hour, deletes the old rows of every tenant. */
  async #forget(): Promise<void> {
    while (!this.#stopping) {
      for (const [name, work] of ageWork) {
        const walk = walkOfOld(this.database, `tenants_with_${name}`, work, this.retention);
        if (walk) await this.#pass(walk, this.#declared.get(name)!);
      }
      await this.#sleep(forgetEveryMilliseconds);
    }
  }

  /** Finds all tenants with old rows, some at a time: the next look waits until each of them has had a turn. */
  async #pass(walk: TenantWalk<Aged>, lane: Lane): Promise<void> {
    for (let ended = false; !ended && !this.#stopping; ) {
      const found = await this.#attempt(
        async () => {
          const look = await walk.next();
          ended = look.ended;
          lane.offer(look.rows.filter(({ old }) => old !== false));
          return true;
        },
        'the worker will look for old rows again',
        false,
      );
      if (!found) await this.#sleep(interruptedMilliseconds);
      await lane.room();
    }
    await lane.idle();
  }

  /** Calls a database function that handles at most `max` rows of a tenant; returns whether it handled `max`. */
  async #batch(fn: string, { tenantId, livemode }: TenantAndMode, more: number[], max: number): Promise<boolean> {
    const [row] = await this.database.work(fn, [tenantId, livemode, ...more, max]);
    return Number(row?.[fn]) === max;
  }
}
