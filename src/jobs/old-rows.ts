import { setTimeout as sleep } from 'node:timers/promises';
import { isNotNull, sql } from 'drizzle-orm';
import type { Database } from '../db/database.js';
import type { TenantAndMode } from '../db/tenant-and-mode.js';
import { idempotency } from '../operation/table.js';
import { event } from '../resources/event/table.js';
import { webhookDelivery } from '../resources/webhook-delivery/table.js';
import type { Lane } from './lane.js';
import { TenantWalk } from './tenants.js';

const everyMilliseconds = 3_600_000;
const retryMilliseconds = 1_000;

/** The time for which the worker keeps rows that may be deleted. */
export interface Retention {
  /** Seconds for the stored responses of idempotency keys; the database keeps them for at least a day. */
  idempotencySeconds: number;
  /** Seconds for events; undefined keeps them for ever. */
  eventSeconds?: number | undefined;
}

/** The retention that the README promises when no setting changes it. */
export const retentionDefault: Retention = { idempotencySeconds: 48 * 3600 };

/** A row that may be old; undefined when a database function has to tell. */
type Aged = TenantAndMode & { old?: boolean };

/** Once an hour, has the lanes delete the old rows of every tenant. */
export class OldRows {
  constructor(
    private readonly database: Database,
    private readonly retention: Retention,
    private readonly lanes: Record<'answers' | 'events' | 'deliveries', Lane>,
    /** Looks for rows; logs an error and returns false in its place. */
    private readonly attempt: (look: () => Promise<boolean>, consequence: string) => Promise<boolean>,
    private readonly stop: AbortSignal,
  ) {}

  /** Runs until the worker is stopped. */
  async run(): Promise<void> {
    const { idempotencySeconds, eventSeconds } = this.retention;
    const { answers, events, deliveries } = this.lanes;
    const before = sql`extract(epoch from statement_timestamp()) - ${sql.raw(String(Math.max(idempotencySeconds, 86_400)))}`;
    const monthAgo = sql`extract(epoch from statement_timestamp()) - 2592000`;
    while (!this.stop.aborted) {
      const withAnswers = new TenantWalk<Aged>(this.database, 'tenants_with_answers', {
        table: idempotency,
        order: [idempotency.created],
        columns: { old: sql<boolean>`${idempotency.created} < ${before}` },
      });
      await this.#pass(withAnswers, answers);
      const withNumbers = new TenantWalk<Aged>(this.database, 'tenants_with_numbers', {
        table: event,
        where: isNotNull(event.number),
      });
      if (eventSeconds !== undefined) await this.#pass(withNumbers, events);
      const withDeliveries = new TenantWalk<Aged>(this.database, 'tenants_with_deliveries', {
        table: webhookDelivery,
        order: [webhookDelivery.created],
        columns: { old: sql<boolean>`${webhookDelivery.created} < ${monthAgo}` },
      });
      await this.#pass(withDeliveries, deliveries);
      await this.#sleep(everyMilliseconds);
    }
  }

  /** Finds all tenants with old rows, some at a time: the next look waits until each of them has had a turn. */
  async #pass(walk: TenantWalk<Aged>, lane: Lane): Promise<void> {
    for (let ended = false; !ended && !this.stop.aborted; ) {
      const found = await this.attempt(async () => {
        const look = await walk.next();
        ({ ended } = look);
        lane.offer(look.rows.filter(({ old }) => old !== false));
        return true;
      }, 'the worker will look for old rows again');
      if (!found) await this.#sleep(retryMilliseconds);
      await lane.room();
    }
    await lane.idle();
  }

  async #sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.stop }).catch(() => {});
  }
}
