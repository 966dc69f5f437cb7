import { getTableName, type Table } from 'drizzle-orm';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { ParameterOrJSON } from 'postgres';
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

/** A Drizzle statement that runs once. */
interface AuditStatement {
  toSQL(): { sql: string };
  execute(): Promise<unknown>;
}

const readsInFlightMax = 2_000;
const writesInFlightMax = 500;
/** The most audit queries that run or wait at once. They take long, so further ones get 503. */
const auditQueriesMax = 4;
/** How many prepared statements one process makes PostgreSQL keep within an hour. */
export const preparedMax = 2_000;
/** The driver closes each connection within an hour, and PostgreSQL then drops the statements prepared on it. */
const hourMilliseconds = 3_600_000;

/**
 * The pools over one PostgreSQL: a small pipelined pool for prepared reads, and a pool for writes.
 * Each write is a single call of one SQL function. Each pool has a limit on waiting statements, and
 * a request beyond it gets 503 at once, because an unbounded queue would delay every request.
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
  /**
   * The text of every statement that was prepared or called within the hour.
   * The tests check these texts against the rules for distribution.
   */
  readonly preparedStatements = new Map<string, string>();
  /** Called with the error when PostgreSQL cannot serve a statement; the client gets 503. */
  onOutage: (error: unknown) => void = () => {};

  /**
   * `restart` is called when no server listens any more: no other process would start the
   * embedded server again.
   */
  constructor(
    connection: Connection,
    restart: () => Promise<void> = async () => {},
    /**
     * With `durable: false`, a server crash may lose the last commits: use it to seed a demo, never for client writes.
     */
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

  /** Runs a read. The statement is built once per name and prepared on every connection that runs it. */
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

  /** The statement with this name. It is built again after the pool was replaced. */
  #statement(name: string, build: (db: PostgresJsDatabase) => Preparable): Prepared {
    const found = this.#prepared.get(name);
    if (found) return found;
    const query = build(this.#builder);
    const kept = this.#kept(name, query.toSQL().sql);
    const statement = fastRowMapper(this.#connections.reader, query.prepare(name), kept);
    if (kept) this.#prepared.set(name, statement);
    return statement;
  }

  /** Runs a read that is given as SQL text. The statement is prepared like every other one. */
  async text<T>(statement: string, values: unknown[], budget?: RequestBudget): Promise<T[]> {
    this.#renew();
    const prepare = this.#kept(`text:${statement}`, statement);
    return this.#reading((note) =>
      this.#cancellations.guard(budget, (run) =>
        run(note(this.#connections.reader.client.unsafe(statement, values as ParameterOrJSON<never>[], { prepare }))),
      ),
    );
  }

  /**
   * Whether a statement may stay prepared. PostgreSQL keeps each prepared statement on every connection, and each
   * combination of list filters is a statement of its own. Beyond `preparedMax` in an hour, PostgreSQL plans a
   * statement each time it runs, so that no client can fill the server's memory. A connection lives an hour at most, so
   * it holds the statements of at most two of these hours.
   */
  #kept(name: string, statement: string): boolean {
    if (this.preparedStatements.has(name)) return true;
    if (this.preparedStatements.size >= preparedMax) return false;
    this.preparedStatements.set(name, statement);
    return true;
  }

  /** Empties the registry every hour, so that a client with many different queries affects others for one hour only. */
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

  /**
   * Runs an audit query, which reads the complete ledger. It runs on a connection of its own, one query at a time, so
   * that it may take long without blocking requests.
   */
  async auditQuery<T>(name: string, build: (db: PostgresJsDatabase) => AuditStatement): Promise<T[]> {
    const query = build(drizzle(this.#connections.audit.client));
    this.preparedStatements.set(name, query.toSQL().sql);
    if (this.#auditQueries >= auditQueriesMax || this.#connections.availability.away) throw busy();
    this.#auditQueries++;
    try {
      return (await query.execute()) as T[];
    } catch (error) {
      if (outageOf(error) === 'lost') void this.#connections.availability.doubt();
      // Drizzle's error contains the statement and its parameters; its cause is PostgreSQL's error.
      throw this.#failures.told(causeOf(error));
    } finally {
      this.#auditQueries--;
    }
  }

  /**
   * One API write: one autocommitted call of one SQL function. Returns the rows in the shape of their table. The
   * function refuses an argument that it does not declare, and a call without a required argument. The types here are
   * generated from its declaration.
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
      // An earlier attempt of this same call may have used the key, and its answer was lost. Then return that answer.
      const used = error instanceof DomainError && error.problems[0]?.code === 'idempotency_key_in_use';
      const before =
        envelope && 'key' in envelope && used
          ? await this.answered(tenantId, livemode, envelope.account, envelope.key, table, getTableName(table))
          : undefined;
      if (before && before.requestId === envelope?.requestId) return [before.row];
      throw error;
    }
  }

  /**
   * Calls one of our SQL functions by name. The statement contains nothing except the call: with any expression around
   * it, the call would not be delegated to a shard.
   */
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

  /** The stored answer of an idempotency key, as a row of `table`; undefined when the key is new. */
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
      /** The id of the request that got this answer. */
      requestId: row.answered_request_id as string | null,
      row: fromRow(table, row),
    };
  }

  /**
   * Checks that the database can serve a request now: a new connection opens, it accepts writes, the disk has room, and
   * no table that every request needs is locked. Rejects shortly after `sightMilliseconds` at the latest. Concurrent
   * callers share one check.
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

/** Arguments as JSON text. A bigint of minor units becomes a string of digits, because a JSON number may lose cents. */
export function text(value: object): string {
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? v.toString() : v));
}
