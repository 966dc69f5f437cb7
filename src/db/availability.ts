import { setTimeout as sleep } from 'node:timers/promises';
import { nobodyListens } from './outage.js';
import type { Servers, Sight } from './servers.js';

const pauseMillisecondsMin = 50;
const pauseMillisecondsMax = 500;
/** Two checks in a row without an answer, so that one busy moment of the machine does not count as an outage. */
const silencesMax = 2;

/**
 * Whether PostgreSQL is available, as far as the gateway knows. A statement that fails or gets no answer starts a check
 * over a new connection. While the server is known to be unavailable, only these checks contact it, again and again.
 */
export class Availability {
  #looking: Promise<Sight> | undefined;
  #away: Promise<void> | undefined;
  #silences = 0;
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
  async doubt(): Promise<Sight> {
    this.#looking ??= this.#look(false).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Resolves when the server is available again; at once when no outage is known. */
  async back(): Promise<void> {
    await this.#away;
  }

  /** Checks everything that a request needs. */
  async inspect(): Promise<Sight> {
    return this.#look(true);
  }

  close(): void {
    this.#closed = true;
  }

  async #look(inspectsAll: boolean): Promise<Sight> {
    const began = performance.now();
    const sight = await this.servers.look(inspectsAll);
    if (this.#closed) return sight;
    if (sight.moved) this.on.moved();
    // A server that answers on other connections is available, even if a new connection takes long.
    this.#silences = sight.silent && this.on.answeredAt() < began ? this.#silences + 1 : 0;
    const gone = sight.silent ? this.#silences >= silencesMax : !sight.answers;
    if (!gone) return sight;
    if (!this.#away) {
      this.on.away();
      this.#away = this.#wait(sight).finally(() => {
        this.#away = undefined;
      });
    }
    return sight;
  }

  async #wait(sight: Sight): Promise<void> {
    let restarting: Promise<void> | undefined;
    for (let pause = pauseMillisecondsMin; !this.#closed; pause = Math.min(pause * 2, pauseMillisecondsMax)) {
      if (nobodyListens.test(sight.error?.code ?? ''))
        restarting ??= this.on
          .restart()
          .catch(() => {})
          .finally(() => {
            restarting = undefined;
          });
      await sleep(pause);
      sight = await this.servers.look();
      if (sight.moved) this.on.moved();
      if (sight.answers) break;
    }
    this.#silences = 0;
  }
}
