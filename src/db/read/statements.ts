import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Connections } from '../connect/connections.js';
import { fastRowMapper, type Mapped, type Preparable } from './row-mapper.js';
import { hasFigures, type ReadClass } from './read-class.js';

/** How many prepared statements one process makes PostgreSQL keep within an hour. */
export const preparedMax = 2_000;
/** The driver closes each connection within an hour, and PostgreSQL then drops the statements prepared on it. */
const hourMilliseconds = 3_600_000;

/**
 * A statement, whether PostgreSQL keeps it, whether it goes to the connections for expensive reads, and whether it may
 * lag.
 */
interface Reading extends Mapped {
  prepare: boolean;
  expensive: boolean;
  replicaOk: boolean;
}

/** The statements of reads, each built once per name, and the texts of all statements. */
export class Statements {
  /** The text of every statement that was prepared or called within the hour. */
  readonly texts = new Map<string, string>();
  /** The names of statements that are named by their text. A new text for each request would be hashed each time. */
  readonly #names = new Map<string, string>();
  readonly #built = new Map<string, Reading>();
  #builder: PostgresJsDatabase;
  #until: number;

  constructor(
    private readonly connections: Connections,
    private readonly now: () => number,
    /** Called every hour, when the texts are forgotten. */
    private readonly onRenewal: () => void,
  ) {
    this.#until = now() + hourMilliseconds;
    this.#builder = this.open();
  }

  /** Prepares Drizzle for new connections: it sets how their driver converts values. */
  open(): PostgresJsDatabase {
    drizzle(this.connections.slow.client);
    this.#builder = drizzle(this.connections.reader.client);
    return this.#builder;
  }

  /** The statement with this name. It is expensive because of its class, or because its text computes figures. */
  of(name: string, build: (db: PostgresJsDatabase) => Preparable, readClass?: ReadClass): Reading {
    this.#renew();
    const key = readClass?.expensive ? `slow:${name}` : name;
    const found = this.#built.get(key);
    if (found) return found;
    const mapped = fastRowMapper(build(this.#builder).prepare(name));
    if (!mapped) throw new Error(`the columns of the statement ${name} are nested too deep`);
    const figures = readClass !== undefined && hasFigures(mapped.text);
    const expensive = readClass?.expensive === true || figures;
    const replicaOk = readClass?.replicaOk === true || figures;
    const statement = { ...mapped, prepare: this.kept(name, mapped.text), expensive, replicaOk };
    if (statement.prepare) this.#built.set(key, statement);
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

  /** `kept` for a statement whose name is its text. */
  keptText(statement: string): boolean {
    this.#renew();
    let name = this.#names.get(statement);
    if (name === undefined) {
      name = `text:${statement}`;
      if (!this.kept(name, statement)) return false;
      this.#names.set(statement, name);
    }
    return this.texts.has(name);
  }

  /** Empties the registry every hour, so that a client with many different queries affects others for one hour only. */
  #renew(): void {
    if (this.now() < this.#until) return;
    this.#until = this.now() + hourMilliseconds;
    this.#built.clear();
    this.texts.clear();
    this.#names.clear();
    this.onRenewal();
  }
}
