import { setTimeout as sleep } from 'node:timers/promises';
import { refusesConnections } from './outage.js';
import type { Servers, ServerCheck } from './driver/servers.js';

const pauseMillisecondsMin = 50;
const pauseMillisecondsMax = 500;
/** Two checks in a row without an answer, so that one busy moment of the machine does not count as an outage. */
const silencesMax = 2;
/** Checks that are further apart are not in a row: while a server hangs, waiting statements start one each second. */
const apartMillisecondsMax = 10_000;

/**
 * Whether PostgreSQL is available, as far as the gateway knows. A statement that fails or gets no answer starts a check
 * over a new connection. While the server is known to be unavailable, only these checks contact it, again and again.
 */
export class Availability {
  #running: Promise<ServerCheck> | undefined;
  #away: Promise<void> | undefined;
  #silences = 0;
  /** When a check found no answer last. */
  #silentAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(
    private readonly servers: Servers,
    private readonly on: {
      /** Called when the server is unavailable: it will not answer the running statements. */
      away(): void;
      /** Called when the gateway uses another server from now on. */
      moved(): void;
      /** Called when no server listens. Resolves when a server should listen again. */
      restart(): Promise<void>;
      /** When the server last answered on any connection, in milliseconds of `performance.now()`. */
      answeredAt(): number;
    },
  ) {}

  /** Whether the server is known to be unavailable. */
  get away(): boolean {
    return this.#away !== undefined;
  }

  /** Checks the server; concurrent callers share one check. Afterwards `away` is its result. */
  async check(): Promise<ServerCheck> {
    this.#running ??= this.#run(false).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Resolves when the server is available again; at once when no outage is known. */
  async back(): Promise<void> {
    await this.#away;
  }

  /** Checks everything that a request needs. */
  async inspect(): Promise<ServerCheck> {
    return this.#run(true);
  }

  close(): void {
    this.#closed = true;
  }

  async #run(inspectsAll: boolean): Promise<ServerCheck> {
    const began = performance.now();
    const check = await this.servers.check(inspectsAll);
    if (this.#closed) return check;
    if (check.moved) this.on.moved();
    // A server that answers on other connections is available, even if a new connection takes long.
    const silent = check.silent && this.on.answeredAt() < began;
    const inRow = began - this.#silentAt < apartMillisecondsMax;
    this.#silences = silent ? (inRow ? this.#silences + 1 : 1) : 0;
    if (silent) this.#silentAt = began;
    const gone = check.silent ? this.#silences >= silencesMax : !check.answers;
    if (!gone) return check;
    if (!this.#away) {
      this.on.away();
      this.#away = this.#wait(check).finally(() => {
        this.#away = undefined;
      });
    }
    return check;
  }

  async #wait(check: ServerCheck): Promise<void> {
    let restarting: Promise<void> | undefined;
    for (let pause = pauseMillisecondsMin; !this.#closed; pause = Math.min(pause * 2, pauseMillisecondsMax)) {
      if (refusesConnections.test(check.error?.code ?? ''))
        restarting ??= this.on
          .restart()
          .catch(() => {})
          .finally(() => {
            restarting = undefined;
          });
      await sleep(pause);
      check = await this.servers.check();
      if (check.moved) this.on.moved();
      if (check.answers) break;
    }
    this.#silences = 0;
  }
}
