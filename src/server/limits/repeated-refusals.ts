import type { FastifyInstance } from 'fastify';
import type { Caller } from '../../request/caller.js';

/** How many refusals of one tenant and mode a process sends without a wait in a second. */
const atOnceMax = 20;
const windowMilliseconds = 1_000;
/**
 * How long the further ones wait: at least as every refusal said in Retry-After, and so that they end one after the
 * other, until the longest wait is reached.
 */
const delayMilliseconds = { least: 1_000, between: 5, most: 3_000 };
/** The most tenants that are counted at once. */
const countedMax = 10_000;

/**
 * Makes a tenant wait that is refused again and again for too many requests (429, 503). A client that ignores
 * Retry-After sends its next request as soon as it has the answer, and a refusal costs a good part of what an answer
 * costs, so that 64 such connections keep a process busy with refusing. Measured: docs/decisions/fair-turns.md.
 */
export class RepeatedRefusals {
  readonly #counts = new Map<string, { since: number; count: number; due: number }>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a refusal of a caller's request. Returns for how many milliseconds its answer has to wait. */
  count({ tenantId, livemode }: Pick<Caller, 'tenantId' | 'livemode'>): number {
    const { least, between, most } = delayMilliseconds;
    const key = `${tenantId}${livemode}`;
    const now = this.now();
    let counted = this.#counts.get(key);
    if (!counted || now >= counted.since + windowMilliseconds) {
      if (this.#counts.size >= countedMax) this.#counts.clear();
      counted = { since: now, count: 0, due: counted?.due ?? 0 };
      this.#counts.set(key, counted);
    }
    if (++counted.count <= atOnceMax) return 0;
    counted.due = Math.min(Math.max(now + least, counted.due + between), now + most);
    return counted.due - now;
  }

  /** Adds the hook by which answers wait. A gateway that ends lets none wait. */
  addTo(app: FastifyInstance, ends: () => boolean): void {
    app.addHook('onSend', (request, reply, _, done) => {
      const caller = (reply.statusCode === 429 || reply.statusCode === 503) && request.context?.caller;
      const wait = caller && !ends() ? this.count(caller) : 0;
      if (wait === 0) return done();
      // Some are refused in their turn, which is for others meanwhile.
      request.ticket?.release();
      setTimeout(done, wait);
    });
  }
}
