import { setTimeout as sleep } from 'node:timers/promises';
import { nobodyListens } from './outage.js';
import type { Servers, Sight } from './servers.js';

const pauseMillisecondsMin = 50;
const pauseMillisecondsMax = 500;
/** Two in a row, so that one moment of a busy machine is not taken for the end of the server. */
const silencesMax = 2;

/**
 * Whether PostgreSQL can be used, as far as is known. A statement that fails or is not answered raises a doubt; a fresh
 * connection settles it. While the server is known to be away, it alone is asked again and again, and nothing else is.
 */
export class Availability {
  #looking: Promise<Sight> | undefined;
  #away: Promise<void> | undefined;
  #silences = 0;
  #closed = false;

  constructor(
    private readonly servers: Servers,
    private readonly on: {
      /** The server is away: what it was asked will not be answered. */
      away(): void;
      /** Another server is used from now on. */
      moved(): void;
      /** Nothing listens; returns when something should. */
      restart(): Promise<void>;
      /** When something was last answered on any connection, in milliseconds of `performance.now()`. */
      answeredAt(): number;
    },
  ) {}

  /** Whether the server is known to be away. */
  get away(): boolean {
    return this.#away !== undefined;
  }

  /** Looks at the server, once for all who ask meanwhile. After it, `away` is what was found. */
  async doubt(): Promise<Sight> {
    this.#looking ??= this.#look(false).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Settles when the server can be asked again, at once where nothing else is known. */
  async back(): Promise<void> {
    await this.#away;
  }

  /** Looks at everything that a request needs. */
  async inspect(): Promise<Sight> {
    return this.#look(true);
  }

  close(): void {
    this.#closed = true;
  }

  async #look(whole: boolean): Promise<Sight> {
    const began = performance.now();
    const sight = await this.servers.look(whole);
    if (this.#closed) return sight;
    if (sight.moved) this.on.moved();
    // A server that answers others is there, however long a new connection takes.
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
    let reviving: Promise<void> | undefined;
    for (let pause = pauseMillisecondsMin; !this.#closed; pause = Math.min(pause * 2, pauseMillisecondsMax)) {
      if (nobodyListens.test(sight.error?.code ?? ''))
        reviving ??= this.on
          .restart()
          .catch(() => {})
          .finally(() => {
            reviving = undefined;
          });
      await sleep(pause);
      sight = await this.servers.look();
      if (sight.moved) this.on.moved();
      if (sight.answers) break;
    }
    this.#silences = 0;
  }
}
