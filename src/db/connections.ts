import { makePgArray } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { parse } from 'postgres-array';
import { DomainError } from '../request/problems.js';
import { Availability } from './availability.js';
import { busy, doubtMilliseconds, within } from './deadline.js';
import type { Connection } from './connection.js';
import { causeOf, mayBeOutdated, outageOf, sqlstate } from './outage.js';
import type { Servers } from './servers.js';

/** Notes a statement that was handed to the driver, so that a connection which answers nothing is found. */
export type Note = <Q extends PromiseLike<unknown>>(query: Q) => Q;

/** Everything together: waiting for a connection, attempts, and what it takes until the server is back. */
const answerMillisecondsMax = 5_000;
export const lockMillisecondsMax = 2_000;
export const statementMillisecondsMax = 5_000;
const auditQueryMillisecondsMax = 600_000;
/** Every statement is answered within its own limit; a connection that is silent for longer is dead. */
const silenceMillisecondsMax = statementMillisecondsMax + 1_000;
/** How long connections that are replaced may go on with what they have under way. */
const graceSeconds = 1;

const poolSize = { read: 2, write: 5 };
/** Each connection has prepared statements of its own, so a repeated statement may meet an outdated one on each of them. */
const outdatedMax = poolSize.write + 1;

/** What the connections are opened with. */
export interface ConnectionSettings {
  /** Asked when nothing listens any more: the embedded server has no other process that would start it again. */
  restart: () => Promise<void>;
  /** Without it, a crash of the server may take the last moments with it. */
  durable: boolean;
  /** Called when the connections of the reader are replaced by new ones: what was prepared on them is gone. */
  onNewReader: () => void;
}

/**
 * The connections to one PostgreSQL, in pools by purpose, and the repetition of what an outage has interrupted. A
 * connection that answers nothing is replaced, and so are all of them when another server is used from now on.
 */
export class Connections {
  readonly reader: Pool;
  readonly writer: Pool;
  readonly audit: Pool;
  readonly availability: Availability;
  /** When each backend of PostgreSQL, as the driver knows it, last answered; of all of them, the latest. */
  readonly #answeredAt = new WeakMap<object, number>();
  #lastAnswer = Number.NEGATIVE_INFINITY;
  #doubtedAt = Number.NEGATIVE_INFINITY;

  constructor(
    connection: Connection,
    servers: Servers,
    private readonly settings: ConnectionSettings,
  ) {
    const options = optionsOf(connection, settings.durable);
    this.reader = new Pool(() => postgres(options.read));
    this.writer = new Pool(() => postgres(options.write));
    this.audit = new Pool(() => postgres(options.audit));
    this.availability = new Availability(servers, {
      // A statement under way on a server that is away will not be answered: its request tries again when the server is back.
      away: () => this.replace(0),
      moved: () => this.replace(graceSeconds),
      restart: settings.restart,
      answeredAt: () => this.#lastAnswer,
    });
  }

  /** New connections for everything from now on. The old ones have so long to finish what is under way. */
  replace(seconds: number, pools = [this.reader, this.writer, this.audit]): void {
    for (const pool of pools) pool.replace(seconds);
    if (pools.includes(this.reader)) this.settings.onNewReader();
  }

  /**
   * The answer to a statement, which is repeated after a failure that says that it may not have been done: a read, or a
   * write with its key. All of it ends after `answerMillisecondsMax`. While the server is known to be away, nothing begins;
   * what had begun before waits for it. Throws what PostgreSQL answered, or a DomainError when the time is over.
   */
  async retried<T>(pool: Pool, attempt: (note: Note) => Promise<T>): Promise<T> {
    if (this.availability.away) throw busy();
    const until = performance.now() + answerMillisecondsMax;
    let outdated = 0;
    for (let pause = 25; ; pause = Math.min(pause * 2, 500)) {
      const handed = new Handed();
      try {
        return await this.#within(attempt(this.#noteOf(handed)), until);
      } catch (error) {
        if (handed.unanswered && handed.query) this.#suspect(pool, handed);
        const meaning = error instanceof DomainError ? undefined : outageOf(error);
        if (meaning === undefined && mayBeOutdated(error) && outdated < outdatedMax) outdated++;
        else if (meaning === undefined || meaning === 'refused') throw error;
        else if (meaning !== 'contended') {
          const sight = await this.#within(this.availability.doubt(), until);
          if (meaning === 'readOnly' && !sight.serves) throw error;
          // The server accepts writes, so it is only this session that began before it did.
          if (meaning === 'readOnly' && !sight.moved) this.replace(graceSeconds, [pool]);
          await this.#within(this.availability.back(), until);
        }
        if (performance.now() + pause > until) throw error;
        await new Promise((resume) => setTimeout(resume, pause * (0.5 + Math.random())));
      }
    }
  }

