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
} from 'drizzle-orm';
import { makePgArray } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { type Problem, type ProblemCode, problem, Refusal } from '../problems.js';
import type { RequestBudget } from '../request-budget.js';
import { Cancellations } from './cancellation.js';
import type { Connection } from './migrate.js';

/** What a write carries besides its arguments: whose it is, its key, and what it was asked. */
export interface Call {
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
interface Surveyable {
  toSQL(): { sql: string };
  execute(): Promise<unknown>;
}

const readsInFlightMax = 2_000;
const writesInFlightMax = 500;
/** Surveys take long: whoever asks for more of them is told to come back. */
const surveysMax = 4;
const retryMillisecondsMax = 5_000;
const answerMillisecondsMax = 3_000;
export const lockMillisecondsMax = 2_000;
export const statementMillisecondsMax = 5_000;
const surveyMillisecondsMax = 600_000;
/** How many statements a process has PostgreSQL keep in an hour. */
export const preparedMax = 2_000;
/** The driver closes a connection within an hour, and what was prepared on it goes with it. */
const hourMilliseconds = 3_600_000;

/** Errors after which nobody knows whether a write was done: it is retried with its key, never without. */
const outcomeUnknown = /^(08...|57P0.|40001|40P01|CONNECTION_.*|ECONN.*|ENOENT|EPIPE)$/;

/** Of these, the ones that say that there is no server at all. */
const nobodyListens = /^(ECONNREFUSED|ENOENT)$/;

const poolSize = { read: 2, write: 5 };

/**
 * The two pools over one PostgreSQL: a small pipelined one for prepared reads, and one for writes,
 * each of which is a single call of a function. Each has a bound on what may wait for it, beyond
 * which a request is refused at once with 503: a queue without an end helps nobody.
 */
export class Database {
  readonly #reader: postgres.Sql;
  readonly #writer: postgres.Sql;
  readonly #surveyor: postgres.Sql;
  readonly #builder: PostgresJsDatabase;
  readonly #prepared = new Map<string, Prepared>();
  readonly #cancellations = new Cancellations();
  readonly #now: () => number;
  #preparedUntil: number;
  #reads = 0;
  #writes = 0;
  #surveys = 0;
  /** The text of every statement that was prepared or called within the hour; the tests hold them against the rules for distribution. */
  readonly catalogue = new Map<string, string>();

