import {
  Column,
  getTableColumns,
  getTableName,
  is,
  noopDecoder,
  Param,
  Placeholder,
  SQL,
  type Table,
  type TableConfig,
} from 'drizzle-orm';
import { makePgArray } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { type Problem, type ProblemCode, problem, DomainError } from '../request/problems.js';
import type { RequestBudget } from '../request/budget.js';
import { Cancellations } from './cancellation.js';
import { Availability } from './availability.js';
import type { Connection } from './migrate.js';
import { causeOf, mayBeOutdated, outageOf, sqlstate } from './outage.js';
import { Servers } from './servers.js';
import type { StoredEnvelope, WriteFunctions } from './write-functions.js';

/** What a write carries besides its arguments: whose it is, its key, and what it was asked. */
export interface WriteEnvelope {
  /** The effective account, which scopes the key. */
  account: string;
  key: string;
  /** Whether the client chose the key; otherwise the gateway made one for its own retries. */
  sent: boolean;
  operation: string;
  /** A hash per parameter, by its path. */
  request: Record<string, string>;
  /** The same under the key of an earlier call's hashes; undefined when that key is not configured any more. */
  requestLike?: (before: Record<string, string>) => Record<string, string> | undefined;
  requestId: string;
}

/** A function that writes, by its name. */
export type WriteFunction = keyof WriteFunctions;

/** The arguments that a function declares. */
export type ArgumentsOf<F extends WriteFunction> = WriteFunctions[F]['args'];

/** The table whose rows a function returns. */
export type TableOf<F extends WriteFunction> = Table<TableConfig & { name: WriteFunctions[F]['returns'] }>;

/** Makes a key that a function does not declare a compile error, also where it comes with the members of another object. */
export type NoOthers<A, F extends WriteFunction> = { [K in Exclude<keyof A, keyof ArgumentsOf<F>>]: never };

/** Notes a statement that was handed to the driver, so that a connection which answers nothing is found. */
type Note = <Q extends PromiseLike<unknown>>(query: Q) => Q;

interface Prepared {
  execute(
    values?: Record<string, unknown>,
    run?: <T>(query: postgres.PendingQuery<any>) => Promise<T>,
  ): Promise<unknown>;
}
/** A statement of Drizzle's, not yet prepared. */
export interface Preparable {
  toSQL(): { sql: string };
  prepare(name: string): Prepared;
}

/** A statement of Drizzle's that is run once. */
interface AuditStatement {
  toSQL(): { sql: string };
  execute(): Promise<unknown>;
}

const readsInFlightMax = 2_000;
const writesInFlightMax = 500;
/** Audit queries take long: whoever asks for more of them is told to come back. */
const auditQueriesMax = 4;
/** Everything together: waiting for a connection, attempts, and what it takes until the server is back. */
const answerMillisecondsMax = 5_000;
/** A statement that takes longer raises a doubt whether the server is there at all. */
const doubtMilliseconds = 1_000;
export const lockMillisecondsMax = 2_000;
export const statementMillisecondsMax = 5_000;
const auditQueryMillisecondsMax = 600_000;
/** How many statements a process has PostgreSQL keep in an hour. */
export const preparedMax = 2_000;
/** The driver closes a connection within an hour, and what was prepared on it goes with it. */
const hourMilliseconds = 3_600_000;

/** Every statement is answered within its own limit; a connection that is silent for longer is dead. */
const silenceMillisecondsMax = statementMillisecondsMax + 1_000;
/** For so long after a write that could not be stored, the gateway is not ready, unless another one is stored. */
const unreadyMilliseconds = 5_000;
const logEveryMilliseconds = 5_000;
/** How long connections that are replaced may go on with what they have under way. */
const graceSeconds = 1;

const poolSize = { read: 2, write: 5 };
/** Each connection has prepared statements of its own, so a repeated statement may meet an outdated one on each of them. */
const outdatedMax = poolSize.write + 1;

/**
 * The two pools over one PostgreSQL: a small pipelined one for prepared reads, and one for writes,
 * each of which is a single call of a function. Each has a bound on what may wait for it, beyond
 * which a request is refused at once with 503: a queue without an end helps nobody.
 */
