import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Logger } from 'pino';
import type { CrossTenantReads, WorkerCalls } from '../db/doors.js';
import { exportsAtOnce } from '../db/connect/driver/connection-options.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { type Bulk, callerOf } from '../operation/bulk.js';
import type { Charge } from '../limits/charge.js';
import { DomainError, retryAfter } from '../errors/problems.js';
import { faultLine } from '../errors/log.js';
import { weights } from '../types/weights.js';
import type { PollTimer } from './poll-timer.js';
import { kinds } from './watch.js';

/** How many pieces of work one poll reads. */
const foundMax = 20;
/** A process that dies leaves its work for so long; one that lives says so three times in that time. */
export const claimSeconds = 30;
const keepMilliseconds = 10_000;
/** How long a piece that failed because of an outage rests, at the least; its claim has to end, too. */
const waitMilliseconds = 250;

/** A piece of work that is due: to be done, or to be deleted after its time. */
export interface Piece extends TenantAndMode {
  id: string;
  due: number;
  ended: boolean;
}

/** Thrown when another process has the work now, or this one stops. */
export class Lost extends Error {
  constructor() {
    super('Another process has the work now, or this one stops.');
  }
}

/** What a piece of work may use while it is done. */
export interface PieceContext {
  /** Aborted when the work is lost, or the worker stops. */
  signal: AbortSignal;
  /** Pays for rows that were read, from the allowance of the account. */
  pay: (rows: number) => Promise<void>;
  /** Pays for writes. */
  payWrites: (writes: number) => Promise<void>;
}

/** A kind of work that takes long, and is claimed as a whole. */
interface Kind<R extends TenantAndMode & { id: string; attempts: number; caller: object }> {
  table: PgTable & { tenantId: PgColumn; livemode: PgColumn; id: PgColumn; due: PgColumn; status: PgColumn };
  /** The database function that keeps a claim. */
  keep: string;
  /** Deletes what is over; returns whether the piece is over. */
  expire(piece: Piece): Promise<boolean>;
  claim(piece: Piece): Promise<R | undefined>;
  run(row: R, context: PieceContext): Promise<void>;
}

/**
 * Does one kind of work that takes minutes: exports, or imports. A process does some at once, and one of a tenant at a
 * time, so that a tenant whose work waits for its allowance leaves the rest to others. A claim ends by the clock of the
 * database when its process dies, and then another process goes on.
 */
export class BulkWork<R extends TenantAndMode & { id: string; attempts: number; caller: object }> {
  readonly #running = new Map<string, Promise<void>>();

  constructor(
    private readonly database: CrossTenantReads & WorkerCalls,
    private readonly log: Logger,
    private readonly name: 'exports' | 'imports',
    private readonly kind: Kind<R>,
    private readonly bulk: Bulk,
    private readonly timer: PollTimer,
    private readonly stop: AbortSignal,
  ) {}

