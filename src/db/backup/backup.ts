import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type postgres from 'postgres';
import { inTurn } from '../schema/advisory-lock.js';
import { type Connection, single } from '../connect/driver/connection.js';
import { databaseVersion } from '../schema/schema-version.js';
import { withoutLimits } from './limits.js';
import { BackupError, type Manifest, sync, type TableEntry, writeManifest } from './manifest.js';

/** How a backup is made. */
export interface BackupOptions {
  /** How long to wait for a migration to end, in seconds. */
  lockSeconds: number;
  /** Receives a line for the operator, such as which connection holds the lock. */
  say: (line: string) => void;
  /** Receives how many bytes of about how many are copied. */
  copied: (bytes: number, of: number) => void;
  demo: Manifest['demo'];
}

/**
 * Of the bookkeeping of migrations, the tables whose rows are data. The others are made by the migrations themselves.
 */
const bookkeepingData = ['pepper', 'runtime_role'];
const batchBytes = 256 * 1024;
/** The fastest level, because the snapshot stays open meanwhile, which keeps PostgreSQL from removing old rows. */
const compression = { level: 1 };

/**
 * Copies the database to a new folder while gateways use it. All tables are read in one snapshot, so the copy has every
 * write that was acknowledged before the backup began, and each later one as a whole or not at all. The folder gets its
 * name when everything is on the disk: an interrupted backup never has it. No migration runs meanwhile.
 */
export async function backup(connection: Connection, folder: string, options: BackupOptions): Promise<Manifest> {
  const target = path.resolve(folder);
  if (fs.existsSync(target)) throw new BackupError(`${target} exists already. A backup is written to a new folder.`);
  const draft = `${target}.partial-${randomUUID()}`;
  const locks = single(connection, 'tidegate backup');
  const reads = single(connection, 'tidegate backup');
  try {
    fs.mkdirSync(draft, { mode: 0o700 });
    const content = await inTurn(locks, 'migrate', options.lockSeconds, options.say, async (lock) => {
      await withoutLimits(lock);
      return inSnapshot(reads, (tx) => copyAll(tx, draft, options));
    });
    writeManifest(draft, content);
    sync(draft);
    // An existing empty folder would be replaced silently; another backup of the same name fails the renaming.
    fs.renameSync(draft, target);
    sync(path.dirname(target));
    return content;
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || typeof code !== 'string' || !('path' in (error as object) || code === 'ENOSPC'))
      throw error;
    throw new BackupError(`The backup could not be written to ${target} (${code}).`);
  } finally {
    await Promise.all([locks.end({ timeout: 5 }), reads.end({ timeout: 5 })]);
  }
}

/**
 * Runs reads that all see one moment. A transaction of the driver is right here: the connection is used by nothing else
 * and nothing is written.
 */
async function inSnapshot<T>(sql: postgres.Sql, run: (tx: postgres.TransactionSql) => Promise<T>): Promise<T> {
  return (await sql.begin('isolation level repeatable read read only', run)) as T;
}

async function copyAll(
  tx: postgres.TransactionSql,
  folder: string,
  { demo, copied }: BackupOptions,
): Promise<Manifest> {
  await withoutLimits(tx);
  const schema = await databaseVersion(tx);
  if (!schema) throw new BackupError('The database has no version of Tidegate that could be backed up.');
  const [distributed] = await tx`select to_regclass('pg_catalog.pg_dist_partition') is not null as yes`;
  if (distributed!.yes)
    throw new BackupError(
      'This database is distributed by Citus, where one snapshot does not cover ' +
        'all nodes. Back up each node with pg_basebackup.',
    );
  const [now] =
    await tx`select current_setting('server_version') as version, to_char(clock_timestamp() at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') as time`;
  const tables: TableEntry[] = [];
  const found = await tablesOf(tx);
  const size = found.reduce((sum, { bytes }) => sum + bytes, 0);
  let before = 0;
  for (const table of found) {
    // The text of a table is about as long as its pages.
    tables.push(await copyOut(tx, table, folder, (bytes) => copied(before + Math.min(bytes, table.bytes), size)));
    before += table.bytes;
    copied(before, size);
  }
  const migrations =
    await tx`select hash, created_at::float8 as at from drizzle.__drizzle_migrations order by created_at`;
  return {
    ...{ format: 1, id: randomUUID(), created: now!.time, postgres: now!.version, schema },
    migrations: migrations.map(({ hash, at }) => ({ hash, at })),
    secrets: await secretNames(tx),
    demo,
    tables,
  };
}

