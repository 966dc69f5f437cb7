import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientLeft, RequestBudget, type RequestLimits, tooLate } from '../request/budget.js';

/**
 * Ends a request early when its client disconnects or, after `startTime`, when its time limit is over. In the second
 * case it answers at once, without waiting for running work: a write continues, and a retry with the same idempotency
 * key returns its outcome.
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
