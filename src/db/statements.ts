import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Connections } from './connections.js';
import { fastRowMapper, type Preparable, type Prepared } from './row-mapper.js';
import { hasFigures, type Question } from './slow-questions.js';

/** How many prepared statements one process makes PostgreSQL keep within an hour. */
export const preparedMax = 2_000;
/** The driver closes each connection within an hour, and PostgreSQL then drops the statements prepared on it. */
const hourMilliseconds = 3_600_000;

/** A statement that is ready to run, and whether it goes to the connections for slow questions. */
interface Reading {
  prepared: Prepared;
  slow: boolean;
}

/** The statements of reads, each built once per name, and the texts of all statements. */
export class Statements {
  /** The text of every statement that was prepared or called within the hour. */
  readonly texts = new Map<string, string>();
  readonly #prepared = new Map<string, Reading>();
  #quick: PostgresJsDatabase;
  #slow: PostgresJsDatabase;
  #until: number;

  constructor(
    private readonly connections: Connections,
    private readonly now: () => number,
  ) {
    this.#until = now() + hourMilliseconds;
    this.#quick = drizzle(connections.reader.client);
    this.#slow = drizzle(connections.slow.client);
  }

  /** Builds all statements again, for new connections. */
  open(): void {
    this.#quick = drizzle(this.connections.reader.client);
    this.#slow = drizzle(this.connections.slow.client);
    this.#prepared.clear();
  }

  /**
   * The statement with this name, and whether it is slow: because of its question, or because its text computes figures.
   * It is built again after the pool was replaced.
   */
  of(name: string, build: (db: PostgresJsDatabase) => Preparable, question?: Question): Reading {
    this.#renew();
    const key = question?.slow ? `slow:${name}` : name;
    const found = this.#prepared.get(key);
    if (found) return found;
    const quick = build(this.#quick);
    const text = quick.toSQL().sql;
    const slow = question !== undefined && (question.slow || hasFigures(text));
    const pool = slow ? this.connections.slow : this.connections.reader;
    const query = slow ? build(this.#slow) : quick;
    const kept = this.kept(name, text);
    const statement = { prepared: fastRowMapper(pool, query.prepare(name), kept), slow };
    if (kept) this.#prepared.set(key, statement);
    return statement;
  }

  /**
   * Whether a statement may stay prepared. PostgreSQL keeps each prepared statement on every connection, and each
   * combination of list filters is a statement of its own. Beyond `preparedMax` in an hour, PostgreSQL plans a
   * statement each time it runs, so that no client can fill the server's memory. A connection lives an hour at most, so
   * it holds the statements of at most two of these hours.
   */
  kept(name: string, statement: string): boolean {
    this.#renew();
    if (this.texts.has(name)) return true;
    if (this.texts.size >= preparedMax) return false;
    this.texts.set(name, statement);
    return true;
  }

  /** Empties the registry every hour, so that a client with many different queries affects others for one hour only. */
  #renew(): void {
    if (this.now() < this.#until) return;
    this.#until = this.now() + hourMilliseconds;
    this.#prepared.clear();
    this.texts.clear();
  }
}
