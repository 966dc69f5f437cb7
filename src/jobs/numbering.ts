import type { WorkerCalls } from '../db/doors.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import type { WorkQueue } from './work-queue.js';

const numberedMax = 500;
/** How long the events of writes wait to be numbered together. Without a write of this process, the queue polls. */
const gatherMilliseconds = 50;

/** Numbers events: soon after a write of this process, so that streams have its events at once. */
export class Numbering {
  #queue: WorkQueue | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: WorkerCalls,
    /** Called when events of this process have got their numbers. */
    private readonly numberedSome: () => void = () => {},
  ) {}

  start(queue: WorkQueue): void {
    this.#queue = queue;
    this.database.signals.on('write', this.soon);
  }

  stop(): void {
    this.#queue = undefined;
    this.database.signals.off('write', this.soon);
    clearTimeout(this.#gathering);
  }

  /** Says that there are events without a number. */
  readonly soon = (): void => {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#queue?.wake();
    }, gatherMilliseconds);
  };

  /**
   * Numbers a batch of a tenant's events, and notifies the gateways, whose streams read them. Returns whether it was
   * full.
   */
  async batch(of: TenantAndMode): Promise<boolean> {
    const [row] = await this.database.work('number_events', [of.tenantId, of.livemode, numberedMax]);
    const numbered = Number(row?.number_events);
    // Without the hint the streams find the events by themselves.
    if (numbered > 0) this.numberedSome();
    if (numbered > 0) await this.database.hints.send(of).catch(() => {});
    return numbered === numberedMax;
  }
}
