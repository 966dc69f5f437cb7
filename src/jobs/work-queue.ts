import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import type { LedgerCheckStatus } from '../resources/ledger/table.js';
import type { DueAges } from '../operator/health/due-ages.js';
import type { StuckCounts } from '../operator/health/stuck-counts.js';
import type { PollTimer } from './poll-timer.js';
import type { Faults } from './faults.js';
import type { TenantWork } from './table.js';

/** What the last checks of all tenants' ledgers say. */
export interface LedgerState {
  /** The age of the oldest of the last checks that have an outcome. */
  oldestSeconds: number;
  /** Tenants and modes whose last check has found a violation. */
  violated: number;
  /** Tenants and modes that no check with an outcome exists for. */
  unchecked: number;
}

/** Learns of the worker's turns, for metrics. */
export interface WorkObserver {
  /** The worker has these kinds of work. */
  works(names: readonly TenantWork[]): void;
  /** A tenant's turn has ended; seconds since its work was found. */
  turned(work: TenantWork, seconds: number): void;
  /** An attempt at a tenant's work has failed. */
  failed(work: TenantWork): void;
  /** A poll over all tenants has found rows with work. */
  found(work: TenantWork, rows: number): void;
  /** What fails and is tried again was counted. */
  stuck(counts: StuckCounts): void;
  /** How long the oldest work of each kind is overdue was measured, in seconds. */
  dueAges(ages: DueAges): void;
  /** An event was sent to a webhook endpoint, or could not be. */
  delivered(outcome: 'delivered' | 'failed' | 'undecryptable', seconds: number): void;
  /** A check of a tenant's ledger has ended. */
  checked(status: LedgerCheckStatus, seconds: number): void;
  /** What the last checks of all ledgers say has changed, or was read. */
  ledger(state: LedgerState): void;
}

/** What a poll for tenants has come to: whether another one at once may find more, and whether it has found any. */
export interface PollResult {
  more: boolean;
  found: boolean;
}
/** After a poll that has failed, another one follows as if it had found some. */
export const failedPoll: PollResult = { more: false, found: true };

/**
 * One kind of work, which is done for several tenants at once. Tenants take turns: a turn is one batch when other
 * tenants have such work, and otherwise lasts until the tenant has no work left. So a tenant with much work uses one
 * place for as long as no other tenant needs it.
 */
export class WorkQueue {
  /** The tenants that wait for a turn, the first one first. */
  readonly #waiting = new Map<string, TenantAndMode & { since: number }>();
  readonly #running = new Map<string, Promise<void>>();
  #changed: (() => void)[] = [];
  /** Whether other tenants may have work that is not found yet. */
  #others = false;

  constructor(
    readonly work: TenantWork,
    private readonly parts: {
      /** How many tenants have their turn at once. */
      atOnce: number;
      /** Does a batch of a tenant's work; returns whether there may be more. */
      batch: (tenantAndMode: TenantAndMode) => Promise<boolean>;
      /** Whether a tenant with work left waits for another turn by itself, and not only when it is found again. */
      continues?: boolean;
      /** When the next poll for tenants begins; woken when a turn has ended with work left. */
      timer?: PollTimer | undefined;
      /** Called when a turn has ended, with the seconds since its work was found. */
      turned?: (work: TenantWork, seconds: number) => void;
    },
    private readonly faults: Faults,
    private readonly stop: AbortSignal,
  ) {}

  /**
   * Gives tenants turns, unless they have or wait for one, or their last attempt has failed and they have to wait. With
   * `others`, there may be further tenants with work. Returns whether any of the tenants gets a turn.
   */
  offer(found: Iterable<TenantAndMode>, others = false): boolean {
    const before = this.#waiting.size;
    this.#others = others;
    for (const { tenantId, livemode } of found) {
      const key = `${tenantId} ${livemode}`;
      if (this.#running.has(key) || this.faults.paused(this.work, { tenantId, livemode })) continue;
      if (!this.#waiting.has(key)) this.#waiting.set(key, { tenantId, livemode, since: performance.now() });
    }
    const added = this.#waiting.size > before;
    this.#fill();
    return added;
  }

  /** Resolves when no tenant waits for a turn. */
  async room(): Promise<void> {
    while (this.#waiting.size > 0 && !this.stop.aborted) await this.#change();
  }

  /** Resolves when no tenant has a turn. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await this.#change();
  }

  /** Ends the pause before the next poll. */
  wake(): void {
    this.parts.timer?.wake();
  }

  #change(): Promise<void> {
    return new Promise<void>((resume) => this.#changed.push(resume));
  }

  #fill(): void {
    for (const [key, tenantAndMode] of this.#waiting) {
      if (this.#running.size >= this.parts.atOnce || this.stop.aborted) return;
      this.#waiting.delete(key);
      const turn = this.#turn(tenantAndMode).then((more) => {
        this.#running.delete(key);
        this.parts.turned?.(this.work, (performance.now() - tenantAndMode.since) / 1_000);
        if (more) this.wake();
        if (more && this.parts.continues) this.#waiting.set(key, { ...tenantAndMode, since: performance.now() });
        this.#fill();
        for (const resume of this.#changed.splice(0)) resume();
      });
      this.#running.set(key, turn);
    }
  }

  async #turn(tenantAndMode: TenantAndMode): Promise<boolean> {
    let more = true;
    do more = await this.faults.attempt(this.work, tenantAndMode, () => this.parts.batch(tenantAndMode));
    while (more && this.#waiting.size === 0 && !this.#others && !this.stop.aborted);
    return more && !this.stop.aborted;
  }
}
