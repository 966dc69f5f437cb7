import { drizzle } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { DomainError } from '../../errors/problems.js';
import { Availability } from './availability.js';
import { busy, slowMilliseconds, within } from './deadline.js';
import { type Connection, movedRows, openClient } from './driver/connection.js';
import { exportsAtOnce, optionsOf, pollsAtOnce, type PoolOptions } from './driver/connection-options.js';
import type { PoolSettings } from './database-settings.js';
import type { PoolName } from './observer.js';
import { causeOf, mayBeOutdated, outageOf, sqlstate } from './outage.js';
import type { Servers } from './driver/servers.js';

/** Records a statement that was given to the driver, so that a connection that no longer answers is detected. */
export type TrackQuery = <Q extends PromiseLike<unknown>>(query: Q) => Q;

/** PostgreSQL answers every statement within the statement's limit, so a connection that is silent longer is dead. */
const silenceMilliseconds = 1_000;
/** How long replaced connections may continue their running statements. */
const graceSeconds = 1;

/**
 * The writes that run or wait at once. A tenant whose writes wait for a lock never has all the connections: one is left
 * for the others.
 */
export const writeLimits = ({ write, lockMilliseconds }: PoolSettings) => ({
  slots: write,
  ofTenant: write - 1,
  ticketsOfTenant: 500,
  tickets: 500,
  milliseconds: lockMilliseconds,
});

/** The settings for opening the connections. */
export interface ConnectionSettings extends PoolOptions {
  /** Called when no server listens any more: no other process would start the embedded server again. */
  restart: () => Promise<void>;
  /** Called when new connections replace those of a reader: the statements prepared on the old ones are lost. */
  onNewReader: () => void;
  /** Called before a statement is repeated. */
  onRepeat: (pool: PoolName) => void;
}

/**
 * The connections to one PostgreSQL, in one pool per purpose. Retries the statements that an outage interrupted.
 * Replaces a connection that no longer answers, and all connections when the gateway changes to another server.
 */