  /** `revive` is asked when nothing listens any more: the embedded server has nobody else to start it again. */
  constructor(
    connection: Connection,
    private readonly revive: () => Promise<void> = async () => {},
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
    this.#reader = postgres({ ...connection, ...common, ...named('read'), types, max: poolSize.read });
    // A pipelined write behind a locked one would wait with it.
    const json = {
      to: 114,
      from: [114, 3802],
      serialize: (text: string) => text,
      parse: (text: string) => JSON.parse(text),
    };
    this.#writer = postgres({
      ...connection,
      ...common,
      ...named('write'),
      max: poolSize.write,
      max_pipeline: 1,
      types: { json, texts },
    } as never);
    // It connects with the first survey, and lets go soon after the last.
    const patient = { ...named('survey').connection, statement_timeout: surveyMillisecondsMax };
    this.#surveyor = postgres({ ...connection, ...common, connection: patient, types, max: 1, idle_timeout: 5 });
    this.#builder = drizzle(this.#reader);
  }

  /** A statement that is built once per name and prepared on every connection that runs it. */
  async read<T>(
    name: string,
    build: (db: PostgresJsDatabase) => Preparable,
    values: Record<string, unknown>,
    budget?: RequestBudget,
  ): Promise<T[]> {
    this.#renew();
    let statement = this.#prepared.get(name);
    if (!statement) {
      const query = build(this.#builder);
      const kept = this.#kept(name, query.toSQL().sql);
      statement = swift(this.#reader, query.prepare(name), kept);
      if (kept) this.#prepared.set(name, statement);
    }
    return this.#reading(() =>
      this.#cancellations.guard(budget, (run) => statement.execute(values, run) as Promise<T[]>),
    );
  }

  /** A statement given as its text, prepared like every other. */
  async text<T>(statement: string, values: unknown[], budget?: RequestBudget): Promise<T[]> {
    this.#renew();
    const prepare = this.#kept(`text:${statement}`, statement);
    return this.#reading(() =>
      this.#cancellations.guard(budget, (run) => run(this.#reader.unsafe(statement, values as never[], { prepare }))),
    );
  }

  /**
   * Whether a statement may stay prepared. PostgreSQL keeps each on every connection, and lists have as many as there are
   * ways to ask for them: beyond what anybody needs in an hour, each is planned when it is run, so that nobody can fill its
   * memory. A connection, which lives an hour at most, has those of two.
   */
  #kept(name: string, statement: string): boolean {
    if (this.catalogue.has(name)) return true;
    if (this.catalogue.size >= preparedMax) return false;
    this.catalogue.set(name, statement);
    return true;
  }

  /** Begins anew after an hour, so that whoever asks for many things in one takes nothing from anybody in the next. */
  #renew(): void {
    if (this.#now() < this.#preparedUntil) return;
    this.#preparedUntil = this.#now() + hourMilliseconds;
    this.#prepared.clear();
    this.catalogue.clear();
  }

  async #reading<T>(attempt: () => Promise<T[]>): Promise<T[]> {
    if (this.#reads >= readsInFlightMax) throw busy();
    this.#reads++;
    try {
      return await this.#retried(attempt);
    } finally {
      this.#reads--;
    }
  }

  /** A read over all of the books: on a connection of its own, one at a time, so that it holds up nobody and may take long. */
  async survey<T>(name: string, build: (db: PostgresJsDatabase) => Surveyable): Promise<T[]> {
    const query = build(drizzle(this.#surveyor));
    this.catalogue.set(name, query.toSQL().sql);
    if (this.#surveys >= surveysMax) throw busy();
    this.#surveys++;
    try {
      return (await query.execute()) as T[];
    } catch (error) {
      // Drizzle's own error has the statement and its parameters; what went wrong is the cause.
      throw causeOf(error);
    } finally {
      this.#surveys--;
    }
  }

  /** One API write: one call of one function, autocommitted. The rows come back in the shape of their table. */
  async write<T extends Table>(
    fn: string,
    tenantId: string,
    livemode: boolean,
    call: Call | Pick<Call, 'requestId'> | null,
    args: object,
    table: T,
  ): Promise<T['$inferSelect'][]> {
    try {
      const rows = await this.call(fn, [tenantId, livemode, JSON.stringify(call ?? {}), text(args)]);
      return rows.map((row) => fromRow(table, row));
    } catch (error) {
      // The key may be in use by an attempt of this very call whose answer got lost: then this is its answer.
      const used = error instanceof Refusal && error.problems[0]?.code === 'idempotency_key_in_use';
      const before =
        call && 'key' in call && used
          ? await this.answered(tenantId, livemode, call.account, call.key, table, getTableName(table))
          : undefined;
      if (before && before.requestId === call?.requestId) return [before.row];
      throw error;
    }
  }

  /** A function of ours by name, with nothing around the call: an expression there would lose its delegation to a shard. */
  async call(fn: string, values: (string | number | boolean | null)[]): Promise<Record<string, unknown>[]> {
    const statement = `select * from ${fn}(${values.map((_, i) => `$${i + 1}`).join(', ')})`;
    this.catalogue.set(fn, statement);
    if (this.#writes >= writesInFlightMax) throw busy();
    this.#writes++;
    try {
      return await this.#retried(() => this.#writer.unsafe(statement, values, { prepare: true }));
    } catch (error) {
      throw refusalOf(error);
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
    this.catalogue.set(`answered_${tableName}`, statement);
    const [row] = await this.#retried(() =>
      this.#writer.unsafe(statement, [tenantId, livemode, account, key], { prepare: true }),
    );
    if (!row) return undefined;
    return {
      operation: row.answered_operation as string,
      request: row.answered_request as Record<string, string>,
      /** Which request it was the answer to. */
      requestId: row.answered_request_id as string | null,
      row: fromRow(table, row),
    };
  }

  async #retried<T>(attempt: () => Promise<T>): Promise<T> {
    const until = Date.now() + retryMillisecondsMax;
    for (let pause = 25; ; pause = Math.min(pause * 2, 500)) {
      try {
        return await within(attempt(), until - Date.now() + answerMillisecondsMax);
      } catch (error) {
        if (error instanceof Refusal) throw error;
        const code = causeOf(error).code ?? '';
        if (!outcomeUnknown.test(code)) throw error;
        if (Date.now() + pause > until) throw busy();
        if (nobodyListens.test(code)) {
          await within(this.revive(), until - Date.now() + answerMillisecondsMax).catch(() => {});
        }
        await new Promise((resume) => setTimeout(resume, pause * (0.5 + Math.random())));
      }
    }
  }

  /** Whether PostgreSQL answers at all. */
  async ready(): Promise<void> {
    await this.#reader`select 1`;
  }

  /** Always bounded: without a timeout the driver waits for ever on a connection that never comes back. */
  async close(): Promise<void> {
    await Promise.all([this.#reader, this.#writer, this.#surveyor].map((pool) => pool.end({ timeout: 5 })));
  }
}

/** What a statement of Drizzle's knows of itself: its parameters, where each column of its result goes, and what decodes it. */
interface Known {
  queryString: string;
  params: unknown[];
  fields?: { path: string[]; field: Column | SQL | SQL.Aliased }[];
}

/**
 * The same statement, with everything about its parameters and columns decided beforehand: Drizzle decides it anew for
 * each value, which was a seventh of the time of a dashboard, and wraps each run into spans and a cache that are not there.
 */
function swift(client: postgres.Sql, statement: Prepared, prepare: boolean): Prepared {
  const { queryString, params, fields } = statement as unknown as Known;
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
        client.unsafe(queryString, fills.map((fill) => fill(values)) as never[], { prepare }).values() as never,
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
const waiting = new Set<{ until: number; refuse(reason: unknown): void }>();
const lookMilliseconds = 100;
let looking: NodeJS.Timeout | undefined;

function look(): void {
  for (const one of waiting) if (one.until <= Date.now()) one.refuse(busy());
  if (waiting.size > 0) return;
  clearInterval(looking);
  looking = undefined;
}

/** What is answered in time; later nobody waits for it, and the write's key tells what became of it. */
function within<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  looking ??= setInterval(look, lookMilliseconds);
  return new Promise<T>((resolve, reject) => {
    const one = { until: Date.now() + milliseconds, refuse: reject };
    waiting.add(one);
    answer.then(
      (value) => {
        waiting.delete(one);
        resolve(value);
      },
      (error: unknown) => {
        waiting.delete(one);
        reject(error as Error);
      },
    );
  });
}

function busy(): Refusal {
  return new Refusal(problem('service_unavailable'));
}

const causeOf = (error: unknown) =>
  ((error as Error).cause ?? error) as { code?: string; message: string; detail?: string; constraint_name?: string };

/** The unique indexes behind the functions' own checks, by the name that a shard may number. */
const taken: Record<string, Problem> = {
  account_nickname_taken: problem('nickname_taken', 'account.nickname'),
};

/** What a function refused, as a Refusal; anything else is a fault of ours and goes through unchanged. */
function refusalOf(error: unknown): unknown {
  const { code = '', detail, message, constraint_name } = causeOf(error);
  if (/^TG\d{3}$/.test(code)) {
    const listed = JSON.parse(detail ?? '[]') as { code: ProblemCode; field: string | null; message: string | null }[];
    return new Refusal(...listed.map((p) => problem(p.code, p.field ?? undefined, p.message ?? undefined)));
  }
  if (code === '55P03') return new Refusal(problem('state_conflict'));
  const index = /"(\w+?)(?:_\d+)?"/.exec(constraint_name ? `"${constraint_name}"` : message)?.[1] ?? '';
  const known = code === '23505' ? taken[index] : undefined;
  return known ? new Refusal(known) : error;
}
