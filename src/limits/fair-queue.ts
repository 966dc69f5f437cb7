import { type QueueName, queueRefusal } from './queue-refusal.js';
import { type Begin, type Ended, TenantQueue, Ticket, type Waiting } from './ticket.js';

/** The bounds of a queue. */
export interface QueueLimits {
  /** The most turns at once. */
  slots: number;
  /** The most turns of one tenant at once. */
  ofTenant: number;
  /** The most tickets of one tenant, and of all: of those that wait and those that have a turn. */
  ticketsOfTenant: number;
  tickets: number;
  /** The longest wait for a turn. */
  milliseconds: number;
}

const pollMilliseconds = 25;

/**
 * Shares a few turns between tenants. A free turn goes to the tenant that waits and has the fewest turns, and among
 * equals to the one that has waited longest for its next; of a tenant to the ticket that came first. The number of
 * tickets and the time of a wait are bounded: what is beyond the bounds is refused with 503, which names the queue.
 */
export class FairQueue<Q extends TenantQueue = TenantQueue> {
  /** The tenants that have tickets. */
  protected readonly queues = new Map<string, Q>();
  /** The tenants that wait for a turn, by the number of their turns, in the order of their last turn. */
  readonly #waiting: Set<TenantQueue>[] = [];
  /** The tickets now, the turns that are taken, and the tickets that have these. */
  tickets = 0;
  running = 0;
  working = 0;
  #poller: NodeJS.Timeout | undefined;

  constructor(
    readonly name: QueueName,
    protected readonly limits: QueueLimits,
    protected readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether another ticket of a tenant would be refused now. */
  isFull(tenant: string): boolean {
    const { tickets, ticketsOfTenant } = this.limits;
    return this.tickets >= tickets || (this.queues.get(tenant)?.tickets ?? 0) >= ticketsOfTenant;
  }

  /**
   * Does work in a turn. `ended` gives up the wait. A tenant whose modes wait apart has several names: `names` are all
   * of them, which share the turns that one tenant may have.
   */
  async during<T>(
    tenant: string,
    work: (ticket: Ticket) => Promise<T>,
    ended?: Ended,
    names: readonly string[] = [],
  ): Promise<T> {
    if (this.isFull(tenant)) throw queueRefusal(this.name);
    const ticket = this.admit(this.queueOf(tenant, names));
    try {
      if (!this.#beginsNow(ticket)) await ticket.begun(ended);
      return await work(ticket);
    } finally {
      ticket.close();
    }
  }

  protected queueOf(tenant: string, names: readonly string[] = []): Q {
    const known = this.queues.get(tenant);
    if (known) return known;
    const other = names.find((name) => this.queues.has(name));
    const queue = this.opened(tenant, other === undefined ? undefined : this.queues.get(other)!.ofTenant);
    this.queues.set(tenant, queue);
    return queue;
  }

  /** A new queue of a tenant. */
  protected opened(tenant: string, turns?: { running: number }): Q {
    return new TenantQueue(tenant, turns) as Q;
  }

  /** A ticket that counts from now on. */
  protected admit(queue: Q): Ticket {
    queue.tickets++;
    this.tickets++;
    return new Ticket(this, queue);
  }

  /** Begins the turn of a ticket now if there is one; otherwise calls `begin` later. For `Ticket` alone. */
  take(ticket: Ticket, begin: Begin): void {
    if (this.#beginsNow(ticket)) {
      begin();
      return;
    }
    const { waiting } = ticket.queue;
    ticket.slot = waiting.add({ ticket, begin, until: this.now() + this.limits.milliseconds });
    if (waiting.size === 1) this.#bucketOf(ticket.queue).add(ticket.queue);
    this.#poller ??= setInterval(() => this.poll(), pollMilliseconds);
  }

  /** Ends the turn of a ticket, or its wait. For `Ticket` alone. */
  end(ticket: Ticket, closes: boolean): void {
    const { queue } = ticket;
    this.#unwait(ticket);
    if (ticket.running) {
      ticket.running = false;
      this.working--;
      this.count(queue, -ticket.weight);
    }
    if (closes) this.closed(ticket);
    this.next();
  }

  /** Counts a ticket no longer. */
  protected closed({ queue }: Ticket): void {
    this.tickets--;
    queue.tickets--;
    if (queue.isEmpty) this.queues.delete(queue.name);
  }

  /** Refuses the tickets that have waited too long. A timer calls it while any waits. */
  poll(): void {
    const now = this.now();
    let waits = false;
    for (const { waiting } of this.queues.values())
      for (const { value } of waiting) {
        const { ticket, begin, until } = value!;
        if (until > now) {
          waits = true;
          break;
        }
        this.#unwait(ticket);
        begin(queueRefusal(this.name));
      }
    if (waits) return;
    clearInterval(this.#poller);
    this.#poller = undefined;
  }

  /** Gives free turns to the tenants that wait. */
  protected next(): void {
    for (let first = this.#first(); first && this.admits(first.ticket.queue as Q); first = this.#first()) {
      const { ticket, begin } = first;
      this.#unwait(ticket);
      this.start(ticket);
      // The answer of the ticket before this one is sent first.
      queueMicrotask(() => ticket.running && begin());
    }
  }

  /** The ticket that gets the next free turn. */
  #first(): Waiting | undefined {
    if (!this.#poller) return undefined;
    for (const bucket of this.#waiting)
      for (const { ofTenant, waiting } of bucket ?? [])
        if (ofTenant.running < this.limits.ofTenant) for (const { value } of waiting) return value;
    return undefined;
  }

  /** Begins the turn of a ticket if one is free. A ticket that comes later waits behind the others of its tenant. */
  #beginsNow(ticket: Ticket): boolean {
    const { waiting, ofTenant } = ticket.queue;
    const begins = waiting.size === 0 && ofTenant.running < this.limits.ofTenant && this.admits(ticket.queue as Q);
    if (begins) this.start(ticket);
    return begins;
  }

  /** Whether a tenant that is below its own bound may have a further turn. */
  protected admits(_queue: Q): boolean {
    return this.running < this.limits.slots;
  }

  protected start(ticket: Ticket): void {
    ticket.running = true;
    this.working++;
    this.count(ticket.queue, ticket.weight);
  }

  /** Counts turns of a tenant, which then waits behind the others with as many. */
  protected count(queue: TenantQueue, turns: number): void {
    this.#bucketOf(queue).delete(queue);
    queue.running += turns;
    queue.ofTenant.running += turns;
    this.running += turns;
    if (queue.waiting.size > 0) this.#bucketOf(queue).add(queue);
  }

  /** Ends the wait of a ticket. */
  #unwait(ticket: Ticket): void {
    const { queue, slot } = ticket;
    if (!slot) return;
    queue.waiting.remove(slot);
    ticket.slot = undefined;
    if (queue.waiting.size === 0) this.#bucketOf(queue).delete(queue);
  }

  #bucketOf({ running }: TenantQueue): Set<TenantQueue> {
    return (this.#waiting[running] ??= new Set());
  }
}
