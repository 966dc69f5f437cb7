import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientLeft, RequestBudget, type RequestLimits, tooLate } from '../request/budget.js';

/**
 * Follows a request to its end: it ends early when its client disconnects, and, once its time is started, when that is
 * over. Then it is answered at once, whatever it still waits for: a write goes on, and its outcome is found by its key.
 */
export function watch(request: FastifyRequest, reply: FastifyReply, limits: RequestLimits): void {
  const budget = new RequestBudget(limits);
  let timer: NodeJS.Timeout | undefined;
  request.budget = budget;
  request.startTime = () => {
    clearTimeout(timer);
    budget.start();
    timer = setTimeout(() => {
      budget.end(tooLate(limits.seconds));
      if (!reply.sent) reply.header('retry-after', '1').send(budget.ended);
    }, limits.seconds * 1_000);
  };
  reply.raw.once('close', () => {
    clearTimeout(timer);
    if (!reply.raw.writableFinished) budget.end(clientLeft());
  });
}

/**
 * Takes a step of a request and goes on, at once where there was nothing to wait for: most steps of most requests are
 * such, and a promise for each would cost more than they do.
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

/** Whether a text has more bytes than so many; of most texts their length tells. */
export function isLarger(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}
