import type { Availability } from './availability.js';
import type { Failures } from './failures.js';
import { type Unready, unreadyBy } from './outage.js';

/** Whether the database can serve requests now, for probes. */
export class Readiness {
  #inspection: Promise<Unready | undefined> | undefined;

  constructor(
    private readonly availability: Availability,
    private readonly failures: Failures,
  ) {}

  /**
   * Why the database cannot serve a request now; undefined when it can: a new connection opens, it accepts writes, the
   * disk has room, and no table that every request needs is locked. Answers soon. Concurrent callers share one check.
   */
  async unready(): Promise<Unready | undefined> {
    if (this.availability.away) return 'no database';
    if (this.failures.unready) return this.failures.unready;
    this.#inspection ??= this.#inspect().finally(() => {
      this.#inspection = undefined;
    });
    return this.#inspection;
  }

  async #inspect(): Promise<Unready | undefined> {
    const { serves, error } = await this.availability.inspect();
    if (serves) return undefined;
    this.failures.reported(error);
    return unreadyBy(error);
  }
}
