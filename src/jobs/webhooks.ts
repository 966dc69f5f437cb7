import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { CrossTenantReads, WorkerCalls } from '../db/doors.js';
import { fromRow } from '../db/read/row-mapper.js';
import type { SealedPlace, Secrets } from '../config/secrets.js';
import { DomainError } from '../errors/problems.js';
import type { EventQueries, EventQueryResult } from '../operation/event-queries.js';
import type { AccountKind } from '../resources/account/table.js';
import { type EventRow, event } from '../resources/event/table.js';
import { eventV1 } from '../resources/event/v1.js';
import { readerOf } from '../resources/webhook-endpoint/reader.js';
import { webhookEndpoint } from '../resources/webhook-endpoint/table.js';
import { faultLine } from '../errors/log.js';
import type { PollTimer } from './poll-timer.js';
import type { WorkObserver } from './work-queue.js';
import { kinds } from './watch.js';
import type { Attempted, WebhookRequests } from './webhook-request.js';

/** The shortest pause between two polls. */
const gatherMilliseconds = 20;
/** How many endpoints one poll reads. */
const endpointsMax = 100;
/** How many polls follow each other without a pause. */
const pollsMax = 20;
/** How many endpoints one process serves at once: in all, of one tenant, and of those that fail. */
const atOnce = { all: 64, ofTenant: 8, failing: 32 };
const batchMax = 50;
const turnMilliseconds = 30_000;
/**
 * A claim lasts longer than what is done during it: no attempt begins later than `claimMilliseconds`, and each ends
 * within 20 s: the wait for a turn, 3 s for its query, and 15 s for the request. The deliveries of a process that was
 * killed wait until its claim ends.
 */
const claimMilliseconds = 2_000;
const claimSeconds = 25;
/** The longest pause of a turn whose tenant has no allowance left for a query. */
const allowanceMilliseconds = 5_000;
/** The pause of a turn whose event has no number yet. */
const numberSeconds = 0.1;

/** The error of an attempt without a secret, and the seconds until the next one at its endpoint. */
const unsigned = 'the service could not sign the delivery';
const unsignedSeconds = 300;
/** How often the log says that secrets cannot be decrypted. */
const undecryptableMilliseconds = 60_000;

/** An endpoint with a delivery that is due. */
interface Due {
  tenantId: string;
  livemode: boolean;
  id: string;
  due: number;
  failing: boolean;
}

/** What deliveries need besides the database. */
export interface WebhookParts {
  secrets: Secrets;
  requests: WebhookRequests;
  /** Runs the queries of endpoints. */
  queries: EventQueries;
  /** Learns of attempts. */
  observer?: WorkObserver | undefined;
}

/**
 * Delivers events to webhook endpoints. A process claims an endpoint, so that one process at a time sends its events,
 * one after the other: in the order of their numbers as long as deliveries succeed. A process that dies leaves a claim
 * that ends by its time; its attempts that were not recorded are made again, so each event is delivered at least once.
 */
