import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { problem, DomainError } from '../request/problems.js';

const delayMilliseconds = 1_000;
const delayedMax = 20;

/**
 * The operator's key, and who gets in with it. Guessing it is bounded by its length and not by counting: whoever could
 * lock a stranger out could lock the operator out. A wrong key waits a second for its domain error, and beyond a few that
 * wait, is refused at once with 429; the right one never waits.
 */
export class Credential {
  readonly #digest: Buffer;
  #delayed = 0;

  constructor(key: string) {
    this.#digest = digestOf(key);
  }

  /** Refuses whatever is not the key, as a Bearer credential. */
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

/** Digests are equally long, whatever was sent, so that the comparison tells nothing about the key's length either. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