/** A table with its columns in the order of COPY. Generated columns are left out: PostgreSQL computes them again. */
export interface FoundTable {
  schema: 'public' | 'drizzle';
  name: string;
  columns: string[];
  /** The table and its columns as COPY takes them. */
  quoted: string;
  /** Its size on the disk without its indexes, as PostgreSQL last counted it: this waits for no lock. */
  bytes: number;
}

/** The tables with data, by name. */
export async function tablesOf(tx: postgres.TransactionSql): Promise<FoundTable[]> {
  const rows = await tx`
    select n.nspname as schema, c.relname as name, string_agg(a.attname, ',' order by a.attnum) as columns,
           format('%I.%I (%s)', n.nspname, c.relname,
             string_agg(quote_ident(a.attname), ', ' order by a.attnum)) as quoted,
           (c.relpages + coalesce(long.relpages, 0)) * current_setting('block_size')::float8 as bytes
    from pg_class c
    left join pg_class long on long.oid = c.reltoastrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relkind = 'r'
      and (n.nspname = 'public' or n.nspname = 'drizzle'
        and c.relname = any (string_to_array(${bookkeepingData.join(',')}, ',')))
    group by c.relpages, long.relpages, n.nspname, c.relname
    order by n.nspname, c.relname`;
  return rows.map((row) => ({ ...row, columns: (row.columns as string).split(',') }) as FoundTable);
}

async function copyOut(
  tx: postgres.TransactionSql,
  found: FoundTable,
  folder: string,
  copied: (bytes: number) => void,
): Promise<TableEntry> {
  const { schema, name, columns, quoted } = found;
  const file = `${schema}.${name}.copy.gz`;
  const place = path.join(folder, file);
  const hash = createHash('sha256');
  let [rows, bytes, read] = [0, 0, 0];
  const lines = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of batches(source)) {
      // The text of COPY has one line for each row; line feeds in values are escaped.
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) rows++;
      copied((read += chunk.length));
      yield chunk;
    }
  };
  const measured = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  // The driver types the stream as that of the query.
  const source = (await tx.unsafe(`copy ${quoted} to stdout`).readable()) as unknown as Readable;
  const sink = fs.createWriteStream(place, { mode: 0o600, flush: true });
  await pipeline(source, lines, createGzip(compression), measured, sink);
  // The driver stops reading its socket when the stream is full, and its last rows may fill it: then it would not read
  // the end of the statement.
  source._read(0);
  return { schema, name, columns, rows, file, bytes, sha256: hash.digest('hex') };
}

/** Joins the rows, which arrive one by one, because each piece costs the compressor a turn of a thread. */
async function* batches(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [held, size] = [[] as Buffer[], 0];
  for await (const piece of source) {
    held.push(piece);
    size += piece.length;
    if (size < batchBytes) continue;
    yield Buffer.concat(held);
    [held, size] = [[], 0];
  }
  if (size > 0) yield Buffer.concat(held);
}

/**
 * The public names of the secrets that the data depend on: of the peppers that hash keys which still work, and of the
 * keys that encrypt tax card numbers and the secrets of webhook endpoints. A database without a working key names the
 * newest pepper that it knows.
 */
async function secretNames(tx: postgres.TransactionSql): Promise<Manifest['secrets']> {
  // Some columns are younger than some databases that are backed up before their migration.
  const columns = await tx`select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public'`;
  const has = (column: string) => columns.some(({ name }) => name === column);
  const names = (list: readonly postgres.Row[]) => list.map((row) => row.name as string).filter(Boolean);
  const none = tx`select null::text as name where false`;
  // A key without a name is from before names were stored.
  const used = await tx`
    select distinct coalesce(k.name, (select fingerprint from drizzle.pepper order by slot limit 1)) as name from (
      ${
        has('api_key.pepper_id')
          ? tx`select pepper_id as name from api_key where revoked_at is null
              and (expires_at is null or expires_at > extract(epoch from clock_timestamp()))`
          : none
      }
      union all
      ${has('operator.pepper_id') ? tx`select pepper_id from operator where revoked_at is null` : none}
    ) k order by 1`;
  const newest = await tx`select fingerprint as name from drizzle.pepper order by slot desc limit 1`;
  const keys = await tx`
    select distinct split_part(x.sealed, '.', 2) as name from (
      select identification ->> 'taxCardSealed' as sealed from person
      union all ${has('webhook_endpoint.secret_sealed') ? tx`select secret_sealed from webhook_endpoint` : none}
      union all ${
        has('webhook_endpoint.previous_secret_sealed') ? tx`select previous_secret_sealed from webhook_endpoint` : none
      }
    ) x where x.sealed is not null order by 1`;
  return { peppers: names(used.length > 0 ? used : newest), encryption_keys: names(keys) };
}
