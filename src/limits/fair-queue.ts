import { DomainError, problem } from '../errors/problems.js';
import type { Slot } from './slots.js';
import { type Begin, type Ended, Key, Visit, type Waiting } from './ticket.js';

/** The bounds of what the holders of turns do at once. A key is a tenant, or a tenant and mode. */
export interface TurnLimits {
  /** The most turns at once. */
  slots: number;
  /** The most turns at once while several keys have visitors, so that a turn begins soon; by default `slots`. */
  shared?: number;
  /** The most turns of one key at once. */
  perKey: number;
  /**
   * Further turns for keys that have none, or fewer than their equal share of the turns, so that a key whose turns last
   * long does not keep the others waiting.
   */
  reserve: number;
  /** The most visitors of one key, those that wait included. */
  ofKey: number;
  /** The same while several keys have visitors; by default `ofKey`. */
  ofKeyShared?: number;
  /** The most visitors of all keys. */
  all: number;
  /** The longest wait for a turn. */
  milliseconds: number;
}

const lookMilliseconds = 25;
/** How long two keys share the turns after both had a visitor. */
const sharedMilliseconds = 1_000;
/** How much the last visit counts for what the next one of its key is expected to weigh. */
const lastShare = 0.25;

/**
 * Shares a few turns between keys. A visit with more work takes several turns at once. A free turn goes to the waiting
 * key that has the fewest turns, and among equals to the one that has waited longest for its next; within a key to the
 * visitor that came first. A key that is alone may have them all. The number of visitors and the time of a wait are
 * bounded: beyond them a visitor is refused with 503.
 */
export class Turns {
  /** The keys that have visitors. */
  readonly #keys = new Map<string, Key>();
  /** The keys that wait for a turn, by the number of their turns, in the order of their last turn. */
  readonly #waiting: Set<Key>[] = [];
  #visitors = 0;
  /** The visitors whose bodies have still to arrive, which are not among those above. */
  #arriving = 0;
  /** The turns that are taken, and the visitors that have them. */
  #running = 0;
  #working = 0;
  /** The key of the last visitor and when it came, and until when several keys share the turns. */
  #lastName: string | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #sharedUntil = Number.NEGATIVE_INFINITY;
  #looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: TurnLimits,
    /** Whether few visitors may wait now: then a key of which one waits gets no further one. */
    private readonly strained: () => boolean = () => false,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The number of turns that are taken now. */
  get running(): number {
    return this.#running;
  }

  /** The number of visitors now that have turns. */
  get working(): number {
    return this.#working;
  }

  /** The number of visitors now, those that wait included. */
  get visitors(): number {
    return this.#visitors;
  }

  /** Whether another visitor of a key would be refused now. */
  isFull(name: string): boolean {
    if (this.#visitors >= this.limits.all) return true;
    const key = this.#keys.get(name);
    if (key === undefined) return false;
    const { ofKey, ofKeyShared = ofKey } = this.limits;
    const most = key.visits >= ofKeyShared && this.now() < this.#sharedUntil ? ofKeyShared : ofKey;
    return key.visits >= most || (key.waiting.size > 0 && this.strained());
  }

  /**
   * Admits a visitor, which may then take a turn and has to leave. Throws when there are too many. One with a sender
   * has a body that has still to arrive, and counts only when it takes its first turn: until then it takes no place of
   * its key, which has other senders.
   */
  visit(name: string, sender?: string): Visit {
    if (sender === undefined ? this.isFull(name) : this.#isCrowded(name, sender)) throw refusal();
    const known = this.#keys.get(name);
    const key = known ?? new Key(name);
    if (!known) this.#keys.set(name, key);
    if (sender === undefined) this.#enter(key);
    else this.#await(key, sender, 1);
    return new Visit(this, key, sender);
  }

  #enter(key: Key): void {
    key.visits++;
    this.#visitors++;
    if (this.limits.shared !== undefined) this.#share(key.name);
  }

  /**
   * Whether another body of a sender would be too much. A sender may have one more while it has fewer than are free for
   * its key, and a key while it has fewer than are free for all: so that some are free for another one, whatever the
   * number of those that send slowly. There is none more while bodies and visitors are `all`: it bounds their memory.
   */
  #isCrowded(name: string, sender: string): boolean {
    if (this.isFull(name)) return true;
    const key = this.#keys.get(name);
    const { ofKey, ofKeyShared = ofKey, all } = this.limits;
    const most = this.now() < this.#sharedUntil ? ofKeyShared : ofKey;
    const arriving = key?.arriving ?? 0;
    return arriving >= all - this.#visitors - this.#arriving || (key?.arrivingOf.get(sender) ?? 0) >= most - arriving;
  }

