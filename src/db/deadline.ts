import { Line, Linked } from '../request/line.js';
import { DomainError, problem } from '../request/problems.js';

/** A statement that takes longer than this starts a check whether the server is available. */
export const slowMilliseconds = 1_000;

/** The bounds of the attempts at a statement. */
export interface Attempts {
  /** When they end, by `performance.now()`; without it, the pool's `answerMilliseconds` after the start. */
  until?: number;
  /** Whether the caller repeats the statement itself. */
  once?: boolean;
}

/** A statement that waits for its answer. */
class Waiting extends Linked<Waiting> {
  slowAt = performance.now() + slowMilliseconds;

  constructor(
    readonly until: number,
    readonly onSlow: () => void,
    readonly refuse: (reason: unknown) => void,
  ) {
    super();
  }
}

/**
 * The statements that wait for an answer. One timer serves them all: a timer for each would cost as much as the
 * statement.
 */
const waiting = new Line<Waiting>();
const checkMilliseconds = 100;
let timer: NodeJS.Timeout | undefined;

function checkWaiting(): void {
  const now = performance.now();
  for (const one of waiting.members) {
    if (one.until <= now) one.refuse(busy());
    else if (one.slowAt <= now) one.onSlow();
  }
  if (!waiting.isEmpty) return;
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
      waiting.leave(one);
      reject(reason as Error);
    };
    const one = new Waiting(until, onSlow, refuse);
    waiting.join(one);
    answer.then((value) => {
      waiting.leave(one);
      resolve(value);
    }, refuse);
  });
}

/** Ends a wait when the attempts at a statement end: `leave` gets the reason. Returns a function that forgets it. */
export function endsWait({ until }: Attempts = {}) {
  if (until === undefined) return undefined;
  return (leave: (reason: DomainError) => void) => {
    const timer = setTimeout(() => leave(busy()), until - performance.now());
    return () => clearTimeout(timer);
  };
}

/** The 503 error for a database that cannot serve a request now. */
export function busy(): DomainError {
  return new DomainError(problem('service_unavailable'));
}