  /** Keeps book of what a connection was asked and answered. */
  #noteOf(handed: Handed): Note {
    return (query) => {
      handed.query = query as never;
      const answered = (error?: unknown) => {
        handed.unanswered = false;
        if (error !== undefined && !sqlstate.test(causeOf(error).code ?? '')) return;
        this.#lastAnswer = performance.now();
        const { state } = query as unknown as { state?: object | null };
        if (state) this.#answeredAt.set(state, this.#lastAnswer);
      };
      query.then(() => answered(), answered);
      return query;
    };
  }

  /**
   * Replaces a pool of which one connection is dead: a network that drops connections in silence does not say so, and the
   * driver would hand statements to it for a quarter of an hour.
   */
  #suspect(pool: Pool, handed: Handed): void {
    const { client } = pool;
    const timer = setTimeout(
      () => {
        const { state } = handed.query as unknown as { state?: object | null };
        if (!handed.unanswered || !state || pool.client !== client) return;
        const sign = Math.max(handed.at, this.#answeredAt.get(state) ?? 0);
        if (performance.now() - sign >= silenceMillisecondsMax) this.replace(graceSeconds, [pool]);
      },
      handed.at + silenceMillisecondsMax - performance.now(),
    );
    timer.unref();
  }

  /** What is answered in time. Who waits for long raises a doubt, again and again. */
  #within<T>(answer: Promise<T>, until: number): Promise<T> {
    return within(answer, until, () => {
      const now = performance.now();
      if (this.availability.away || now < this.#doubtedAt + doubtMilliseconds) return;
      this.#doubtedAt = now;
      void this.availability.doubt();
    });
  }

  /** Always bounded: without a timeout the driver waits for ever on a connection that never comes back. */
  async close(): Promise<void> {
    this.availability.close();
    await Promise.all([this.reader, this.writer, this.audit].map((pool) => pool.client.end({ timeout: 5 })));
  }
}

/** Connections of one kind, which can be replaced by new ones. */
export class Pool {
  client: postgres.Sql;

  constructor(private readonly open: () => postgres.Sql) {
    this.client = open();
  }

  /** What waits for the old connections after so long fails with CONNECTION_DESTROYED. */
  replace(seconds: number): void {
    this.client.end({ timeout: seconds }).catch(() => {});
    this.client = this.open();
  }
}

/** A statement as it was handed to the driver. */
class Handed {
  readonly at = performance.now();
  query: PromiseLike<unknown> | undefined;
  /** Until the statement is answered. */
  unanswered = true;
}

/** What each pool gives the driver. */
function optionsOf(connection: Connection, durable: boolean) {
  // The driver's own pauses between attempts to connect grow to 20 s, which is longer than a request waits. Its question
  // for the types of arrays (fetch_types) is a query that no code of ours awaits: losing the connection meanwhile would end
  // the process. All arrays here are of text.
  const common = { onnotice: () => {}, connect_timeout: 2, backoff: () => 0.1, fetch_types: false };
  const session = {
    statement_timeout: statementMillisecondsMax,
    lock_timeout: lockMillisecondsMax,
    ...(durable ? {} : { synchronous_commit: 'off' }),
  };
  const named = (name: string) => ({ connection: { ...session, application_name: `tidegate ${name}` } });
  // The driver's own type of its options knows no types of columns beside its own.
  const types = { texts } as never;
  const all = { ...connection, ...common };
  return {
    read: { ...all, ...named('read'), types, max: poolSize.read },
    // A pipelined write behind a locked one would wait with it.
    // While one statement is under way, the driver sends this many more on its connection. With one more, two statements
    // that are prepared again after a migration could get each other's rows; and one behind a lock would wait with it.
    write: { ...all, ...named('write'), max: poolSize.write, max_pipeline: 0, types: { json, texts } as never },
    // It connects with the first audit query, and closes its connection soon after the last.
    audit: {
      ...all,
      connection: { ...named('audit').connection, statement_timeout: auditQueryMillisecondsMax },
      types,
      max: 1,
      idle_timeout: 5,
    },
  };
}

/** Lists of text. Drizzle has a reader of such lists, too, which loses backslashes. */
const texts = {
  to: 1009,
  from: [1009],
  serialize: (list: string[] | string) => (typeof list === 'string' ? list : makePgArray(list)),
  parse: (list: string) => parse(list),
};

const json = {
  to: 114,
  from: [114, 3802],
  serialize: (text: string) => text,
  parse: (text: string) => JSON.parse(text),
};