export class Database {
  readonly #reader: Pool;
  readonly #writer: Pool;
  readonly #auditPool: Pool;
  readonly #servers: Servers;
  readonly #availability: Availability;
  #builder: PostgresJsDatabase;
  readonly #prepared = new Map<string, Prepared>();
  readonly #cancellations = new Cancellations();
  readonly #now: () => number;
  #preparedUntil: number;
  #reads = 0;
  #writes = 0;
  #auditQueries = 0;
  /** When each backend of PostgreSQL, as the driver knows it, last answered; of all of them, the latest. */
  readonly #answeredAt = new WeakMap<object, number>();
  #lastAnswer = Number.NEGATIVE_INFINITY;
  #doubtedAt = Number.NEGATIVE_INFINITY;
  #unreadyUntil = Number.NEGATIVE_INFINITY;
  #inspection: Promise<void> | undefined;
  #lockLook: Promise<boolean> | undefined;
  /** When an outage was last told to the log, by its code. */
  readonly #loggedAt = new Map<string, number>();
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
    // The driver's own pauses between attempts to connect grow to 20 s; ours are shorter than anybody's patience.
    // It would ask each new connection for the types of arrays by a query that nobody holds: a connection that is lost meanwhile
    // would end the process. Ours are of text, all of them.
    const common = { onnotice: () => {}, connect_timeout: 2, backoff: () => 0.1, fetch_types: false };
    const texts = {
      to: 1009,
      from: [1009],
      serialize: (list: string[] | string) => (typeof list === 'string' ? list : makePgArray(list)),
      parse: textsOf,
    };
    const types = { texts } as never;
    const session = {
      statement_timeout: statementMillisecondsMax,
      lock_timeout: lockMillisecondsMax,
      ...(durable ? {} : { synchronous_commit: 'off' }),
    };
    const named = (name: string) => ({ connection: { ...session, application_name: `tidegate ${name}` } });
    // A pipelined write behind a locked one would wait with it.
    const json = {
      to: 114,
      from: [114, 3802],
      serialize: (text: string) => text,
      parse: (text: string) => JSON.parse(text),
    };
    // It connects with the first audit query, and lets go soon after the last.
    const patient = { ...named('audit').connection, statement_timeout: auditQueryMillisecondsMax };
    this.#reader = new Pool(() => postgres({ ...connection, ...common, ...named('read'), types, max: poolSize.read }));
    this.#writer = new Pool(() =>
      postgres({
        ...connection,
        ...common,
        ...named('write'),
        max: poolSize.write,
        max_pipeline: 1,
        types: { json, texts },
      } as never),
    );
    this.#auditPool = new Pool(() =>
      postgres({ ...connection, ...common, connection: patient, types, max: 1, idle_timeout: 5 }),
    );
    this.#builder = drizzle(this.#reader.client);
    this.#servers = Servers.of(connection);
    this.#availability = new Availability(this.#servers, {
      // A statement under way on a server that is away will not be answered: its request tries again when the server is back.
      away: () => this.#replace(0),
      moved: () => this.#replace(graceSeconds),
      restart,
      answeredAt: () => this.#lastAnswer,
    });
  }

  /** New connections for everything from now on. The old ones have so long to finish what is under way. */
  #replace(seconds: number, pools = [this.#reader, this.#writer, this.#auditPool]): void {
    for (const pool of pools) pool.replace(seconds);
    if (!pools.includes(this.#reader)) return;
    this.#builder = drizzle(this.#reader.client);
    this.#prepared.clear();
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
    const statement = fastRowMapper(this.#reader, query.prepare(name), kept);
    if (kept) this.#prepared.set(name, statement);
    return statement;
  }

  /** A statement given as its text, prepared like every other. */
  async text<T>(statement: string, values: unknown[], budget?: RequestBudget): Promise<T[]> {
    this.#renew();
    const prepare = this.#kept(`text:${statement}`, statement);
    return this.#reading((note) =>
      this.#cancellations.guard(budget, (run) =>
        run(note(this.#reader.client.unsafe(statement, values as never[], { prepare }))),
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
      return await this.#retried(this.#reader, attempt);
    } catch (error) {
      throw this.#told(error);
    } finally {
      this.#reads--;
    }
  }

  /** A read over all of the ledger: on a connection of its own, one at a time, so that it holds up nobody and may take long. */
  async auditQuery<T>(name: string, build: (db: PostgresJsDatabase) => AuditStatement): Promise<T[]> {
    const query = build(drizzle(this.#auditPool.client));
    this.preparedStatements.set(name, query.toSQL().sql);
    if (this.#auditQueries >= auditQueriesMax || this.#availability.away) throw busy();
    this.#auditQueries++;
    try {
      return (await query.execute()) as T[];
    } catch (error) {
      if (outageOf(error) === 'lost') void this.#availability.doubt();
      // Drizzle's own error has the statement and its parameters; what went wrong is the cause.
      throw this.#told(causeOf(error));
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
    envelope: WriteEnvelope | Pick<WriteEnvelope, 'requestId'> | null,
    args: A & NoOthers<A, F>,
    table: T,
  ): Promise<T['$inferSelect'][]> {
    try {
      const rows = await this.call(fn, [tenantId, livemode, JSON.stringify(stored(envelope)), text(args)]);
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
      const rows = await this.#retried(this.#writer, (note) =>
        note(this.#writer.client.unsafe(statement, values, { prepare: true })),
      );
      this.#unreadyUntil = Number.NEGATIVE_INFINITY;
      return rows;
    } catch (error) {
      throw await this.#domainErrorOf(error);
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
    const [row] = await this.#retried(this.#writer, (note) =>
      note(this.#writer.client.unsafe(statement, values, { prepare: true })),
    ).catch((error: unknown) => {
      throw this.#told(error);
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
   * The answer to a statement, which is repeated after a failure that says that it may not have been done: a read, or a
   * write with its key. All of it ends after `answerMillisecondsMax`. While the server is known to be away, nothing begins;
   * what had begun before waits for it. Throws what PostgreSQL answered, or a DomainError when the time is over.
   */
  async #retried<T>(pool: Pool, attempt: (note: Note) => Promise<T>): Promise<T> {
    if (this.#availability.away) throw busy();
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
          const sight = await this.#within(this.#availability.doubt(), until);
          if (meaning === 'readOnly' && !sight.serves) throw error;
          // The server accepts writes, so it is only this session that began before it did.
          if (meaning === 'readOnly' && !sight.moved) this.#replace(graceSeconds, [pool]);
          await this.#within(this.#availability.back(), until);
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
        if (performance.now() - sign >= silenceMillisecondsMax) this.#replace(graceSeconds, [pool]);
      },
      handed.at + silenceMillisecondsMax - performance.now(),
    );
    timer.unref();
  }

  /** What is answered in time. Who waits for long raises a doubt, again and again. */
  #within<T>(answer: Promise<T>, until: number): Promise<T> {
    return within(answer, until, () => {
      const now = performance.now();
      if (this.#availability.away || now < this.#doubtedAt + doubtMilliseconds) return;
      this.#doubtedAt = now;
      void this.#availability.doubt();
    });
  }

  /** The 503 that stands for an outage, with PostgreSQL's own error as its cause; any other error unchanged. */
  #told(error: unknown): unknown {
    if (error instanceof DomainError || outageOf(error) === undefined) return error;
    const { code = '' } = causeOf(error);
    const now = performance.now();
    if (now >= (this.#loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) + logEveryMilliseconds) {
      this.#loggedAt.set(code, now);
      this.onOutage(error);
    }
    return Object.assign(busy(), { cause: causeOf(error) });
  }

  /** What a function refused, as a DomainError; an outage as one, too; anything else is a fault of ours and goes through unchanged. */
  async #domainErrorOf(error: unknown): Promise<unknown> {
    const { code = '', detail, message, constraint_name } = causeOf(error);
    if (/^TG\d{3}$/.test(code)) {
      const listed = JSON.parse(detail ?? '[]') as {
        code: ProblemCode;
        field: string | null;
        message: string | null;
      }[];
      return new DomainError(...listed.map((p) => problem(p.code, p.field ?? undefined, p.message ?? undefined)));
    }
    if (code === '55P03' && !(await this.#behindTable(error))) return new DomainError(problem('state_conflict'));
    if (code === '55P03' || code === '53100') this.#unreadyUntil = performance.now() + unreadyMilliseconds;
    const index = /"(\w+?)(?:_\d+)?"/.exec(constraint_name ? `"${constraint_name}"` : message)?.[1] ?? '';
    const known = code === '23505' ? taken[index] : undefined;
    return known ? new DomainError(known) : this.#told(error);
  }

  /**
   * Whether the lock that a write has waited for in vain was a table's, as a migration holds it, and not a row's, as another
   * request does. PostgreSQL's context tells of a row that another transaction has changed; the second who waits for a
   * row has no such context, so it takes a look at the locks that there are to tell it from a table's.
   */
  async #behindTable(error: unknown): Promise<boolean> {
    if (/\btuple\b/.test(causeOf(error).where ?? '') || /\brow\b/.test(causeOf(error).message)) return false;
    this.#lockLook ??= this.#servers
      .tableIsLocked()
      .catch(() => true)
      .finally(() => {
        this.#lockLook = undefined;
      });
    return this.#lockLook;
  }

  /**
   * Whether a request can be served now: a fresh connection is made, it may write, there is room for it, and no table that every
   * request needs is locked. Rejects within `sightMilliseconds` and a little. Many who ask at once are one.
   */
  async ready(): Promise<void> {
    if (this.#availability.away || performance.now() < this.#unreadyUntil) throw busy();
    this.#inspection ??= this.#inspect().finally(() => {
      this.#inspection = undefined;
    });
    await this.#inspection;
  }

  async #inspect(): Promise<void> {
    const { serves, error } = await this.#availability.inspect();
    if (serves) return;
    throw this.#told(error);
  }

  /** Always bounded: without a timeout the driver waits for ever on a connection that never comes back. */
  async close(): Promise<void> {
    this.#availability.close();
    await Promise.all([this.#reader, this.#writer, this.#auditPool].map((pool) => pool.client.end({ timeout: 5 })));
  }
}

/** Connections of one kind, which can be replaced by new ones. */
class Pool {
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

/** What a statement of Drizzle's knows of itself: its parameters, where each column of its result goes, and what decodes it. */
interface DrizzleStatement {
  queryString: string;
  params: unknown[];
  fields?: { path: string[]; field: Column | SQL | SQL.Aliased }[];
}

/**
 * The same statement, with everything about its parameters and columns decided beforehand: Drizzle decides it anew for
 * each value, which was a seventh of the time of a dashboard, and wraps each run into spans and a cache that are not there.
 */
function fastRowMapper(pool: Pool, statement: Prepared, prepare: boolean): Prepared {
  const { queryString, params, fields } = statement as unknown as DrizzleStatement;
  if (!fields || fields.some(({ path }) => path.length > 2)) return statement;
  const fills = params.map(fillOf);
  const columns = fields.map(({ path, field }) => ({
    outer: path.length > 1 ? path[0] : undefined,
    name: path.at(-1)!,
    decode: decoderOf(field),
  }));
  const rowOf = (values: unknown[]) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < columns.length; i++) {
      const { outer, name, decode } = columns[i]!;
      const value = values[i];
      const decoded = value === null || decode === undefined ? value : decode(value);
      if (outer === undefined) row[name] = decoded;
      else ((row[outer] ??= {}) as Record<string, unknown>)[name] = decoded;
    }
    return row;
  };
  return {
    execute: (values = {}, run = (query) => query as never) =>
      run<unknown[][]>(
        pool.client.unsafe(queryString, fills.map((fill) => fill(values)) as never[], { prepare }).values() as never,
      ).then((rows) => rows.map(rowOf)),
  };
}

/** What a parameter of a statement is, given the values of its placeholders. */
function fillOf(param: unknown): (values: Record<string, unknown>) => unknown {
  const { name, encoder } = is(param, Param)
    ? { name: is(param.value, Placeholder) ? param.value.name : undefined, encoder: param.encoder }
    : { name: is(param, Placeholder) ? param.name : undefined, encoder: undefined };
  if (name === undefined) return () => param;
  return (values) => {
    if (!(name in values)) throw new Error(`no value for ${name}`);
    return encoder ? encoder.mapToDriverValue(values[name]) : values[name];
  };
}

interface Decoded {
  decoder: { mapFromDriverValue(value: unknown): unknown };
}

/** What decodes a column's values; undefined where they are what they should be. */
function decoderOf(field: Column | SQL | SQL.Aliased): ((value: unknown) => unknown) | undefined {
  const { decoder } = (is(field, Column) ? { decoder: field } : is(field, SQL) ? field : field.sql) as Decoded;
  const same = is(decoder, Column)
    ? decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue
    : decoder === noopDecoder;
  return same ? undefined : (value) => decoder.mapFromDriverValue(value);
}

/** The elements of an array of text as PostgreSQL writes it. Drizzle has a reader of such, which loses backslashes. */
function textsOf(list: string): (string | null)[] {
  return [...list.matchAll(/"((?:[^"\\]|\\.)*)"|[^,{}]+/gs)].map(([bare, quoted]) =>
    quoted === undefined ? (bare === 'NULL' ? null : bare) : quoted.replace(/\\(.)/gs, '$1'),
  );
}

/** What the functions read of a write envelope. */
function stored(envelope: WriteEnvelope | Pick<WriteEnvelope, 'requestId'> | null): StoredEnvelope {
  if (!envelope) return {};
  if (!('key' in envelope)) return { requestId: envelope.requestId };
  const { account, key, operation, request, requestId } = envelope;
  return { account, key, operation, request, requestId };
}

/** Arguments as JSON text; minor units travel as digits, since a JSON number could not carry them to the cent everywhere. */
export function text(value: object): string {
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? v.toString() : v));
}

/** A raw row in the shape that Drizzle gives its table. */
export function fromRow<T extends Table>(table: T, raw: Record<string, unknown>): T['$inferSelect'] {
  const row: Record<string, unknown> = {};
  for (const { property, name, decode } of columnsOf(table)) {
    const value = raw[name];
    row[property] = value === null || value === undefined ? null : decode === undefined ? value : decode(value);
  }
  return row as T['$inferSelect'];
}

interface Named {
  property: string;
  name: string;
  decode: ((value: unknown) => unknown) | undefined;
}
const columnsOfTables = new WeakMap<Table, Named[]>();

function columnsOf(table: Table): Named[] {
  let columns = columnsOfTables.get(table);
  if (!columns) {
    columns = Object.entries(getTableColumns(table)).map(([property, column]) => ({
      property,
      name: column.name,
      decode: decoderOf(column),
    }));
    columnsOfTables.set(table, columns);
  }
  return columns;
}

/** Who waits for an answer, and until when. One timer looks at all of them: one for each would cost as much as the statement. */
const waiting = new Set<{ until: number; doubtAt: number; doubt(): void; refuse(reason: unknown): void }>();
const lookMilliseconds = 100;
let looking: NodeJS.Timeout | undefined;

function look(): void {
  const now = performance.now();
  for (const one of waiting) {
    if (one.until <= now) one.refuse(busy());
    else if (one.doubtAt <= now) one.doubt();
  }
  if (waiting.size > 0) return;
  clearInterval(looking);
  looking = undefined;
}

/** What is answered in time; later nobody waits for it, and the write's key tells what became of it. */
function within<T>(answer: Promise<T>, until: number, doubt: () => void): Promise<T> {
  looking ??= setInterval(look, lookMilliseconds);
  return new Promise<T>((resolve, reject) => {
    const refuse = (reason: unknown) => {
      waiting.delete(one);
      reject(reason as Error);
    };
    const one = { until, doubtAt: performance.now() + doubtMilliseconds, doubt, refuse };
    waiting.add(one);
    answer.then((value) => {
      waiting.delete(one);
      resolve(value);
    }, refuse);
  });
}

function busy(): DomainError {
  return new DomainError(problem('service_unavailable'));
}

/** The unique indexes behind the functions' own checks, by the name that a shard may number. */
const taken: Record<string, Problem> = {
  account_nickname_taken: problem('nickname_taken', 'account.nickname'),
};
