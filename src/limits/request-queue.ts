import { FairQueue, type QueueLimits } from './fair-queue.js';
import { type QueueName, queueRefusal } from './queue-refusal.js';
import { type Begin, type Ended, TenantQueue, Ticket } from './ticket.js';

/** The bounds of a queue of requests. A tenant in them is a tenant and mode. */
export interface RequestQueueLimits extends QueueLimits {
  /**
   * Further turns for tenants that have none, or fewer than their equal share, so that a tenant whose turns last long
   * does not keep the others waiting.
   */
  guaranteed: number;
  /** The bounds while several tenants have requests, so that a turn begins soon; by default those above. */
  contended?: { slots: number; ticketsOfTenant: number };
}

/** How long two tenants contend for turns after both had a request. */
const contendedMilliseconds = 1_000;
/** How much the last request counts for what the next one of its tenant is expected to weigh. */
const lastShare = 0.25;

/** The requests of a tenant and mode. */
class RequestsOfTenant extends TenantQueue {
  /** The requests whose bodies have still to arrive, by their senders. They are not among the tickets that count. */
  arriving = 0;
  readonly arrivingOf = new Map<string, number>();
  /** How many turns a request is expected to take, by those before it. */
  expected = 1;

  override get isEmpty(): boolean {
    return this.tickets + this.arriving === 0;
  }

  /** Counts a body of a sender that has still to arrive, or no longer. */
  await(sender: string, count: 1 | -1): void {
    this.arriving += count;
    const of = (this.arrivingOf.get(sender) ?? 0) + count;
    if (of > 0) this.arrivingOf.set(sender, of);
    else this.arrivingOf.delete(sender);
  }
}

/** The place of a request in a queue. */
export class RequestTicket extends Ticket {
  /** Whether it is known how many turns it takes; until then as many are expected as its tenant's requests take. */
  weighed = false;

  constructor(
    private readonly requests: RequestQueue,
    override readonly queue: RequestsOfTenant,
    /** The sender whose body has still to arrive; undefined when there is none, or when it has arrived. */
    public sender: string | undefined,
  ) {
    super(requests, queue);
  }

  /** Says how many turns it takes, before or while it has them. */
  weigh(weight: number): void {
    if (!this.closed) this.requests.weigh(this, weight);
  }
}

/** Shares turns between the requests of tenants. A request with more work takes several turns at once. */
export class RequestQueue extends FairQueue<RequestsOfTenant> {
  /** The requests whose bodies have still to arrive, which are not among the tickets. */
  #arriving = 0;
  /** The tenant of the last request and when it came, and until when several tenants contend. */
  #lastTenant: string | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #contendedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    name: QueueName,
    protected override readonly limits: RequestQueueLimits,
    /** Whether few requests may wait now: then a tenant of which one waits gets no further one. */
    private readonly overloaded: () => boolean = () => false,
    now?: () => number,
  ) {
    super(name, limits, now);
  }

  override isFull(tenant: string): boolean {
    if (super.isFull(tenant)) return true;
    const queue = this.queues.get(tenant);
    if (queue === undefined) return false;
    return queue.tickets >= this.#bounds.ticketsOfTenant || (queue.waiting.size > 0 && this.overloaded());
  }

  /** The bounds now. */
  get #bounds(): { slots: number; ticketsOfTenant: number } {
    const { contended } = this.limits;
    return contended && this.now() < this.#contendedUntil ? contended : this.limits;
  }

  /**
   * Admits a request, which may then take turns and has to be closed. Throws when there are too many. One with a sender
   * has a body that has still to arrive, and counts only when it takes its first turn: until then it takes no place of
   * its tenant, which has other senders.
   */
  enter(tenant: string, sender?: string): RequestTicket {
    if (sender === undefined ? this.isFull(tenant) : this.#isCrowded(tenant, sender)) throw queueRefusal(this.name);
    const queue = this.queueOf(tenant);
    if (sender === undefined) return this.admit(queue) as RequestTicket;
    this.#await(queue, sender, 1);
    return new RequestTicket(this, queue, sender);
  }

  /** Does work in a turn of its own. `ended` gives up the wait. */
  override during<T>(tenant: string, work: (ticket: RequestTicket) => Promise<T>, ended?: Ended): Promise<T> {
    return super.during(tenant, work as (ticket: Ticket) => Promise<T>, ended);
  }

  protected override opened(tenant: string): RequestsOfTenant {
    return new RequestsOfTenant(tenant);
  }

  protected override admit(queue: RequestsOfTenant): Ticket {
    this.#enter(queue);
    return new RequestTicket(this, queue, undefined);
  }

  #enter(queue: RequestsOfTenant): void {
    queue.tickets++;
    this.tickets++;
    if (!this.limits.contended) return;
    const now = this.now();
    if (queue.name !== this.#lastTenant && now < this.#lastAt + contendedMilliseconds)
      this.#contendedUntil = now + contendedMilliseconds;
    this.#lastTenant = queue.name;
    this.#lastAt = now;
  }

  /**
   * Whether another body of a sender would be too much. A sender may have one more while it has fewer than are free for
   * its tenant, and a tenant while it has fewer than are free for all: so that some are free for another one, whatever
   * the number of those that send slowly. There is none more while bodies and requests are `tickets`: it bounds their
   * memory.
   */
  #isCrowded(tenant: string, sender: string): boolean {
    if (this.isFull(tenant)) return true;
    const { arriving = 0, arrivingOf } = this.queues.get(tenant) ?? {};
    if (arriving >= this.limits.tickets - this.tickets - this.#arriving) return true;
    return (arrivingOf?.get(sender) ?? 0) >= this.#bounds.ticketsOfTenant - arriving;
  }

  #await(queue: RequestsOfTenant, sender: string, count: 1 | -1): void {
    queue.await(sender, count);
    this.#arriving += count;
  }

  /** The turn of a request whose body has arrived, if there are not too many by then. For `Ticket` alone. */
  override take(ticket: RequestTicket, begin: Begin): void {
    const { queue, sender } = ticket;
    if (sender !== undefined) {
      if (this.isFull(queue.name)) {
        begin(queueRefusal(this.name));
        return;
      }
      ticket.sender = undefined;
      this.#await(queue, sender, -1);
      this.#enter(queue);
    }
    super.take(ticket, begin);
  }

  protected override closed(ticket: RequestTicket): void {
    const { queue, sender } = ticket;
    if (sender === undefined) super.closed(ticket);
    else {
      this.#await(queue, sender, -1);
      if (queue.isEmpty) this.queues.delete(queue.name);
    }
  }

  /**
   * Changes how many turns a request takes, at most an eighth of all. A request that has turns does not wait for more.
   * For `RequestTicket` alone.
   */
  weigh(ticket: RequestTicket, wanted: number): void {
    const { queue } = ticket;
    const weight = Math.min(wanted, Math.ceil(this.limits.slots / 8));
    queue.expected += (weight - queue.expected) * lastShare;
    const more = ticket.running ? weight - ticket.weight : 0;
    ticket.weight = weight;
    ticket.weighed = true;
    if (more !== 0) this.count(queue, more);
    if (more < 0) this.next();
  }

  protected override start(ticket: RequestTicket): void {
    if (!ticket.weighed) ticket.weight = Math.max(Math.round(ticket.queue.expected), 1);
    super.start(ticket);
  }

  protected override admits({ running }: RequestsOfTenant): boolean {
    const { slots } = this.#bounds;
    const share = Math.max(Math.floor(slots / this.queues.size), 1);
    return running < slots && this.running < slots + (running < share ? this.limits.guaranteed : 0);
  }
}