export class Connections {
  readonly reader: Pool;
  readonly writer: Pool;
  readonly worker: Pool;
  /** For the commit by which a process finds out whether writes are stored. */
  readonly heartbeat: Pool;
  /** For the worker's polls for work over all tenants: no request waits for them, and they wait for no batch. */
  readonly poll: Pool;
  readonly audit: Pool;
  /** For the reads whose cost grows with the rows of a tenant. */
  readonly slow: Pool;
  /** For reading whole lists. */
  readonly bulk: Pool;
  readonly availability: Availability;
  /** When each PostgreSQL backend last answered, by the driver's object for it. `#lastAnswer` is the latest of all. */
  readonly #answeredAt = new WeakMap<object, number>();
  #lastAnswer = Number.NEGATIVE_INFINITY;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(
    connection: Connection,
    private readonly servers: Servers,
    private readonly settings: ConnectionSettings,
  ) {
    const options = optionsOf(connection, settings);
    const slowMilliseconds = settings.slow.seconds * 1_000;
    const limit = settings.pools.statementMilliseconds;
    this.reader = new Pool('read', () => openClient(options.read), limit);
    this.writer = new Pool('write', () => openClient(options.write), limit);
    this.worker = new Pool('worker', () => openClient(options.worker), limit);
    this.heartbeat = new Pool('heartbeat', () => openClient(options.heartbeat), limit);
    this.poll = new Pool('poll', () => mapped(openClient(options.poll)), limit);
    this.audit = new Pool('audit', () => openClient(options.audit), limit);
    this.slow = new Pool('slow', () => openClient(options.slow), slowMilliseconds, slowMilliseconds + 1_000);
    this.bulk = new Pool('bulk', () => mapped(openClient(options.bulk)), limit);
    this.availability = new Availability(servers, {
      // An unavailable server will not answer a running statement: its request retries when the server is back.
      away: () => this.replace(0),
      moved: () => this.replace(graceSeconds),
      restart: settings.restart,
      answeredAt: () => this.#lastAnswer,
    });
  }

  /**
   * Opens new connections for all further statements. The old ones have `seconds` to finish their running statements.
   */
  replace(seconds: number, pools = this.#pools): void {
    for (const pool of pools) pool.replace(seconds);
    if (pools.includes(this.reader) || pools.includes(this.slow)) this.settings.onNewReader();
  }

  /**
   * Runs a statement, and repeats it after a failure that leaves open whether it took effect. This is safe for a read,
   * and for a write with its key. All attempts together end after the pool's `answerMilliseconds`. While the server is
   * known to be unavailable, no statement starts; a statement that started before waits for the server. Throws
   * PostgreSQL's error, or a DomainError when the time is over.
   */
  async retried<T>(pool: Pool, attempt: (track: TrackQuery) => Promise<T>): Promise<T> {
    const until = performance.now() + pool.answerMilliseconds;
    if (this.availability.away) throw busy();
    // Each connection has its own prepared statements, so a retry may find an outdated one on every connection.
    const outdatedMax = Math.max(this.settings.pools.write, this.settings.pools.read) + 1;
    let outdated = 0;
    for (let pause = 25; ; pause = Math.min(pause * 2, 500)) {
      const handed = new Handed();
      try {
        return movedRows(await this.#within(attempt(this.#trackerOf(handed)), until));
      } catch (error) {
        if (handed.unanswered && handed.query) this.#suspect(pool, handed);
        const meaning = error instanceof DomainError ? undefined : outageOf(error);
        if (meaning === undefined && mayBeOutdated(error) && outdated < outdatedMax) outdated++;
        else if (meaning === undefined || meaning === 'refused') throw error;
        else if (meaning !== 'contended') {
          const check = await this.#within(this.availability.check(), until);
          if (meaning === 'readOnly' && !check.serves && !this.servers.several) throw error;
          // The server accepts writes, so only this session is read-only: it started before the server accepted them.
          if (meaning === 'readOnly' && check.serves && !check.moved) this.replace(graceSeconds, [pool]);
          await this.#within(this.availability.back(), until);
        }
        if (performance.now() + pause > until) throw error;
        this.settings.onRepeat(pool.name);
        await new Promise((resume) => setTimeout(resume, pause * (0.5 + Math.random())));
      }
    }
  }

  /** Call this when the server has answered a statement that was not given to `retried`. */
  answered(): void {
    this.#lastAnswer = performance.now();
  }

  /** Records the statements that a connection received and answered. */
  #trackerOf(handed: Handed): TrackQuery {
    return (query) => {
      handed.query = query;
      const answered = (error?: unknown) => {
        handed.unanswered = false;
        if (error !== undefined && !sqlstate.test(causeOf(error).code ?? '')) return;
        this.#lastAnswer = performance.now();
        const state = backendOf(query);
        if (state) this.#answeredAt.set(state, this.#lastAnswer);
      };
      query.then(() => answered(), answered);
      return query;
    };
  }

  /**
   * Replaces a pool if one of its connections is dead. A network may drop a connection without any signal, and the
   * driver would keep sending statements to it for a quarter of an hour.
   */
  #suspect(pool: Pool, handed: Handed): void {
    const { client } = pool;
    const silent = pool.statementMilliseconds + silenceMilliseconds;
    const timer = setTimeout(
      () => {
        const state = backendOf(handed.query);
        if (!handed.unanswered || !state || pool.client !== client) return;
        const sign = Math.max(handed.at, this.#answeredAt.get(state) ?? 0);
        if (performance.now() - sign >= silent) this.replace(graceSeconds, [pool]);
      },
      handed.at + silent - performance.now(),
    );
    timer.unref();
  }

  /** Waits for an answer until a time limit. A long wait starts a check of the server, again and again. */
  #within<T>(answer: Promise<T>, until: number): Promise<T> {
    return within(answer, until, () => {
      const now = performance.now();
      if (this.availability.away || now < this.#checkedAt + slowMilliseconds) return;
      this.#checkedAt = now;
      void this.availability.check();
    });
  }

  /** Closes all connections. The timeout matters: without it the driver waits forever for a connection that is lost. */
  async close(): Promise<void> {
    this.availability.close();
    await Promise.all(this.#pools.map((pool) => pool.client.end({ timeout: 5 })));
  }

  get #pools(): Pool[] {
    return [this.reader, this.writer, this.worker, this.heartbeat, this.poll, this.audit, this.slow, this.bulk];
  }
}

/** How many connections each pool has at most. */
export function poolSizes({ pools, slow }: Pick<PoolOptions, 'pools' | 'slow'>): Record<PoolName, number> {
  const { read, write, worker } = pools;
  return {
    read,
    write,
    worker,
    slow: slow.connections,
    heartbeat: 1,
    poll: pollsAtOnce,
    audit: 1,
    bulk: exportsAtOnce,
  };
}

/** Connections of one kind, which can be replaced by new ones. */
export class Pool {
  client: postgres.Sql;

  constructor(
    readonly name: PoolName,
    private readonly open: () => postgres.Sql,
    /** The time limit of a statement. */
    readonly statementMilliseconds: number,
    /** The time limit of all attempts at a statement. */
    readonly answerMilliseconds = statementMilliseconds,
  ) {
    this.client = open();
  }

  /**
   * Opens new connections. A statement that still waits for the old ones after `seconds` fails: CONNECTION_DESTROYED.
   */
  replace(seconds: number): void {
    this.client.end({ timeout: seconds }).catch(() => {});
    this.client = this.open();
  }
}

/** A statement that was given to the driver. */
class Handed {
  readonly at = performance.now();
  query: PromiseLike<unknown> | undefined;
  /** True until PostgreSQL answers the statement. */
  unanswered = true;
}

/** The driver's object for the backend that has a statement. The driver's types do not declare this property. */
function backendOf(query: unknown): object | null | undefined {
  return (query as { state?: object | null }).state;
}

/** A client whose values are converted as Drizzle expects them. */
function mapped(client: postgres.Sql): postgres.Sql {
  drizzle(client);
  return client;
}
