import { DomainError, problem } from '../request/problems.js';
import { Slots } from '../request/slots.js';

/** A statement that takes longer than this starts a check whether the server is available. */
export const slowMilliseconds = 1_000;

/** The bounds of the attempts at a statement. */
export interface Attempts {
  /** When they end, by `performance.now()`; without it, the pool's `answerMilliseconds` after the start. */
  until?: number;
  /** When the wait for a turn ends; without it, at `until`. */
  beginsBy?: number;
  /** Whether the caller repeats the statement itself. */
  once?: boolean;
}

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

/** Ends the wait for a turn in time: `leave` gets the reason. Returns a function that forgets it. */
export function endsWait({ until, beginsBy = until }: Attempts = {}) {
  if (beginsBy === undefined) return undefined;
  return (leave: (reason: DomainError) => void) => {
    const timer = setTimeout(() => leave(busy()), beginsBy - performance.now());
    return () => clearTimeout(timer);
  };
}

/** The 503 error for a database that cannot serve a request now. */
export function busy(): DomainError {
  return new DomainError(problem('service_unavailable'));
}
