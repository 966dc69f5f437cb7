import { type Allowance, type AllowanceState, tooFewPoints, tooManyPoints } from './charge.js';

/** The size of an allowance. */
export interface AllowanceSize {
  burst: number;
  perSecond: number;
  /** Whether requests are refused. Otherwise the cost is computed and shown, and no request waits. */
  enforced: boolean;
}

/** What the shared allowance answered: the points of the lease, and what is left for others. */
interface Granted {
  granted: number;
  remaining: number;
}

/** Asks the shared allowance for a lease. See take_allowance in drizzle/functions/allowance.sql. */
export type Lend = (asked: { back: number; need: number; want: number }) => Promise<Granted>;

/** The smallest lease. It is kept while a tenant is quiet, so that its next request needs no call. */
const leaseMin = 200;
/** The part of the burst that one lease may have at most. */
export const leaseShare = 16;
/** A lease that lasted a shorter time than the first is doubled; one that lasted longer than the second is halved. */
const lastsMilliseconds = [1_000, 4_000] as const;
/** How long a gateway does not ask again after it was refused a lease. */
const pauseMilliseconds = 100;
/** How long requests are admitted without asking after the shared allowance could not be asked. */
const blindMilliseconds = 1_000;

/**
 * The allowance of one root account and mode in one gateway. It holds a lease: points that it took from the shared
 * allowance and spends without a statement. It renews the lease before it is used up, and gives back what a quiet
 * account leaves. So the gateways together never admit more than the shared allowance has granted. While it cannot be
 * asked, such as when PostgreSQL accepts no writes, requests are admitted, and their points are taken afterwards.
 */
export class Lease implements Allowance {
  /** The points left of the lease; below zero when requests used more than they had taken. */
  #left = 0;
  #size = leaseMin;
  /** The points left of the shared allowance when it last answered, and when that was. */
  #shared: number;
  #sharedAt = performance.now();
  #askedAt = Number.NEGATIVE_INFINITY;
  #refusedUntil = Number.NEGATIVE_INFINITY;
  #blindUntil = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  /** What the requests cost that wait for a lease. */
  readonly #waiting = new Set<{ points: number }>();
  #used = false;

  constructor(
    private readonly size: AllowanceSize,
    private readonly lend: Lend,
  ) {
    this.#shared = size.burst;
  }

  take(points: number): undefined | Promise<void> {
    this.#used = true;
    if (this.#left >= points || !this.size.enforced) {
      this.#left -= points;
      if (this.#left < this.#size / 4) this.#renewAhead();
      return undefined;
    }
    if (points > this.size.burst) throw tooManyPoints(points, this.size.burst);
    if (performance.now() < this.#blindUntil) {
      this.#left -= points;
      return undefined;
    }
    this.#refuseIfTooFew(points);
    return this.#wait(points);
  }

  give(points: number): void {
    this.#left += points;
  }

  get state(): AllowanceState {
    const { burst: limit, perSecond: restoreRate } = this.size;
    const remaining = Math.max(Math.min(Math.floor(this.#available), limit), 0);
    return { limit, remaining, restoreRate, resetSeconds: Math.ceil((limit - remaining) / restoreRate) };
  }

  /** Gives back what is left of the lease, except `kept` points, if no request has used it since the last call. */
  async giveBackIfQuiet(kept = leaseMin): Promise<void> {
    const used = this.#used;
    this.#used = false;
    if (!used && this.#left > kept) {
      this.#size = leaseMin;
      await this.#ask({ back: this.#left - kept, want: 0 });
    }
  }

  /** Gives back the whole lease, or takes what was used beyond it. */
  async close(): Promise<void> {
    await this.#asking?.catch(() => {});
    if (this.#left !== 0) await this.#ask({ back: this.#left, want: 0 });
  }

  /** The points that the account has, as far as this gateway knows: others may have taken some of them meanwhile. */
  get #available(): number {
    const seconds = (performance.now() - this.#sharedAt) / 1_000;
    return this.#left + Math.min(this.#shared + seconds * this.size.perSecond, this.size.burst);
  }

  /** Refuses without a statement when the shared allowance cannot have enough, or refused a lease a moment ago. */
  #refuseIfTooFew(points: number): void {
    const available = this.#available;
    if (available >= points && performance.now() >= this.#refusedUntil) return;
    const seconds = Math.max(Math.ceil((points - available) / this.size.perSecond), 1);
    throw tooFewPoints(points, this.state.remaining, seconds);
  }

  /** Waits until the lease has enough points, and spends them. */
  async #wait(points: number): Promise<void> {
    const waiting = { points };
    this.#waiting.add(waiting);
    try {
      while (this.#left < points && performance.now() >= this.#blindUntil) {
        this.#refuseIfTooFew(points);
        await this.#renew().catch(() => {});
      }
      this.#left -= points;
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** Renews the lease before it is used up. Requests that have to wait for a lease notice when that fails. */
  #renewAhead(): void {
    if (this.#asking || performance.now() < this.#refusedUntil) return;
    this.#renew().catch(() => {});
  }

  /** Renews the lease; callers share one call. */
  #renew(): Promise<void> {
    this.#asking ??= this.#renewNow().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #renewNow(): Promise<void> {
    const now = performance.now();
    const lasted = now - this.#askedAt;
    const max = Math.max(Math.floor(this.size.burst / leaseShare), 1);
    if (lasted < lastsMilliseconds[0]) this.#size *= 2;
    else if (lasted > lastsMilliseconds[1]) this.#size = Math.max(Math.floor(this.#size / 2), leaseMin);
    this.#size = Math.min(this.#size, max);
    this.#askedAt = now;
    const costs = [...this.#waiting].map(({ points }) => points);
    const held = Math.max(this.#left, 0);
    await this.#ask({
      back: Math.min(this.#left, 0),
      need: Math.max(Math.min(...costs, Number.POSITIVE_INFINITY) - held, 1),
      want: Math.max(this.#size - held, 1) + costs.reduce((sum, points) => sum + points, 0),
    });
  }

  async #ask({ back, need = 0, want }: { back: number; need?: number; want: number }): Promise<void> {
    this.#left -= back;
    try {
      const { granted, remaining } = await this.lend({ back, need: Number.isFinite(need) ? need : 1, want });
      this.#left += granted;
      this.#shared = remaining;
      this.#sharedAt = performance.now();
      if (want > 0 && granted === 0) this.#refusedUntil = this.#sharedAt + pauseMilliseconds;
    } catch (error) {
      this.#left += back;
      // Requests go on meanwhile, and do not ask each time.
      this.#refusedUntil = this.size.enforced ? this.#refusedUntil : performance.now() + pauseMilliseconds;
      this.#blindUntil = performance.now() + blindMilliseconds;
      throw error;
    }
  }
}
