import { getTableName, type Table } from 'drizzle-orm';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { RequestBudget } from '../request/budget.js';
import { DomainError } from '../request/problems.js';
import { Cancellations } from './cancellation.js';
import { Connections, type Note } from './connections.js';
import { busy } from './deadline.js';
import { Failures } from './failures.js';
import type { Connection } from './connection.js';
import { causeOf, outageOf } from './outage.js';
import { fastRowMapper, fromRow, type Preparable, type Prepared } from './row-mapper.js';
import { Servers } from './servers.js';
import {
  type ArgumentsOf,
  type NoOthers,
  storedEnvelope,
  type TableOf,
  type UnkeyedEnvelope,
  type WriteEnvelope,
  type WriteFunction,
} from './write-arguments.js';

/** A statement of Drizzle's that is run once. */
interface AuditStatement {
  toSQL(): { sql: string };
  execute(): Promise<unknown>;
}

const readsInFlightMax = 2_000;
const writesInFlightMax = 500;
/** Audit queries take long: at most so many run or wait at once, and further ones get 503. */
const auditQueriesMax = 4;
/** How many statements a process has PostgreSQL keep in an hour. */
export const preparedMax = 2_000;
/** The driver closes a connection within an hour, and what was prepared on it goes with it. */
const hourMilliseconds = 3_600_000;

/**
 * The two pools over one PostgreSQL: a small pipelined one for prepared reads, and one for writes,
 * each of which is a single call of a function. Each has a bound on what may wait for it, beyond
 * which a request is refused at once with 503: a queue without an end helps nobody.
 */
export class Database {
  readonly #connections: Connections;
  readonly #failures: Failures;
  #builder: PostgresJsDatabase;
  readonly #prepared = new Map<string, Prepared>();
  readonly #cancellations = new Cancellations();
  readonly #now: () => number;
  #preparedUntil: number;
  #reads = 0;
  #writes = 0;
  #auditQueries = 0;
  #inspection: Promise<void> | undefined;
  /** The text of every statement that was prepared or called within the hour; the tests hold them against the rules for distribution. */
  readonly preparedStatements = new Map<string, string>();
  /** Called with an error by which PostgreSQL could not serve a statement; the client gets 503. */
  onOutage: (error: unknown) => void = () => {};