  #await(key: Key, sender: string, count: 1 | -1): void {
    key.await(sender, count);
    this.#arriving += count;
  }

  /** Counts a visitor whose body has arrived, if there are not too many. */
  #arrives(visit: Visit): boolean {
    const { key, sender } = visit;
    if (sender === undefined) return true;
    if (this.isFull(key.name)) return false;
    visit.sender = undefined;
    this.#await(key, sender, -1);
    this.#enter(key);
    return true;
  }

  /** Notes whether several keys have visitors. */
  #share(name: string): void {
    const now = this.now();
    if (name !== this.#lastName && now < this.#lastAt + sharedMilliseconds)
      this.#sharedUntil = now + sharedMilliseconds;
    this.#lastName = name;
    this.#lastAt = now;
  }

  /** Does work in a turn of its own. `ended` gives up the wait. */
  async during<T>(name: string, work: (visit: Visit) => Promise<T>, ended?: Ended): Promise<T> {
    const visit = this.visit(name);
    try {
      if (!this.#beginsNow(visit)) await visit.begun(ended);
      return await work(visit);
    } finally {
      visit.leave();
    }
  }

  /** Begins the turn of a visit now if there is one; otherwise calls `begin` later. For `Visit` alone. */
  take(visit: Visit, begin: Begin): void {
    if (!this.#arrives(visit)) {
      begin(refusal());
      return;
    }
    if (this.#beginsNow(visit)) {
      begin();
      return;
    }
    const { key } = visit;
    visit.slot = key.waiting.add({ visit, begin, until: this.now() + this.limits.milliseconds });
    if (key.waiting.size === 1) this.#queueOf(key).add(key);
    this.#looking ??= setInterval(() => this.look(), lookMilliseconds);
  }

  /** Ends the turn of a visit, or its wait. For `Visit` alone. */
  end(visit: Visit, leaves: boolean): void {
    const { key } = visit;
    if (visit.slot) this.#leave(visit, visit.slot);
    if (visit.running) {
      visit.running = false;
      this.#working--;
      this.#queueOf(key).delete(key);
      this.#count(visit, -visit.weight);
      if (key.waiting.size > 0) this.#queueOf(key).add(key);
    }
    if (leaves) {
      if (visit.sender === undefined) {
        this.#visitors--;
        key.visits--;
      } else this.#await(key, visit.sender, -1);
      if (key.visits + key.arriving === 0) this.#keys.delete(key.name);
    }
    this.#next();
  }

  /**
   * Changes how many turns a visit takes, at most an eighth of all. A visit that has turns does not wait for more. For
   * `Visit` alone.
   */
  weigh(visit: Visit, wanted: number): void {
    const { key } = visit;
    const weight = Math.min(wanted, Math.ceil(this.limits.slots / 8));
    key.expected += (weight - key.expected) * lastShare;
    if (visit.running && weight !== visit.weight) {
      if (key.waiting.size > 0) this.#queueOf(key).delete(key);
      this.#count(visit, weight - visit.weight);
      if (key.waiting.size > 0) this.#queueOf(key).add(key);
    }
    const freed = visit.running && weight < visit.weight;
    visit.weight = weight;
    visit.weighed = true;
    if (freed) this.#next();
  }

  /** Refuses the visitors that have waited too long. A timer calls it while anybody waits. */
  look(): void {
    const now = this.now();
    let waits = false;
    for (const key of this.#keys.values())
      for (const slot of key.waiting) {
        const { visit, begin, until } = slot.value!;
        if (until > now) {
          waits = true;
          break;
        }
        this.#leave(visit, slot);
        begin(refusal());
      }
    if (waits) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Ends the wait of a visit. */
  #leave(visit: Visit, slot: Slot<Waiting>): void {
    const { key } = visit;
    key.waiting.remove(slot);
    visit.slot = undefined;
    if (key.waiting.size === 0) this.#queueOf(key).delete(key);
  }

  /** Gives free turns to the keys that wait. */
  #next(): void {
    for (let turn = this.#first(); turn && this.#admits(turn.visit.key); turn = this.#first()) {
      const { visit, begin } = turn;
      const { key } = visit;
      this.#queueOf(key).delete(key);
      key.waiting.remove(visit.slot!);
      visit.slot = undefined;
      this.#begin(visit);
      if (key.waiting.size > 0) this.#queueOf(key).add(key);
      // The visitor before this one has its answer sent first.
      queueMicrotask(() => visit.running && begin());
    }
  }

  /** The visitor that gets the next free turn. */
  #first(): Waiting | undefined {
    if (!this.#looking) return undefined;
    for (const keys of this.#waiting) for (const key of keys ?? []) for (const { value } of key.waiting) return value;
    return undefined;
  }

  /**
   * Begins the turn of a visit if one is free. A key that waits has no free turn, or its limit; a visitor that comes
   * later waits behind the others of its key.
   */
  #beginsNow(visit: Visit): boolean {
    const { key } = visit;
    const begins = key.waiting.size === 0 && this.#admits(key);
    if (begins) this.#begin(visit);
    return begins;
  }

  #admits({ running }: Key): boolean {
    const { slots, perKey, reserve, shared = slots } = this.limits;
    const now = shared < slots && this.now() < this.#sharedUntil ? shared : slots;
    const share = Math.max(Math.floor(now / this.#keys.size), 1);
    return running < Math.min(perKey, now) && this.#running < now + (running < share ? reserve : 0);
  }

  #begin(visit: Visit): void {
    visit.running = true;
    this.#working++;
    if (!visit.weighed) visit.weight = Math.max(Math.round(visit.key.expected), 1);
    this.#count(visit, visit.weight);
  }

  #count({ key }: Visit, turns: number): void {
    key.running += turns;
    this.#running += turns;
  }

  #queueOf({ running }: Key): Set<Key> {
    return (this.#waiting[running] ??= new Set());
  }
}

const refusal = () => new DomainError(problem('service_unavailable'));
