import { and, eq, sql } from 'drizzle-orm';
import type { CrossTenantReads, WorkerCalls } from '../../db/doors.js';
import type { Hints } from '../../db/connect/hints.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import type { EventsRead } from '../../resources/event/stream.js';
import { eventCounter } from '../../resources/event/table.js';

/** How often the feeds are looked through for one whose poll is due. */
const tickMilliseconds = 125;
/** How long after a poll the next one follows: without hints, and with them. */
const pollMilliseconds = { alone: 600, hinted: 3_000 };
const pollsAtOnce = 20;

/** The number of the last event of a tenant and mode, as this gateway knows it, while streams follow it. */
export interface Feed extends TenantAndMode {
  last: number;
  /** Called when `last` has grown. */
  readonly waiting: Set<() => void>;
  /** Reads of events that run, which streams with the same filter and position share. */
  readonly reads: Map<string, Promise<EventsRead>>;
}

interface Followed extends Feed {
  users: number;
  polledAt: number;
  polling: Promise<void> | undefined;
  again: boolean;
}

const p = sql.placeholder;

/**
 * Follows the numbers of events for all streams of a gateway: one poll for a tenant and mode that has streams, whatever
 * their number, when a hint arrives and otherwise by polling. Without streams there is neither a poll nor a connection
 * for hints.
 */
export class Feeds {
  readonly #feeds = new Map<string, Followed>();
  readonly #hints: Hints;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: CrossTenantReads & WorkerCalls) {
    this.#hints = database.hints;
    database.signals.on('hint', (of) => {
      const feed = this.#feeds.get(keyOf(of));
      if (feed) void this.#poll(feed).catch(() => {});
    });
  }

  /** The feed of a tenant and mode, after a poll. `leave` has to be called once for each. */
  async join({ tenantId, livemode }: TenantAndMode): Promise<Feed> {
    const key = keyOf({ tenantId, livemode });
    let feed = this.#feeds.get(key);
    if (!feed) {
      const counts = { users: 0, polledAt: 0, polling: undefined, again: false };
      feed = { tenantId, livemode, last: 0, waiting: new Set(), reads: new Map(), ...counts };
      this.#feeds.set(key, feed);
      this.#hints.start();
      this.#timer ??= setInterval(() => void this.#pollDue(), tickMilliseconds);
    }
    feed.users++;
    try {
      await this.#poll(feed);
    } catch (error) {
      this.leave(feed);
      throw error;
    }
    return feed;
  }

  /** Ends a use of a feed. */
  leave(feed: Feed): void {
    const followed = feed as Followed;
    if (--followed.users > 0) return;
    this.#feeds.delete(keyOf(feed));
    if (this.#feeds.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#feeds.clear();
  }

  /** Polls for the feeds whose turn it is. A poll that fails is repeated at the next turn. */
  async #pollDue(): Promise<void> {
    const before = performance.now() - (this.#hints.working ? pollMilliseconds.hinted : pollMilliseconds.alone);
    const due = [...this.#feeds.values()].filter(({ polledAt, polling }) => polledAt < before && !polling);
    for (let i = 0; i < due.length; i += pollsAtOnce)
      await Promise.allSettled(due.slice(i, i + pollsAtOnce).map((feed) => this.#poll(feed)));
  }

  /** Reads the last number. A call during a poll makes another poll follow, which sees what is committed by then. */
  #poll(feed: Followed): Promise<void> {
    if (feed.polling) feed.again = true;
    else feed.polling = this.#pollUntilKnown(feed);
    return feed.polling;
  }

  async #pollUntilKnown(feed: Followed): Promise<void> {
    try {
      do {
        feed.again = false;
        feed.polledAt = performance.now();
        const last = await this.#lastOf(feed);
        if (last <= feed.last) continue;
        feed.last = last;
        for (const wake of [...feed.waiting]) wake();
      } while (feed.again);
    } finally {
      feed.polling = undefined;
    }
  }

  async #lastOf({ tenantId, livemode }: TenantAndMode): Promise<number> {
    const [row] = await this.database.read<{ last: number }>(
      'last_event_number',
      (db) =>
        db
          .select({ last: eventCounter.last })
          .from(eventCounter)
          .where(and(eq(eventCounter.tenantId, p('tenantId')), eq(eventCounter.livemode, p('livemode')))),
      { tenantId, livemode },
    );
    return row?.last ?? 0;
  }
}

const keyOf = ({ tenantId, livemode }: TenantAndMode) => `${tenantId} ${livemode}`;