  /** `restart` is asked when nothing listens any more: the embedded server has nobody else to start it again. */
  constructor(
    connection: Connection,
    restart: () => Promise<void> = async () => {},
    /** Without it, a crash of the server may take the last moments with it: for seeding a demo, never for anybody's writes. */
    { durable = true, now = Date.now }: { durable?: boolean; now?: () => number } = {},
  ) {
    this.#now = now;
    this.#preparedUntil = now() + hourMilliseconds;
    const servers = Servers.of(connection);
    this.#failures = new Failures(servers, (error) => this.onOutage(error));
    this.#connections = new Connections(connection, servers, {
      restart,
      durable,
      onNewReader: () => {
        this.#builder = drizzle(this.#connections.reader.client);
        this.#prepared.clear();
      },
    });
    this.#builder = drizzle(this.#connections.reader.client);
  }

  /** A statement that is built once per name and prepared on every connection that runs it. */
  async read<T>(
    name: string,
    build: (db: PostgresJsDatabase) => Preparable,
    values: Record<string, unknown>,
    budget?: RequestBudget,
  ): Promise<T[]> {
    this.#renew();
    return this.#reading((note) =>
      this.#cancellations.guard(
        budget,
        (run) => this.#statement(name, build).execute(values, (query) => run(note(query))) as Promise<T[]>,
      ),
    );
  }

  /** The statement of a name, built anew where the pool has been replaced. */
  #statement(name: string, build: (db: PostgresJsDatabase) => Preparable): Prepared {
    const found = this.#prepared.get(name);
    if (found) return found;
    const query = build(this.#builder);
    const kept = this.#kept(name, query.toSQL().sql);
    const statement = fastRowMapper(this.#connections.reader, query.prepare(name), kept);
    if (kept) this.#prepared.set(name, statement);
    return statement;
  }

  /** A statement given as its text, prepared like every other. */
  async text<T>(statement: string, values: unknown[], budget?: RequestBudget): Promise<T[]> {
    this.#renew();
    const prepare = this.#kept(`text:${statement}`, statement);
    return this.#reading((note) =>
      this.#cancellations.guard(budget, (run) =>
        run(note(this.#connections.reader.client.unsafe(statement, values as never[], { prepare }))),
      ),
    );
  }

  /**
   * Whether a statement may stay prepared. PostgreSQL keeps each on every connection, and lists have as many as there are
   * ways to ask for them: beyond what anybody needs in an hour, each is planned when it is run, so that nobody can fill its
   * memory. A connection, which lives an hour at most, has those of two.
   */
  #kept(name: string, statement: string): boolean {
    if (this.preparedStatements.has(name)) return true;
    if (this.preparedStatements.size >= preparedMax) return false;
    this.preparedStatements.set(name, statement);
    return true;
  }

  /** Begins anew after an hour, so that whoever asks for many things in one takes nothing from anybody in the next. */
  #renew(): void {
    if (this.#now() < this.#preparedUntil) return;
    this.#preparedUntil = this.#now() + hourMilliseconds;
    this.#prepared.clear();
    this.preparedStatements.clear();
  }

  async #reading<T>(attempt: (note: Note) => Promise<T[]>): Promise<T[]> {
    if (this.#reads >= readsInFlightMax) throw busy();
    this.#reads++;
    try {
      return await this.#connections.retried(this.#connections.reader, attempt);
    } catch (error) {
      throw this.#failures.told(error);
    } finally {
      this.#reads--;
    }
  }

  /** A read over all of the ledger: on a connection of its own, one at a time, so that it holds up nobody and may take long. */
  async auditQuery<T>(name: string, build: (db: PostgresJsDatabase) => AuditStatement): Promise<T[]> {
    const query = build(drizzle(this.#connections.audit.client));
    this.preparedStatements.set(name, query.toSQL().sql);
    if (this.#auditQueries >= auditQueriesMax || this.#connections.availability.away) throw busy();
    this.#auditQueries++;
    try {
      return (await query.execute()) as T[];
    } catch (error) {
      if (outageOf(error) === 'lost') void this.#connections.availability.doubt();
      // Drizzle's own error has the statement and its parameters; what went wrong is the cause.
      throw this.#failures.told(causeOf(error));
    } finally {
      this.#auditQueries--;
    }
  }

  /**
   * One API write: one call of one function, autocommitted. The rows come back in the shape of their table. The function
   * refuses arguments that it does not declare, and those that lack one; the types here are generated from what it declares.
   */
  async write<F extends WriteFunction, T extends TableOf<F>, A extends ArgumentsOf<F>>(
    fn: F,
    tenantId: string,
    livemode: boolean,
    envelope: WriteEnvelope | UnkeyedEnvelope | null,
    args: A & NoOthers<A, F>,
    table: T,
  ): Promise<T['$inferSelect'][]> {
    try {
      const rows = await this.call(fn, [tenantId, livemode, JSON.stringify(storedEnvelope(envelope)), text(args)]);
      return rows.map((row) => fromRow(table, row));
    } catch (error) {
      // The key may be in use by an attempt of this very call whose answer got lost: then this is its answer.
      const used = error instanceof DomainError && error.problems[0]?.code === 'idempotency_key_in_use';
      const before =
        envelope && 'key' in envelope && used
          ? await this.answered(tenantId, livemode, envelope.account, envelope.key, table, getTableName(table))
          : undefined;
      if (before && before.requestId === envelope?.requestId) return [before.row];
      throw error;
    }
  }

  /** A function of ours by name, with nothing around the call: an expression there would lose its delegation to a shard. */
  async call(fn: string, values: (string | number | boolean | null)[]): Promise<Record<string, unknown>[]> {
    const statement = `select * from ${fn}(${values.map((_, i) => `$${i + 1}`).join(', ')})`;
    this.preparedStatements.set(fn, statement);
    if (this.#writes >= writesInFlightMax) throw busy();
    this.#writes++;
    try {
      const rows = await this.#connections.retried(this.#connections.writer, (note) =>
        note(this.#connections.writer.client.unsafe(statement, values, { prepare: true })),
      );
      this.#failures.stored();
      return rows;
    } catch (error) {
      throw await this.#failures.domainErrorOf(error);
    } finally {
      this.#writes--;
    }
  }

  /** What a key was answered, as the row of `table` that it then was; undefined when the key is new. */
  async answered<T extends Table>(
    tenantId: string,
    livemode: boolean,
    account: string,
    key: string,
    table: T,
    tableName: string,
  ) {
    const statement = `select i.operation as answered_operation, i.request as answered_request, i.request_id as answered_request_id, r.* from idempotency i, jsonb_populate_record(null::${tableName}, i.answer) r where i.tenant_id = $1 and i.livemode = $2 and i.account_id = $3 and i.key = $4`;
    this.preparedStatements.set(`answered_${tableName}`, statement);
    const values = [tenantId, livemode, account, key];
    const [row] = await this.#connections
      .retried(this.#connections.writer, (note) =>
        note(this.#connections.writer.client.unsafe(statement, values, { prepare: true })),
      )
      .catch((error: unknown) => {
        throw this.#failures.told(error);
      });
    if (!row) return undefined;
    return {
      operation: row.answered_operation as string,
      request: row.answered_request as Record<string, string>,
      /** Which request it was the answer to. */
      requestId: row.answered_request_id as string | null,
      row: fromRow(table, row),
    };
  }

  /**
   * Whether a request can be served now: a fresh connection is made, it may write, there is room for it, and no table that every
   * request needs is locked. Rejects within `sightMilliseconds` and a little. Many who ask at once are one.
   */
  async ready(): Promise<void> {
    if (this.#connections.availability.away || this.#failures.unready) throw busy();
    this.#inspection ??= this.#inspect().finally(() => {
      this.#inspection = undefined;
    });
    await this.#inspection;
  }

  async #inspect(): Promise<void> {
    const { serves, error } = await this.#connections.availability.inspect();
    if (serves) return;
    throw this.#failures.told(error);
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }
}

/** Arguments as JSON text; minor units travel as digits, since a JSON number could not carry them to the cent everywhere. */
export function text(value: object): string {
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? v.toString() : v));
}