export class Webhooks {
  readonly #running = new Map<string, Due>();
  #changed: (() => void)[] = [];
  #after: Due | undefined;
  /** When the log said last that a secret cannot be decrypted. */
  #undecryptableAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: CrossTenantReads & WorkerCalls,
    private readonly log: Logger,
    private readonly parts: WebhookParts,
    private readonly timer: PollTimer,
    private readonly stop: AbortSignal,
  ) {}

  /** Delivers until it is stopped; resolves when all turns have ended. */
  async run(): Promise<void> {
    while (!this.stop.aborted) {
      const found = await this.#poll().catch((error: unknown) => {
        const outage = error instanceof DomainError && error.status === 503;
        this.log[outage ? 'debug' : 'warn'](faultLine(error), 'the worker will look for deliveries again');
        return true;
      });
      await this.#pause(gatherMilliseconds);
      await this.timer.next(found);
    }
    while (this.#running.size > 0) await this.#change();
    this.parts.requests.close();
  }

  /** Says that deliveries may have been queued, so that the next poll does not wait. */
  wake(): void {
    this.timer.wake();
  }

  /**
   * Gives turns to endpoints with due deliveries, until all places are taken or all such endpoints are seen. Returns
   * whether there were any.
   */
  async #poll(): Promise<boolean> {
    let some = false;
    for (let polls = 0; polls < pollsMax && this.#running.size < atOnce.all && !this.stop.aborted; polls++) {
      const found = await this.#next();
      some ||= found.length > 0;
      for (const endpoint of found) if (this.#hasPlace(endpoint)) this.#turn(endpoint);
      this.#after = found.length < endpointsMax ? undefined : found.at(-1);
      if (!this.#after) break;
    }
    return some;
  }

  #hasPlace(endpoint: Due): boolean {
    const running = [...this.#running.values()];
    return (
      !this.#running.has(keyOf(endpoint)) &&
      running.length < atOnce.all &&
      running.filter(({ tenantId }) => tenantId === endpoint.tenantId).length < atOnce.ofTenant &&
      (!endpoint.failing || running.filter(({ failing }) => failing).length < atOnce.failing)
    );
  }

  /** The next endpoints with a due delivery that no process has claimed, in the order of the times. */
  #next(): Promise<Due[]> {
    const { tenantId, livemode, id, due, failingSince } = webhookEndpoint;
    const { placeholder } = sql;
    return this.database.crossTenant.read<Due>(
      'endpoints_with_deliveries',
      (db) =>
        db
          .select({ tenantId, livemode, id, due, failing: sql<boolean>`${failingSince} is not null` })
          .from(webhookEndpoint)
          .where(
            sql`${kinds.deliveries.where} and
              (${due}, ${tenantId}, ${livemode}, ${id}) >
              (${placeholder('due')}::bigint, ${placeholder('tenantId')}::text, ${placeholder('livemode')}::boolean,
                ${placeholder('id')}::text)`,
          )
          .orderBy(due, tenantId, livemode, id)
          .limit(endpointsMax),
      {
        due: this.#after?.due ?? 0,
        tenantId: this.#after?.tenantId ?? '',
        livemode: this.#after?.livemode ?? false,
        id: this.#after?.id ?? '',
      },
      { by: ['due', 'tenantId', 'livemode', 'id'], limit: endpointsMax },
    );
  }

  #turn(endpoint: Due): void {
    const key = keyOf(endpoint);
    this.#running.set(key, endpoint);
    void this.#deliver(endpoint)
      .catch((error: unknown) => {
        const { tenantId, id } = endpoint;
        this.log.warn({ tenant: tenantId, endpoint: id, ...faultLine(error) }, 'deliveries will be tried again');
      })
      .finally(() => {
        this.#running.delete(key);
        for (const resume of this.#changed.splice(0)) resume();
      });
  }

  /** Delivers to one endpoint until nothing is due or its turn is over. */
  async #deliver({ tenantId, livemode, id }: Due): Promise<void> {
    const until = performance.now() + turnMilliseconds;
    for (let more = true; more && performance.now() < until && !this.stop.aborted; ) {
      const claim = [tenantId, livemode, id, batchMax, claimSeconds];
      const rows = await this.database.work('claim_webhook_deliveries', claim);
      if (rows.length === 0) return;
      const { results, pause, waits } = await this.#batch({ tenantId, livemode, id }, rows);
      more = !waits && (rows.length === batchMax || results.length < rows.length);
      const values = [tenantId, livemode, id, Number(rows[0]!.claimed_until), JSON.stringify(results)];
      const [ended] = await this.database.work('finish_deliveries', values);
      if (ended?.finish_deliveries) {
        this.log.warn({ tenant: tenantId, endpoint: id, reason: ended.finish_deliveries }, 'an endpoint was disabled');
        return;
      }
      if (pause > 0) await this.#pause(Math.min(pause * 1_000, allowanceMilliseconds));
    }
  }

  /** Makes the attempts of a claim, one after the other, as far as its time goes. */
  async #batch(place: SealedPlace, rows: Record<string, unknown>[]) {
    const results: object[] = [];
    const began = performance.now();
    const elapsed = () => performance.now() - began;
    const nothing = { results, pause: 0, waits: false };
    for (const row of rows) {
      if (elapsed() > claimMilliseconds || this.stop.aborted) break;
      const now = () => Number(row.claimed_at) + Math.floor(elapsed() / 1_000);
      const attempted = await this.#attempt(place, row, now);
      // The delivery stays as it is until the event has its number, or the tenant has a turn and enough allowance.
      if ('later' in attempted) return { ...nothing, pause: attempted.later };
      const { attempt, retryAfter, final } = attempted;
      const accepted = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
      const outcome = attempted.unsigned ? 'undecryptable' : accepted ? 'delivered' : 'failed';
      this.parts.observer?.delivered(outcome, attempt.milliseconds / 1_000);
      results.push({ delivery: row.delivery_id, ...attempted });
      // An endpoint that is gone, or asks to wait, gets no further event now.
      if (final || retryAfter) return { ...nothing, waits: true };
    }
    return nothing;
  }

  async #attempt(
    place: SealedPlace,
    row: Record<string, unknown>,
    now: () => number,
  ): Promise<Attempted | { later: number }> {
    const stored = row.event as Record<string, unknown> | null;
    if (!stored) return failed('the event was deleted before it could be sent', now(), true);
    const sealed = [row.secret_sealed, row.previous_secret_sealed].filter((text) => typeof text === 'string');
    const secrets = sealed.map((text) => this.parts.secrets.readable(text, place));
    if (secrets.includes(undefined)) this.#reportUndecryptable(place, sealed);
    // It is tried again: the key may come back, or another gateway has it. The account can do nothing about it, and
    // may not know the previous secret any more.
    if (secrets[0] === undefined)
      return { ...failed(unsigned, now(), false), retryAfter: unsignedSeconds, unsigned: true };
    const about = fromRow(event, stored);
    const content = await this.#content(place, row, about);
    if ('later' in content) return content;
    if ('fault' in content) return failed(content.fault, now(), false);
    const known = secrets.filter((secret) => secret !== undefined);
    return this.parts.requests.send({
      ...{ id: about.id, body: content.body, url: String(row.url), secrets: known, at: now() },
    });
  }

  #reportUndecryptable({ tenantId, id }: SealedPlace, sealed: string[]): void {
    const now = performance.now();
    if (now < this.#undecryptableAt + undecryptableMilliseconds) return;
    this.#undecryptableAt = now;
    const keys = [...new Set(sealed.map((text) => text.split('.')[1]))];
    this.log.error(
      { tenant: tenantId, endpoint: id, keys },
      'secrets of webhook endpoints cannot be decrypted: ENCRYPTION_KEY lacks their keys, or they were altered',
    );
  }

  /** The body of a delivery: the event, or the result of the query of its endpoint. */
  async #content(
    { tenantId, livemode }: SealedPlace,
    row: Record<string, unknown>,
    about: EventRow,
  ): Promise<EventQueryResult> {
    if (typeof row.query !== 'string') return { body: JSON.stringify(eventV1(about)) };
    // A query finds an event once it has its number; a test event is queued before.
    if (about.number === null) return { later: numberSeconds };
    const owner = readerOf({
      ...{ tenantId, livemode, id: String(row.account_id) },
      kind: row.account_kind as AccountKind,
      edition: row.account_edition as 1 | 2,
    });
    return this.parts.queries.run(row.query, owner, about);
  }

  #change(): Promise<void> {
    return new Promise<void>((resume) => this.#changed.push(resume));
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.stop }).catch(() => {});
  }
}

const keyOf = ({ tenantId, livemode, id }: Due) => `${tenantId} ${livemode} ${id}`;

/** An attempt that failed before anything was sent. */
function failed(error: string, at: number, final: boolean): Attempted {
  return { attempt: { at, milliseconds: 0, status: null, error, response: null }, retryAfter: null, final };
}
