import { RequestBudget } from '../../limits/budget.js';
import type { DomainError } from '../../errors/problems.js';
import { FairQueue } from '../../limits/fair-queue.js';
import { Cancellations } from '../connect/cancellation.js';
import type { Connections, TrackQuery } from '../connect/connections.js';
import type { SlowLimits } from '../connect/database-settings.js';
import type { Failures } from '../connect/failures.js';
import { type Found, type RawRows, type Read, sent } from './read-combiner.js';
import { causeOf } from '../connect/outage.js';
import type { TenantReadClass } from './read-source.js';
import { slowOfTenantMax, slowWaiting, tooSlow } from './read-class.js';

const queryCanceled = '57014';

/** An expensive read that waits for its turn or runs, with the requests that asked for it while it waited. */
interface Shared {
  /** Ends when all requests of the read have ended. */
  budget: RequestBudget;
  requests: number;
  found: Promise<Found>;
}

/**
 * The expensive reads of all tenants, on connections of their own. A tenant has at most two at a time; further ones
 * wait for a short time, and the free connection goes to the tenant that has the fewest. Requests that ask for the
 * same read while it waits share it, such as all dashboards of an account after one of its events.
 */
export class ExpensiveReads {
  readonly #cancellations = new Cancellations();
  readonly #queue: FairQueue;
  /** The reads that have no turn yet, by their statement and its values. */
  readonly #waiting = new Map<string, Shared>();

  constructor(
    private readonly connections: Connections,
    private readonly failures: Failures,
    private readonly limits: SlowLimits,
  ) {
    this.#queue = new FairQueue('expensive_reads', {
      slots: limits.connections,
      ofTenant: slowOfTenantMax,
      ticketsOfTenant: slowOfTenantMax + slowWaiting.ofTenant,
      tickets: limits.connections + slowWaiting.all,
      milliseconds: slowWaiting.milliseconds,
    });
  }

  /** The expensive reads that run or wait now. */
  get inFlight(): number {
    return this.#queue.tickets;
  }

  /** Runs the read of an expensive read. Its request gives back the turn that it has among all requests. */
  async read(readClass: TenantReadClass, read: Read): Promise<Found> {
    const { budget } = read;
    if (budget?.ended) throw budget.ended;
    // It is not asked again by the resolvers of a query whose one statement was ended.
    if (budget?.tooSlow) throw budget.tooSlow;
    budget?.release();
    // Which replica may answer depends on what the request has seen.
    if (!budget || readClass.source) return this.#inTurn(readClass, read, () => {});
    const key = `${read.text} ${JSON.stringify(read.values, plain)}`;
    const shared = this.#waiting.get(key) ?? this.#share(key, readClass, read);
    shared.requests++;
    return new Promise((resolve, reject) => {
      const forget = budget.onEnd(() => {
        reject(budget.ended as DomainError);
        if (--shared.requests > 0) return;
        this.#forget(key, shared.budget);
        shared.budget.end(budget.ended as DomainError);
      });
      void shared.found.then(resolve, reject).finally(forget);
    });
  }

  /** Begins a read that further requests may share until it has its turn. */
  #share(key: string, readClass: TenantReadClass, read: Read): Shared {
    const budget = new RequestBudget();
    let begun = false;
    const begins = () => {
      begun = true;
      this.#forget(key, budget);
    };
    const shared = { budget, requests: 0, found: this.#inTurn(readClass, { ...read, budget }, begins) };
    if (begun) return shared;
    this.#waiting.set(key, shared);
    // It may be refused after its wait.
    shared.found.catch(() => this.#forget(key, budget));
    return shared;
  }

  /** Lets no further request share a read. */
  #forget(key: string, budget: RequestBudget): void {
    if (this.#waiting.get(key)?.budget === budget) this.#waiting.delete(key);
  }

  /** Reads when the tenant has its turn, which `begins` learns of. */
  #inTurn(readClass: TenantReadClass, read: Read, begins: () => void): Promise<Found> {
    const { budget } = read;
    const ended =
      budget && ((leave: (reason: DomainError) => void) => budget.onEnd(() => budget.ended && leave(budget.ended)));
    const work = () => {
      begins();
      return this.#read(readClass, read);
    };
    return this.#queue.during(readClass.tenantId, work, ended);
  }

  async #read(readClass: TenantReadClass, read: Read): Promise<Found> {
    const { slow } = this.connections;
    const attempt = (track: TrackQuery) =>
      this.#cancellations.guard<RawRows>(read.budget, (run) => run(track(sent(slow, read))));
    const elsewhere = await readClass.source?.find(read, (replica) => replica.slow(readClass, read));
    if (elsewhere) return elsewhere;
    try {
      const rows = await this.connections.retried(slow, attempt);
      return { rows, columns: rows.columns.map(({ name }) => name) };
    } catch (error) {
      if (causeOf(error).code === queryCanceled) throw tooSlow(this.limits.seconds, readClass);
      throw this.failures.reported(error);
    }
  }
}

/** A value of a statement as JSON can have it; some values of expensive reads are lists. */
const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
