import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { problem, DomainError } from '../request/problems.js';

const delayMilliseconds = 1_000;
const delayedMax = 20;

/**
 * Checks the operator's key. The length of the key makes guessing infeasible. Failed attempts are not counted, because
 * a stranger who causes a lock-out would also lock out the operator. A request with a wrong key waits a second for its
 * domain error; while 20 such requests wait, further ones get 429 at once. A request with the right key never waits.
 */
export class Credential {
  readonly #digest: Buffer;
  #delayed = 0;

  constructor(key: string) {
    this.#digest = digestOf(key);
  }

  /** Refuses a request whose Authorization header does not carry the key as a Bearer credential. */
  async check(authorization: string | undefined): Promise<void> {
    const [, given] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (given === undefined)
      throw new DomainError(
        problem('authentication_required', undefined, "Send the operator's key, as Authorization: Bearer <key>."),
      );
    if (timingSafeEqual(digestOf(given), this.#digest)) return;
    if (this.#delayed >= delayedMax) throw new DomainError(problem('rate_limit_exceeded'));
    this.#delayed++;
    try {
      await sleep(delayMilliseconds);
    } finally {
      this.#delayed--;
    }
    throw new DomainError(problem('api_key_invalid', undefined, "This is not the operator's key."));
  }
}

/** Digests always have the same length, so the time of the comparison does not reveal the length of the key. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
