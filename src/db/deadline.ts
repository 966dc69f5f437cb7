import { DomainError, problem } from '../request/problems.js';

/** A statement that takes longer raises a doubt whether the server is there at all. */
export const doubtMilliseconds = 1_000;

/** Who waits for an answer, and until when. One timer looks at all of them: one for each would cost as much as the statement. */
const waiting = new Set<{ until: number; doubtAt: number; doubt(): void; refuse(reason: unknown): void }>();
const lookMilliseconds = 100;
let looking: NodeJS.Timeout | undefined;

function look(): void {
  const now = performance.now();
  for (const one of waiting) {
    if (one.until <= now) one.refuse(busy());
    else if (one.doubtAt <= now) one.doubt();
  }
  if (waiting.size > 0) return;
  clearInterval(looking);
  looking = undefined;
}

/** What is answered in time; later nobody waits for it, and the write's key tells what became of it. */
export function within<T>(answer: Promise<T>, until: number, doubt: () => void): Promise<T> {
  looking ??= setInterval(look, lookMilliseconds);
  return new Promise<T>((resolve, reject) => {
    const refuse = (reason: unknown) => {
      waiting.delete(one);
      reject(reason as Error);
    };
    const one = { until, doubtAt: performance.now() + doubtMilliseconds, doubt, refuse };
    waiting.add(one);
    answer.then((value) => {
      waiting.delete(one);
      resolve(value);
    }, refuse);
  });
}

/** The 503 of a database that cannot serve a request now. */
export function busy(): DomainError {
  return new DomainError(problem('service_unavailable'));
}
