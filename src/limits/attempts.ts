import { LRUCache } from 'lru-cache';

/** How many attempts a sender may have made at once, and how long it takes until one more is free. */
const attemptsMax = 30;
const millisecondsOfAttempt = 2_000;
const sendersMax = 10_000;

/**
 * The attempts to end a key or session with an empty allowance, which are answered without points. One that ends
 * something is given back, so that any number of keys and sessions can be ended; one that ends nothing, such as for an
 * id that does not exist or with the idempotency key of an earlier request, is work for free, and counts.
 */
export class Attempts {
  /** When all attempts of a sender are free again. */
  readonly #freeAt = new LRUCache<string, number>({ max: sendersMax });

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts attempts of a sender; false if it has made too many. */
  claim(sender: string, attempts: number): boolean {
    const now = this.now();
    const freeAt = Math.max(this.#freeAt.get(sender) ?? 0, now) + attempts * millisecondsOfAttempt;
    if (freeAt - now > attemptsMax * millisecondsOfAttempt) return false;
    this.#freeAt.set(sender, freeAt);
    return true;
  }

  /** Gives an attempt back that has ended something. */
  giveBack(sender: string): void {
    const freeAt = this.#freeAt.get(sender);
    if (freeAt !== undefined) this.#freeAt.set(sender, freeAt - millisecondsOfAttempt);
  }
}
