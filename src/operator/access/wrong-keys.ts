import type { Logger } from 'pino';
import { entryJson } from '../action/actions.js';
import type { Operator } from '../operator.js';
import { ActionOutcome } from '../table.js';

/** The audit log gets at most one entry about wrong keys in this time, of all gateways together. */
const windowSeconds = 600;
const retryMilliseconds = 60_000;
/** No operator can have this name. */
const unknown = '(unknown)';

/**
 * Counts requests with wrong keys of operators in the audit log. Anybody can send any number of them, so the first
 * one is logged at once, and the others as a count, with the next one after ten minutes. The gateway's own log has
 * each.
 */
export class WrongKeys {
  #count = 0;
  /** The request with the first wrong key that the log does not have yet. */
  #first: string | null = null;
  #busy = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly operator: Operator,
    private readonly log: Logger,
  ) {}

  /** Counts a request with a wrong key. */
  add(requestId: string): void {
    this.log.warn({ requestId }, "wrong operator's key");
    this.#count++;
    this.#first ??= requestId;
    if (!this.#busy && !this.#timer) void this.#write();
  }

  /** Ends the timer. */
  close(): void {
    clearTimeout(this.#timer);
    this.#busy = true;
  }

  async #write(): Promise<void> {
    this.#busy = true;
    this.#timer = undefined;
    const [count, first] = [this.#count, this.#first];
    this.#first = null;
    const entry = entryJson(
      { operation: 'signIn', outcome: ActionOutcome.REFUSED, code: 'api_key_invalid', details: { count } },
      null,
      first!,
    );
    // After an outage, the count is written with the next attempt.
    const rows = await this.operator
      .call('append_refused_sign_ins', [unknown, JSON.stringify(entry), windowSeconds])
      .catch(() => []);
    if (rows[0]?.append_refused_sign_ins != null) this.#count -= count;
    else this.#first = first;
    this.#busy = false;
    if (this.#count > 0) this.#timer = setTimeout(() => void this.#write(), retryMilliseconds).unref();
  }
}
