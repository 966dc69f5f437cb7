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
  /** The points of the senders that have spent most on all gateways; undefined while much is left. */
  spent?: Readonly<Record<string, number>> | undefined;
}

/**
 * Asks the shared allowance for a lease, and says what senders have spent since it was last told. See take_allowance
 * and count_senders in drizzle/functions/access/allowance.sql.
 */
export type Lend = (asked: {
  back: number;
  need: number;
  want: number;
  spent: ReadonlyMap<string, number>;
}) => Promise<Granted>;

/** The smallest lease. It is kept while a tenant is quiet, so that its next request needs no call. */
const leaseMin = 200;
/** The part of the burst that one lease may have at most. */
export const leaseShare = 16;
/** A lease that lasted a shorter time than the first is doubled; one that lasted longer than the second is halved. */
const lastsMilliseconds = [1_000, 4_000] as const;
/** The part of the burst that is kept for senders that have not spent as much themselves. */
const keptShare = 10;
/** How long a gateway does not ask again after it was refused a lease. */
const pauseMilliseconds = 100;
/** How long requests are admitted without asking after the shared allowance could not be asked. */
const blindMilliseconds = 1_000;

/**
 * The allowance of one root account and mode in one gateway. It holds a lease: points that it took from the shared
 * allowance and spends without a statement. It renews the lease before it is used up, and gives back what a quiet
 * account leaves. So the gateways together never admit more than the shared allowance has granted. While it cannot be
 * asked, such as when PostgreSQL accepts no writes, requests are admitted, and their points are taken afterwards.
 *
 * The last tenth of the allowance is for senders that have spent less than a tenth of it: one key, session or connected
 * user that spends all it can leaves the others what they need to end it.
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
  /** The points that are kept for senders which have spent fewer. */
  readonly #kept: number;
  /** What senders have spent of the allowance: as it last answered, and here since then. */
  #known: Readonly<Record<string, number>> = {};
  readonly #spent = new Map<string, number>();

  constructor(
    private readonly size: AllowanceSize,
    private readonly lend: Lend,
  ) {
    this.#shared = size.burst;
    this.#kept = size.enforced ? Math.floor(size.burst / keptShare) : 0;
  }

  take(points: number, sender: string): undefined | Promise<void> {
    if (!this.size.enforced || (this.#left >= points && this.#allows(points, sender))) {
      this.#spend(points, sender);
      if (this.#left < this.#size / 4) this.#renewAhead();
      return undefined;
    }
    if (points > this.takenMax) throw tooManyPoints(points, this.takenMax);
    if (performance.now() < this.#blindUntil) {
      this.#spend(points, sender);
      return undefined;
    }
    this.#refuseIfTooFew(points, sender);
    return this.#wait(points, sender);
  }

  give(points: number, sender: string): void {
    this.#left += points;
    this.#count(-points, sender);
  }

  get takenMax(): number {
    return this.size.burst - this.#kept;
  }

  get state(): AllowanceState {
    const { burst: limit, perSecond: restoreRate } = this.size;
    const remaining = Math.max(Math.min(Math.floor(this.#available), limit), 0);
    return { limit, remaining, restoreRate, resetSeconds: Math.ceil((limit - remaining) / restoreRate) };
  }

  #spend(points: number, sender: string): void {
    this.#used = true;
    this.#left -= points;
    this.#count(points, sender);
  }

  #count(points: number, sender: string): void {
    if (this.#kept > 0) this.#spent.set(sender, (this.#spent.get(sender) ?? 0) + points);
  }

  /** The points that are kept from a request, because its sender has spent as many, or would. */
  #keptFrom(points: number, sender: string): number {
    const spent = (this.#known[sender] ?? 0) + (this.#spent.get(sender) ?? 0);
    return spent + points > this.#kept ? this.#kept : 0;
  }

  /** Whether a request leaves what is kept from it. While more is left anyway, the clock is not read. */
  #allows(points: number, sender: string): boolean {
    if (this.#left + this.#shared - points >= this.#kept) return true;
    return this.#available - points >= this.#keptFrom(points, sender);
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
  #refuseIfTooFew(points: number, sender: string): void {
    const available = this.#available - this.#keptFrom(points, sender);
    if (available >= points && performance.now() >= this.#refusedUntil) return;
    const seconds = Math.max(Math.ceil((points - available) / this.size.perSecond), 1);
    throw tooFewPoints(points, Math.max(Math.floor(available), 0), seconds);
  }

  /** Waits until the lease has enough points, and spends them. */
  async #wait(points: number, sender: string): Promise<void> {
    const waiting = { points };
    this.#waiting.add(waiting);
    try {
      while (performance.now() >= this.#blindUntil && !(this.#left >= points && this.#allows(points, sender))) {
        this.#refuseIfTooFew(points, sender);
        await this.#renew().catch(() => {});
      }
      this.#spend(points, sender);
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
    // A gateway holds little of the last points, which another may need for a sender that has spent none.
    const size = Math.min(this.#size, Math.max(Math.floor(this.#available / leaseShare), leaseMin));
    await this.#ask({
      back: Math.min(this.#left, 0),
      need: Math.max(Math.min(...costs, Number.POSITIVE_INFINITY) - held, 1),
      want: Math.max(size - held, 1) + costs.reduce((sum, points) => sum + points, 0),
    });
  }

  async #ask({ back, need = 0, want }: { back: number; need?: number; want: number }): Promise<void> {
    this.#left -= back;
    const told = new Map(this.#spent);
    try {
      const asked = { back, need: Number.isFinite(need) ? need : 1, want, spent: told };
      const { granted, remaining, spent } = await this.lend(asked);
      this.#left += granted;
      this.#knows(spent, told, remaining);
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

  /** Takes over what all gateways know of the senders. While much is left, they are not needed. */
  #knows(known: Granted['spent'], told: ReadonlyMap<string, number>, remaining: number): void {
    if (known) this.#known = known;
    else if (isPlenty(remaining, this.size)) this.#known = {};
    else return;
    for (const [sender, points] of told) {
      const since = (this.#spent.get(sender) ?? 0) - points;
      if (since === 0) this.#spent.delete(sender);
      else this.#spent.set(sender, since);
    }
  }
}

/** Whether so much is left of an allowance that it does not matter who spends it. */
export const isPlenty = (remaining: number, { burst }: Pick<AllowanceSize, 'burst'>): boolean => remaining >= burst / 2;
