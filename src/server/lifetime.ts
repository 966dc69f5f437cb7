import type { FastifyReply, FastifyRequest } from 'fastify';
import { Line, Linked } from '../request/line.js';
import { clientLeft, RequestBudget, type RequestLimits, tooLate } from '../request/budget.js';

const lookMilliseconds = 50;

/** A request with a time limit. */
class Limited extends Linked<Limited> {
  until = Number.POSITIVE_INFINITY;

  constructor(readonly end: () => void) {
    super();
  }
}

/**
 * The requests whose time limits run. All limits are equally long, so the request that began first ends first. One timer
 * serves them all, because a timer for each request takes three times the CPU.
 */
export class TimeLimits {
  readonly #running = new Line<Limited>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly seconds: number) {}

  /** Starts the time limit of a request, or starts it again. */
  start(request: Limited): void {
    request.until = performance.now() + this.seconds * 1_000;
    this.#running.leave(request);
    this.#running.join(request);
    this.#timer ??= setInterval(() => this.#look(), lookMilliseconds);
  }

  /** Forgets a request, which has its answer or no client. */
  stop(request: Limited): void {
    this.#running.leave(request);
  }

  #look(): void {
    const now = performance.now();
    for (let request = this.#running.first; request; request = this.#running.first) {
      if (request.until > now) return;
      this.#running.leave(request);
      request.end();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Ends a request early when its client disconnects or, after `startTime`, when its time limit is over. In the second
 * case it answers at once, without waiting for running work: a write continues, and a retry with the same idempotency
 * key returns its outcome. When the request is over, its visit ends.
 */
export function watch(request: FastifyRequest, reply: FastifyReply, limits: RequestLimits, times: TimeLimits): void {
  const budget = new RequestBudget(limits);
  const limited = new Limited(() => {
    budget.end(tooLate(limits.seconds));
    if (!reply.sent) reply.header('retry-after', '1').send(budget.ended);
  });
  request.budget = budget;
  request.startTime = () => {
    budget.start();
    times.start(limited);
  };
  request.stopTime = () => times.stop(limited);
  reply.raw.on('close', () => {
    times.stop(limited);
    if (!reply.raw.writableFinished) budget.end(clientLeft());
    request.visit?.leave();
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
