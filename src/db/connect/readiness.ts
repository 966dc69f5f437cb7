import type { Availability } from './availability.js';
import type { Pool } from './connections.js';
import type { Failures } from './failures.js';
import type { DatabaseSettings } from './database-settings.js';
import type { Servers, ServerState } from './driver/servers.js';
import { type Unready, unreadyBy } from './outage.js';

/** From this age of the last commit on, writes are not stored, whatever else succeeds. The alert rule has the same. */
const commitSecondsMax = 15;
/** How long a commit is waited for before its connection is given up, at first and at most. */
const patience = { first: 60_000, most: 3_600_000 };

/** Whether the database can serve requests now, for probes and metrics. */
export class Readiness {
  #inspection: Promise<Unready | undefined> | undefined;
  /** When a commit was acknowledged last, or the first one was tried, by `performance.now()`. */
  #committedAt: number | undefined;
  /** Why the last commit failed; undefined after one that succeeded, and while the first one is under way. */
  #failure: unknown;
  /** Whether a commit was given up, and none has ended since. Its lock on the row of this process stays for as long. */
  #givenUp = false;
  /** Since when a commit is under way, by `performance.now()`. */
  #beganAt: number | undefined;
  #waits = patience.first;

  constructor(
    private readonly hosts: Servers,
    private readonly availability: Availability,
    private readonly failures: Failures,
    private readonly heartbeat: Pool,
    /** The standbys for reads, and how old their data may be. */
    readonly replicas?: DatabaseSettings['replicas'],
  ) {}

  /**
   * Commits by a call of a function, on a connection of its own and with no other attempt: a commit that hangs, because
   * a synchronous standby or a disk does not answer, ends when it does. PostgreSQL's own limits do not end it, and each
   * further one would wait beside it. Its connection may be dead instead, so it is given up after a while, each time
   * after twice as long.
   */
  async commit(statement: string, values: (string | number)[]): Promise<void> {
    this.#beganAt = performance.now();
    this.#committedAt ??= this.#beganAt;
    const timer = setTimeout(() => {
      this.#givenUp = true;
      this.#waits = Math.min(this.#waits * 2, patience.most);
      this.heartbeat.replace(0);
    }, this.#waits);
    try {
      await this.heartbeat.client.unsafe(statement, values, { prepare: true });
      this.#committedAt = performance.now();
      this.#failure = undefined;
      this.#givenUp = false;
      this.#waits = patience.first;
    } catch (error) {
      this.#failure = error;
      throw error;
    } finally {
      this.#beganAt = undefined;
      clearTimeout(timer);
    }
  }

  /** Whether the address has several hosts. */
  get several(): boolean {
    return this.hosts.several;
  }

  /** What each host of the address says of itself. */
  servers(): Promise<ServerState[]> {
    return this.hosts.states();
  }

  /** The seconds since a commit of this process was acknowledged; undefined before it has tried one. */
  get commitAgeSeconds(): number | undefined {
    return this.#committedAt === undefined ? undefined : (performance.now() - this.#committedAt) / 1_000;
  }

  /**
   * Why the database cannot serve a request now; undefined when it can: a new connection opens, it accepts writes, the
   * disk has room, no table that every request needs is locked, and commits end. Answers soon. Concurrent callers share
   * one check.
   */
  async unready(): Promise<Unready | undefined> {
    if (this.availability.away) return 'no database';
    if (this.failures.unready) return this.failures.unready;
    this.#inspection ??= this.#inspect().finally(() => {
      this.#inspection = undefined;
    });
    return (await this.#inspection) ?? this.#uncommitted;
  }

  get #uncommitted(): Unready | undefined {
    if ((this.commitAgeSeconds ?? 0) < commitSecondsMax) return undefined;
    const now = performance.now();
    const hangs = this.#givenUp || now - (this.#beganAt ?? now) >= commitSecondsMax * 1_000;
    return hangs || this.#failure === undefined ? 'commits hang' : unreadyBy(this.#failure);
  }

  async #inspect(): Promise<Unready | undefined> {
    const { serves, error } = await this.availability.inspect();
    if (serves) return undefined;
    this.failures.reported(error);
    return unreadyBy(error);
  }
}
