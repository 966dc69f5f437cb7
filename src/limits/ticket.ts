import type { DomainError } from '../errors/problems.js';
import { type Slot, Slots } from './slots.js';

/** Called once: with nothing when the turn begins, or with the reason why there is none. */
export type Begin = (refused?: DomainError) => void;

/** Registers what gives up a wait. Returns a function that cancels the registration. */
export type Ended = (leave: (reason: DomainError) => void) => () => void;

/** A ticket that waits for a turn. */
export interface Waiting {
  ticket: Ticket;
  begin: Begin;
  until: number;
}

/** The tickets of a tenant, or of a tenant and mode. */
export class TenantQueue {
  tickets = 0;
  /** The turns that its tickets have. */
  running = 0;
  readonly waiting = new Slots<Waiting>();

  constructor(
    readonly name: string,
    /** The turns of the tenant, in both modes. */
    readonly ofTenant: { running: number } = { running: 0 },
  ) {}

  get isEmpty(): boolean {
    return this.tickets === 0;
  }
}

/** What gives turns to tickets. */
interface Host {
  take(ticket: Ticket, begin: Begin): void;
  end(ticket: Ticket, closes: boolean): void;
}

/** The place of one piece of work in a queue: it may take one turn after the other, and is closed once. */
export class Ticket {
  /** Whether it has a turn now. */
  running = false;
  /** How many turns it takes. */
  weight = 1;
  /** Its place among those that wait; undefined when it does not wait. */
  slot: Slot<Waiting> | undefined;
  protected closed = false;

  constructor(
    private readonly host: Host,
    readonly queue: TenantQueue,
  ) {}

  /** Takes a turn and calls `begin`, at once when a turn is free; never calls it after the ticket was closed. */
  take(begin: Begin): void {
    if (!this.closed) this.host.take(this, begin);
  }

  /** Resolves when the turn begins, and rejects when there is none. */
  begun(ended?: Ended): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = ended?.((reason) => {
        this.close();
        reject(reason);
      });
      this.take((refused) => {
        forget?.();
        if (refused) reject(refused);
        else resolve();
      });
    });
  }

  /** Gives the turn back, or gives up waiting for it. The ticket may take another one. */
  release(): void {
    if (!this.closed) this.host.end(this, false);
  }

  /** Gives the turn back for good. Only the first call counts. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.host.end(this, true);
  }
}
