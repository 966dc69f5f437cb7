import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientLeft, RequestBudget, type RequestLimits, tooLate } from '../limits/budget.js';
import { type Slot, Slots } from '../limits/slots.js';

const pollMilliseconds = 50;

/**
 * The requests whose time limits run. All limits are equally long, so the request that began first ends first. One
 * timer serves them all, because a timer for each request takes three times the CPU.
 */
export class TimeLimits {
  readonly #running = new Slots<TimeLimit>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly seconds: number) {}

  /** Starts a time limit. For `TimeLimit` alone. */
  start(limit: TimeLimit): Slot<TimeLimit> {
    limit.until = performance.now() + this.seconds * 1_000;
    this.#timer ??= setInterval(() => this.#poll(), pollMilliseconds);
    return this.#running.add(limit);
  }

  /** Forgets a time limit. For `TimeLimit` alone. */
  stop(slot: Slot<TimeLimit>): void {
    this.#running.remove(slot);
  }

  #poll(): void {
    const now = performance.now();
    for (const { value: limit } of this.#running) {
      if (!limit) continue;
      if (limit.until > now) return;
      limit.stop();
      limit.end();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** The time limit of one request. It is an object and no closures, see docs/decisions/cheap-requests.md. */
export class TimeLimit {
  /** When it ends, by `performance.now()`. */
  until = Number.POSITIVE_INFINITY;
  #slot: Slot<TimeLimit> | undefined;

  constructor(
    private readonly times: TimeLimits,
    private readonly budget: RequestBudget,
    private readonly reply: FastifyReply,
  ) {}

  /** Starts it, or starts it again. */
  start(): void {
    this.stop();
    this.budget.start();
    this.#slot = this.times.start(this);
  }

  /** Forgets it: the request has its answer or no client, or what it waits for has a bound of its own. */
  stop(): void {
    if (this.#slot) this.times.stop(this.#slot);
    this.#slot = undefined;
  }

  /** Ends the request. */
  end(): void {
    this.budget.end(tooLate(this.budget.limits.seconds));
    if (!this.reply.sent) this.reply.header('retry-after', '1').send(this.budget.ended);
  }
}

/**
 * Ends a request early when its client disconnects or, once its time limit was started, when that is over. In the
 * second case it answers at once, without waiting for running work: a write continues, and a retry with the same
 * idempotency key returns its outcome. When the request is over, its ticket is closed.
 */
export function watch(request: FastifyRequest, reply: FastifyReply, limits: RequestLimits, times: TimeLimits): void {
  const budget = new RequestBudget(limits);
  const limit = new TimeLimit(times, budget, reply);
  request.budget = budget;
  request.timeLimit = limit;
  reply.raw.on('close', () => {
    limit.stop();
    if (!reply.raw.writableFinished) budget.end(clientLeft());
    request.ticket?.close();
  });
}

/**
 * Runs a step of a request and then calls `done`, at once when the step returns no promise. Most steps of most requests
 * return none, and a promise for each would cost more than the step itself.
 */
export function take(step: () => unknown, done: (error?: Error) => void): void {
  let waited: unknown;
  try {
    waited = step();
  } catch (error) {
    done(error as Error);
    return;
  }
  if (waited instanceof Promise) waited.then(() => done(), done);
  else done();
}

/** Whether a text has more bytes than the limit. For most texts the length alone decides. */
export function isLarger(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}