  /** Works until it is stopped; resolves when all that was begun has ended. */
  async run(): Promise<void> {
    while (!this.stop.aborted) {
      const found = await this.#poll().catch((error: unknown) => {
        const outage = error instanceof DomainError && error.status === 503;
        this.log[outage ? 'debug' : 'warn'](faultLine(error), `the worker will look for ${this.name} again`);
        return true;
      });
      await this.timer.next(found);
    }
    await Promise.all(this.#running.values());
  }

  /** Begins the pieces that are due; returns whether there were any. */
  async #poll(): Promise<boolean> {
    if (this.#running.size >= exportsAtOnce) return false;
    const due = await this.#due();
    for (const piece of due) {
      const key = piece.tenantId;
      if (this.#running.size >= exportsAtOnce || this.stop.aborted) break;
      if (!this.#running.has(key))
        this.#running.set(
          key,
          this.#claimed(piece).finally(() => this.#leave(key)),
        );
    }
    return due.length > 0;
  }

  #leave(key: string): void {
    this.#running.delete(key);
    this.timer.wake();
  }

  /** The pieces that are due first, of those tenants that have none under way here. */
  #due(): Promise<Piece[]> {
    const { table } = this.kind;
    const { tenantId, livemode, id, due, status } = table;
    return this.database.crossTenant.read<Piece>(
      `${this.name}_due`,
      (db) =>
        db
          .select({ tenantId, livemode, id, due, ended: sql<boolean>`${status} not in ('pending', 'running')` })
          .from(table as PgTable)
          .where(
            sql`${kinds[this.name].where} and
              ${tenantId} <> all (string_to_array(${sql.placeholder('busy')}::text, ' '))`,
          )
          .orderBy(due, tenantId, livemode, id)
          .limit(foundMax),
      { busy: [...this.#running.keys()].join(' ') },
      { by: ['due', 'tenantId', 'livemode', 'id'], limit: foundMax },
    );
  }

  async #claimed(piece: Piece): Promise<void> {
    const { tenantId, id } = piece;
    try {
      if (await this.kind.expire(piece)) return;
      const row = await this.kind.claim(piece);
      if (row) await this.#work(row);
    } catch (error) {
      if (error instanceof Lost) return;
      this.log.warn({ tenant: tenantId, id, ...faultLine(error) }, `${this.name} will be tried again`);
      await sleep(waitMilliseconds, undefined, { signal: this.stop }).catch(() => {});
    }
  }

  /** Does a piece that is claimed, and keeps the claim. */
  async #work(row: R): Promise<void> {
    const { tenantId, livemode, id, attempts } = row;
    const lost = new AbortController();
    const signal = AbortSignal.any([this.stop, lost.signal]);
    const timer = setInterval(() => {
      this.database.work(this.kind.keep, [tenantId, livemode, id, attempts, claimSeconds]).then(
        ([kept]) => kept?.[this.kind.keep] === true || lost.abort(),
        () => {},
      );
    }, keepMilliseconds);
    try {
      const pay = (points: number) => paid(() => this.bulk.chargeOf(callerOf(row)), points, signal);
      await this.kind.run(row, {
        signal,
        pay: (rows) => pay(rows * weights.object),
        payWrites: (writes) => pay(writes * weights.write),
      });
    } catch (error) {
      // A step may end by the signal itself.
      throw signal.aborted ? new Lost() : error;
    } finally {
      clearInterval(timer);
    }
  }
}

/** The longest pause until the allowance is looked at again. */
const pauseMillisecondsMax = 1_000;

/**
 * Takes points of an allowance once more than half of it is left: the other half is for requests. They may be more than
 * the allowance holds, and are then taken in parts.
 */
export async function paid(chargeOf: () => Charge | null, points: number, signal: AbortSignal): Promise<void> {
  for (let left = points; !signal.aborted; ) {
    const charge = chargeOf();
    if (!charge) return;
    const { remaining, limit, restoreRate } = charge.state;
    const part = Math.min(left, Math.floor(limit / 4));
    const missing = limit / 2 + part - remaining;
    let milliseconds = (missing / restoreRate) * 1_000;
    if (missing <= 0) {
      try {
        await charge.take(part);
        charge.count(part);
        charge.finish(false);
        left -= part;
        if (left === 0) return;
        continue;
      } catch (error) {
        const seconds = error instanceof DomainError ? retryAfter(error.problems) : undefined;
        if (seconds === undefined) throw error;
        milliseconds = seconds * 1_000;
      }
    }
    await sleep(Math.min(milliseconds, pauseMillisecondsMax), undefined, { signal }).catch(() => {});
  }
  throw new Lost();
}

/** How long a step is repeated while the service is too busy for it. */
const busyMillisecondsMax = 600_000;

/**
 * Does a step again while it is refused with 503: that says nothing about the work, and so is no failed attempt at it.
 * A step that never succeeds is refused for longer, and then the attempt fails.
 */
export async function patiently<T>(step: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const until = performance.now() + busyMillisecondsMax; ; ) {
    try {
      return await step();
    } catch (error) {
      const isBusy = error instanceof DomainError && error.status === 503;
      if (!isBusy || signal.aborted || performance.now() > until) throw error;
      await sleep(pauseMillisecondsMax, undefined, { signal }).catch(() => {});
    }
  }
}
