import { DomainError, problem } from '../../errors/problems.js';
import { Slots } from '../../limits/slots.js';

/** A statement that takes longer than this starts a check whether the server is available. */
export const slowMilliseconds = 1_000;

/**
 * The statements that wait for an answer. One timer serves them all: a timer for each would cost as much as the
 * statement.
 */
const waiting = new Slots<{ until: number; slowAt: number; onSlow(): void; refuse(reason: unknown): void }>();
const checkMilliseconds = 100;
let timer: NodeJS.Timeout | undefined;

function checkWaiting(): void {
  const now = performance.now();
  for (const { value: one } of waiting) {
    if (!one) continue;
    if (one.until <= now) one.refuse(busy());
    else if (one.slowAt <= now) one.onSlow();
  }
  if (waiting.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/**
 * Waits for an answer until a time limit, and then throws `busy`. The outcome of a write that was given up is found by
 * its key.
 */
export function within<T>(answer: Promise<T>, until: number, onSlow: () => void): Promise<T> {
  timer ??= setInterval(checkWaiting, checkMilliseconds);
  return new Promise<T>((resolve, reject) => {
    const refuse = (reason: unknown) => {
      waiting.remove(slot);
      reject(reason as Error);
    };
    const slot = waiting.add({ until, slowAt: performance.now() + slowMilliseconds, onSlow, refuse });
    answer.then((value) => {
      waiting.remove(slot);
      resolve(value);
    }, refuse);
  });
}

/** The 503 error for a database that cannot serve a request now. */
export function busy(): DomainError {
  return new DomainError(problem('service_unavailable'));
}
