import { Line, Linked } from './line.js';
import { DomainError, problem } from './problems.js';

/** The bounds of what the holders of turns do at once. A key is a tenant, or a tenant and mode. */
export interface TurnLimits {
  /** The most turns at once. */
  slots: number;
  /** The most turns of one key at once. */
  perKey: number;
  /** Further turns for keys that have none, so that a key whose turns last long does not keep the others out. */
  reserve: number;
  /** The most visitors of one key, those that wait included. */
  ofKey: number;
  /** The most visitors of all keys. */
  all: number;
  /** The longest wait for a turn. */
  milliseconds: number;
}

/** Called once: with nothing when the turn begins, or with the reason why there is none. */
type Begin = (refused?: DomainError) => void;

const lookMilliseconds = 25;

/**
 * Shares a few turns between keys. A free turn goes to the waiting key that has the fewest turns, and among equals to the
 * one that has waited longest for its next; within a key to the visitor that came first. A key that is alone may have
 * them all. The number of visitors and the time of a wait are bounded: beyond them a visitor is refused with 503.
 */
export class Turns {
  /** The keys that have visitors. */
  readonly #keys = new Map<string, Key>();
  /** The keys that wait for a turn, by the number of their turns, in the order of their last turn. */
  readonly #waiting: Set<Key>[] = [];
  #visitors = 0;
  #running = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: TurnLimits,
    /** Whether few visitors may wait now: then a key of which one waits gets no further one. */
    private readonly strained: () => boolean = () => false,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The number of turns now. */
  get running(): number {
    return this.#running;
  }

  /** The number of visitors now, those that wait included. */
  get visitors(): number {
    return this.#visitors;
  }

  /** Whether another visitor of a key would be refused now. */
  isFull(name: string): boolean {
    if (this.#visitors >= this.limits.all) return true;
    const key = this.#keys.get(name);
    return key !== undefined && (key.visits >= this.limits.ofKey || (!key.waiting.isEmpty && this.strained()));
  }

  /** Admits a visitor, which may then take a turn and has to leave. Throws when there are too many. */
  visit(name: string): Visit {
    if (this.isFull(name)) throw refusal();
    const known = this.#keys.get(name);
    const key = known ?? new Key(name);
    if (!known) this.#keys.set(name, key);
    key.visits++;
    this.#visitors++;
    return new Visit(this, key);
  }

  /** Does work in a turn of its own. `ended` gives up the wait. */
  async during<T>(name: string, work: () => Promise<T>, ended?: (leave: (reason: DomainError) => void) => () => void) {
    const visit = this.visit(name);
    try {
      if (!this.#beginsNow(visit)) await visit.begun(ended);
      return await work();
    } finally {
      visit.leave();
    }
  }

  /** Begins the turn of a visit now if there is one; otherwise calls `begin` later. For `Visit` alone. */
  take(visit: Visit, begin: Begin): void {
    if (this.#beginsNow(visit)) {
      begin();
      return;
    }
    const { key } = visit;
    if (key.waiting.isEmpty) this.#queueOf(key).add(key);
    visit.begin = begin;
    visit.until = this.now() + this.limits.milliseconds;
    key.waiting.join(visit);
    this.#looking ??= setInterval(() => this.look(), lookMilliseconds);
  }

  /** Ends the turn of a visit, or its wait. For `Visit` alone. */
  end(visit: Visit, leaves: boolean): void {
    const { key } = visit;
    if (key.waiting.leave(visit) && key.waiting.isEmpty) this.#queueOf(key).delete(key);
    if (visit.running) {
      visit.running = false;
      this.#queueOf(key).delete(key);
      key.running--;
      this.#running--;
      if (!key.waiting.isEmpty) this.#queueOf(key).add(key);
    }
    if (leaves) {
      this.#visitors--;
      if (--key.visits === 0) this.#keys.delete(key.name);
    }
    this.#next();
  }

  /** Refuses the visitors that have waited too long. A timer calls it while anybody waits. */
  look(): void {
    const now = this.now();
    let waits = false;
    for (const key of this.#keys.values())
      for (let visit = key.waiting.first; visit; visit = key.waiting.first) {
        if (visit.until > now) {
          waits = true;
          break;
        }
        key.waiting.leave(visit);
        if (key.waiting.isEmpty) this.#queueOf(key).delete(key);
        visit.begin(refusal());
      }
    if (waits) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Gives free turns to the keys that wait. */
  #next(): void {
    for (let visit = this.#first(); visit && this.#admits(visit.key); visit = this.#first()) {
      const next = visit;
      const { key } = next;
      this.#queueOf(key).delete(key);
      key.waiting.leave(next);
      this.#begin(next);
      if (!key.waiting.isEmpty) this.#queueOf(key).add(key);
      // The visitor before this one has its answer sent first.
      queueMicrotask(() => next.running && next.begin());
    }
  }

  /** The visitor that gets the next free turn. */
  #first(): Visit | undefined {
    if (!this.#looking) return undefined;
    for (const keys of this.#waiting) for (const key of keys ?? []) return key.waiting.first;
    return undefined;
  }

  /**
   * Begins the turn of a visit if one is free. A key that waits has no free turn, or its limit; a visitor that comes
   * later waits behind the others of its key.
   */
  #beginsNow(visit: Visit): boolean {
    const { key } = visit;
    const begins = key.waiting.isEmpty && this.#admits(key);
    if (begins) this.#begin(visit);
    return begins;
  }

  #admits({ running }: Key): boolean {
    const { slots, perKey, reserve } = this.limits;
    return running < perKey && this.#running < slots + (running === 0 ? reserve : 0);
  }

  #begin(visit: Visit): void {
    visit.running = true;
    visit.key.running++;
    this.#running++;
  }

  #queueOf({ running }: Key): Set<Key> {
    return (this.#waiting[running] ??= new Set());
  }
}

/** A tenant with the visits that it has now. */
class Key {
  visits = 0;
  running = 0;
  readonly waiting = new Line<Visit>();

  constructor(readonly name: string) {}
}

/** One visitor: it may take one turn after the other, and leaves once. */
export class Visit extends Linked<Visit> {
  /** Whether it has a turn now. */
  running = false;
  /** What is called when its turn begins, and until when it waits for that. For `Turns` alone. */
  begin: Begin = () => {};
  until = 0;
  #left = false;

  constructor(
    private readonly turns: Turns,
    readonly key: Key,
  ) {
    super();
  }

  /** Takes a turn and calls `begin`, at once when a turn is free; never calls it after the visitor has left. */
  take(begin: Begin): void {
    if (!this.#left) this.turns.take(this, begin);
  }

  /** Resolves when the turn begins, and rejects when there is none. */
  begun(ended?: (leave: (reason: DomainError) => void) => () => void): Promise<void> {
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

const refusal = () => new DomainError(problem('service_unavailable'));
