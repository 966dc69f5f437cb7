import { EventEmitter } from 'node:events';
import { getTableName, type Table } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { RequestBudget } from '../limits/budget.js';
import type { Caller } from '../request/caller.js';
import { DomainError } from '../errors/problems.js';
import { FairQueue } from '../limits/fair-queue.js';
import { queueRefusal } from '../limits/queue-refusal.js';
import { AuditQueries } from './read/audit-queries.js';
import { Connections, type Pool, poolSizes, writeLimits } from './connect/connections.js';
import { type DatabaseSettings, poolsDefault } from './connect/database-settings.js';
import { CrossTenantQueries } from './cluster/cross-tenant-queries.js';
import { Failures } from './connect/failures.js';
import { observed, type PoolName, type Signals, type StatementObserver } from './connect/observer.js';
import { Hints } from './connect/hints.js';
import { ListStreams } from './list/stream.js';
import type { Connection } from './connect/driver/connection.js';
import { QuickReads } from './read/quick-reads.js';
import type { Found, Read } from './read/read-combiner.js';
import { type Consistency, ReadSource, type TenantReadClass } from './read/read-source.js';
import { Readiness } from './connect/readiness.js';
import { Replicas } from './replicas/replicas.js';
import { fromRow, type Preparable } from './read/row-mapper.js';
import { Servers } from './connect/driver/servers.js';
import { ExpensiveReads } from './read/expensive-reads.js';
import { slowDefault } from '../config/defaults.js';
import { Statements } from './read/statements.js';
import { answeredStatement, storedAnswer } from './write/stored-response.js';
import {
  type ArgumentsOf,
  type NoOthers,
  storedEnvelope,
  text,
  type TableOf,
  type UnkeyedEnvelope,
  type WriteEnvelope,
  type WriteFunction,
} from './write/write-arguments.js';

const readsInFlightMax = 2_000;

type FunctionValue = string | number | boolean | null;
/** The rows of a function, as the driver has them. */
type Rows = Record<string, unknown>[];

/**
 * The pools over one PostgreSQL: a small pipelined pool for quick reads, a pool for slow ones, one for writes and one
 * for the worker. Each write is a single call of one SQL function. Each pool has a limit on waiting statements, and a
 * request beyond it gets 503 at once, because an unbounded queue would delay every request.
 */
export class Database {
  readonly #connections: Connections;
  readonly #failures: Failures;
  readonly #statements: Statements;
  readonly #expensiveReads: ExpensiveReads;
  readonly #quickReads: QuickReads;
  readonly #audits: AuditQueries;
  /** Reads whole lists, for exports. */
  readonly lists: ListStreams;
  readonly #writes: FairQueue;
  #reads = 0;
  /** Learn of every statement. */
  readonly observers: StatementObserver[] = [];
  /** Says what happens to those who follow it. */
  readonly signals: EventEmitter<Signals> = new EventEmitter();
  /** By which gateways notify each other of new events. */
  readonly hints: Hints;
  /** Reads over all tenants, for the worker. */
  readonly crossTenant: CrossTenantQueries;
  /** Whether requests can be served now. */
  readonly readiness: Readiness;
  /** How many connections each pool has at most. */
  readonly poolSizes: Readonly<Record<PoolName, number>>;
  /** How long a statement may take at most, in whole seconds. */
  readonly statementSeconds: number;
  /** The standbys for reads, if there are any. */
  readonly replicas: Replicas | undefined;

