import type { DomainError } from '../errors/problems.js';
import { type Slot, Slots } from './slots.js';

/** Called once: with nothing when the turn begins, or with the reason why there is none. */
export type Begin = (refused?: DomainError) => void;

/** Registers what gives up a wait. Returns a function that cancels the registration. */
export type Ended = (leave: (reason: DomainError) => void) => () => void;

/** A visit that waits for a turn. */
export interface Waiting {
  visit: Visit;
  begin: Begin;
  until: number;
}

/** A tenant with the visits that it has now. */
export class Key {
  visits = 0;
  /** The visits whose bodies have still to arrive, in all and by their senders. They are not among the visits above. */
  arriving = 0;
  readonly arrivingOf = new Map<string, number>();
  /** The turns that its visits have taken. */
  running = 0;
  /** How many turns a visit is expected to take, by those before it. */
  expected = 1;
  readonly waiting = new Slots<Waiting>();

  constructor(readonly name: string) {}

  /** Counts a body of a sender that has still to arrive, or no longer. */
  await(sender: string, count: 1 | -1): void {
    this.arriving += count;
    const of = (this.arrivingOf.get(sender) ?? 0) + count;
    if (of > 0) this.arrivingOf.set(sender, of);
    else this.arrivingOf.delete(sender);
  }
}

/** What gives turns to visits. */
interface Host {
  take(visit: Visit, begin: Begin): void;
  weigh(visit: Visit, weight: number): void;
  end(visit: Visit, leaves: boolean): void;
}

/** One visitor: it may take one turn after the other, and leaves once. */
export class Visit {
  /** Whether it has a turn now. */
  running = false;
  /** How many turns it takes. */
  weight = 1;
  /** Whether that is known; until then it is expected to be what the visits of its key usually take. */
  weighed = false;
  /** Its place among those that wait; undefined when it does not wait. */
  slot: Slot<Waiting> | undefined;
  #left = false;

  constructor(
    private readonly turns: Host,
    readonly key: Key,
    /** The sender whose body has still to arrive; undefined when there is none, or when it has arrived. */
    public sender?: string,
  ) {}

  /** Takes a turn and calls `begin`, at once when a turn is free; never calls it after the visitor has left. */
  take(begin: Begin): void {
    if (!this.#left) this.turns.take(this, begin);
  }

  /** Resolves when the turn begins, and rejects when there is none. */
  begun(ended?: Ended): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = ended?.((reason) => {
        this.leave();
        reject(reason);
      });
      this.take((refused) => {
        forget?.();
        if (refused) reject(refused);
        else resolve();
      });
    });
  }

  /** Says how many turns it takes, before or while it has them. */
  weigh(weight: number): void {
    if (!this.#left) this.turns.weigh(this, weight);
  }

  /** Gives the turn back, or gives up waiting for it, and stays. */
  rest(): void {
    if (!this.#left) this.turns.end(this, false);
  }

  /** Gives the turn back and leaves. Only the first call counts. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.turns.end(this, true);
  }
}