  /** `restart` is called when no server listens any more: no other process would start the embedded server again. */
  constructor(connection: Connection, restart: () => Promise<void> = async () => {}, settings: DatabaseSettings = {}) {
    const { durable = true, now = () => performance.now(), slow = slowDefault, pools = poolsDefault } = settings;
    const { listens = connection, replicas } = settings;
    this.poolSizes = poolSizes({ pools, slow });
    this.statementSeconds = Math.ceil(pools.statementMilliseconds / 1_000);
    this.#writes = new FairQueue('writes', writeLimits(pools));
    const notify = (values: [string, string]) => this.work('pg_notify', values);
    this.hints = new Hints(listens, notify, (of) => void this.signals.emit('hint', of));
    const servers = Servers.of(connection);
    this.#failures = new Failures(servers, (error) => void this.signals.emit('outage', error));
    this.#connections = new Connections(connection, servers, {
      restart,
      ...{ durable, slow, pools, direct: listens },
      onNewReader: () => this.#statements.open(),
      onRepeat: (pool) => this.observers.forEach((observer) => observer.repeated?.(pool)),
    });
    this.#statements = new Statements(this.#connections, now, () => {
      this.#quickReads.renew();
      this.replicas?.renew();
    });
    this.#expensiveReads = new ExpensiveReads(this.#connections, this.#failures, slow);
    const { reader, availability } = this.#connections;
    this.readiness = new Readiness(servers, availability, this.#failures, this.#connections.heartbeat, replicas);
    const statements = () => this.#statements;
    this.#quickReads = new QuickReads(reader, (attempt) => this.#connections.retried(reader, attempt), statements);
    const on = {
      search: () => availability.check(),
      answer: () => this.#connections.answered(),
      change: (...change: Signals['replica']) => void this.signals.emit('replica', ...change),
    };
    this.replicas = replicas?.reads
      ? new Replicas(replicas.connections, reader, on, { ...replicas, slow, pools, statements })
      : undefined;
    this.lists = new ListStreams(this.#connections, statements, this.#failures, this.observers);
    this.crossTenant = new CrossTenantQueries(this.#connections, this.#failures, this.observers, statements);
    this.#audits = new AuditQueries(this.#connections, this.#statements, this.#failures, this.replicas, this.observers);
  }

  /**
   * Runs a read. The statement is built once per name and prepared on every connection that runs it. An expensive read
   * of a tenant goes to the connections for expensive reads; without a class the read is quick.
   */
  async read<T>(
    name: string,
    build: (db: PostgresJsDatabase) => Preparable,
    values: Record<string, unknown>,
    budget?: RequestBudget,
    readClass?: TenantReadClass,
  ): Promise<T[]> {
    const { text, valuesOf, rowOf, prepare, expensive, replicaOk } = this.#statements.of(name, build, readClass);
    const read = { text, values: valuesOf(values), prepare, budget, tenant: readClass?.tenantId };
    const { rows } = await this.#found(name, read, readClass && { ...readClass, expensive, replicaOk });
    return rows.map(rowOf) as T[];
  }

  /** Runs a read that is given as SQL text. The statement is prepared like every other one. */
  async text<T>(
    statement: string,
    values: unknown[],
    budget?: RequestBudget,
    readClass?: TenantReadClass,
  ): Promise<T[]> {
    const prepare = this.#statements.keptText(statement);
    const read = { text: statement, values, prepare, budget, tenant: readClass?.tenantId };
    const { rows, columns } = await this.#found('compiled_query', read, readClass);
    return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]]))) as T[];
  }

  /** What a read finds: on a replica if it may lag, and on the connections for expensive reads if it is one. */
  #found(name: string, read: Read, readClass: TenantReadClass | undefined): Promise<Found> {
    const source = readClass?.replicaOk ? readClass.source : undefined;
    return observed(this.observers, { name, pool: readClass?.expensive ? 'slow' : 'read' }, () =>
      readClass?.expensive ? this.#expensiveReads.read({ ...readClass, source }, read) : this.#reading(read, source),
    );
  }

  async #reading(read: Read, source: ReadSource | undefined): Promise<Found> {
    if (this.#reads >= readsInFlightMax) throw queueRefusal('reads');
    this.#reads++;
    try {
      const elsewhere = source && (await source.find(read, (replica) => replica.quick(read)));
      return elsewhere ?? (await this.#quickReads.read(read));
    } catch (error) {
      throw this.#failures.reported(error);
    } finally {
      this.#reads--;
    }
  }

  /** Where a request of a caller reads; undefined when there are no replicas. */
  sourceOf(caller: Caller, asked: Consistency | undefined): ReadSource | undefined {
    return this.replicas && new ReadSource(this.replicas, caller, asked);
  }

  /** Runs an audit query, which reads the complete ledger. */
  auditQuery<T>(...given: Parameters<AuditQueries['run']>): Promise<T[]> {
    return this.#audits.run<T>(...given);
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
    content?: string,
  ): Promise<T['$inferSelect'][]> {
    try {
      const stored = JSON.stringify(storedEnvelope(envelope));
      const contents = content === undefined ? [] : [content];
      const rows = await this.call(fn, [tenantId, livemode, stored, text(args), ...contents]);
      this.signals.emit('write');
      return rows.map((row) => fromRow(table, row));
    } catch (error) {
      // An earlier attempt of this same call may have used the key, and its answer was lost. Then return that answer.
      const used = error instanceof DomainError && error.problems[0]?.code === 'idempotency_key_in_use';
      const before =
        envelope && 'key' in envelope && used
          ? await this.storedResponse(tenantId, livemode, envelope.account, envelope.key, table, getTableName(table))
          : undefined;
      if (before && before.requestId === envelope?.requestId) return [before.row];
      throw error;
    }
  }

  /**
   * Calls one of our SQL functions by name. The first argument is the tenant, and most have its mode after it: the
   * calls of a tenant and mode wait in their own queue, and tenants share the connections. The statement contains
   * nothing except the call: with any expression around it, the call would not be delegated to a shard.
   */
  call(fn: string, values: FunctionValue[]): Promise<Rows> {
    const run = () => this.#run(this.#connections.writer, fn, values);
    const [tenant, mode] = values;
    const names = [String(tenant), `${tenant}${true}`, `${tenant}${false}`];
    const name = typeof mode === 'boolean' ? `${tenant}${mode}` : String(tenant);
    return this.#observed('write', fn, () => this.#writes.during(name, run, undefined, names));
  }

  /** Calls one of our SQL functions for the worker, on connections of its own, so that no request waits for it. */
  work(fn: string, values: FunctionValue[]): Promise<Rows> {
    return this.#observed('worker', fn, () => this.#run(this.#connections.worker, fn, values));
  }

  /** Calls one of our SQL functions as the commit by which the process finds out whether writes are stored. */
  beat(fn: string, values: (string | number)[]): Promise<void> {
    const commit = () => this.readiness.commit(this.#statementOf(fn, values), values);
    return observed(this.observers, { name: fn, pool: 'heartbeat' }, commit);
  }

  #statementOf(fn: string, values: FunctionValue[]): string {
    const statement = `select * from ${fn}(${values.map((_, i) => `$${i + 1}`).join(', ')})`;
    this.preparedStatements.set(fn, statement);
    return statement;
  }

  /** Runs the statement that calls a function. */
  #run(pool: Pool, fn: string, values: FunctionValue[]): Promise<Rows> {
    const statement = this.#statementOf(fn, values);
    return this.#connections.retried(pool, (track) => track(pool.client.unsafe(statement, values, { prepare: true })));
  }

  /** Reports a call to the observers. Throws its failure as a client may see it. */
  async #observed(pool: PoolName, fn: string, call: () => Promise<Rows>): Promise<Rows> {
    try {
      const rows = await observed(this.observers, { name: fn, pool }, call);
      this.#failures.stored();
      return rows;
    } catch (error) {
      throw await this.#failures.domainErrorOf(error);
    }
  }

  /** The stored answer of an idempotency key, as a row of `table`; undefined when the key is new. */
  async storedResponse<T extends Table>(
    tenantId: string,
    livemode: boolean,
    account: string,
    key: string,
    table: T,
    tableName: string,
  ) {
    const statement = answeredStatement(tableName);
    this.preparedStatements.set(`answered_${tableName}`, statement);
    const values = [tenantId, livemode, account, key];
    const [row] = await this.#connections
      .retried(this.#connections.writer, (track) =>
        track(this.#connections.writer.client.unsafe(statement, values, { prepare: true })),
      )
      .catch((error: unknown) => {
        throw this.#failures.reported(error);
      });
    return row && storedAnswer(table, row);
  }

  /** The statements that run or wait now, by pool. */
  get load(): Record<'read' | 'slow' | 'write' | 'audit', number> {
    return {
      read: this.#reads,
      slow: this.#expensiveReads.inFlight,
      write: this.#writes.tickets,
      audit: this.#audits.inFlight,
    };
  }

  /** The text of every statement of the hour. The tests check these texts against the rules for distribution. */
  get preparedStatements(): Map<string, string> {
    return this.#statements.texts;
  }

  async close(): Promise<void> {
    await this.hints.close();
    await this.replicas?.close();
    await this.#connections.close();
  }
}
