import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type Config, ConfigError } from '../config.js';
import { connectionOf } from './address.js';
import { Database } from './database.js';
import type { Embedded } from './embedded/lease.js';
import { startEmbedded } from './embedded/server.js';
import type { Connection } from './connection.js';
import { compared, MigrationError, newerThan, olderThan, type SchemaVersion } from './schema-version.js';
import { withAdvisoryLock } from './advisory-lock.js';
import { migrate } from './migrate.js';
import { during, known, versionOf } from './start.js';
import { Secrets } from './secrets.js';

/** Which attempt at seeding the demo was the last, and whether it came to its end. */
interface DemoState {
  attempt: number;
  whole: boolean;
}

/** The database as this process uses it, and what it took to get there. */
export interface Store {
  database: Database;
  /** The pepper from which the demo's ids and keys derive. */
  pepper: string;
  secrets: Secrets;
  /** Whether this is the embedded server, the one that may be seeded with a demo. */
  embedded: boolean;
  /** Does a piece of work while no other process on this database does the same. */
  withAdvisoryLock<T>(work: string, run: () => Promise<T>): Promise<T>;
  /** Does work with asynchronous commit: fast, and lost if the server crashes meanwhile. For seeding a demo. */
  withAsynchronousCommit<T>(run: (database: Database) => Promise<T>): Promise<T>;
  /** What is known of the demo's seeding, or what is to be. */
  demo(state?: DemoState): DemoState | undefined;
  /** Ends the connections and lets go of the embedded server. */
  close(): Promise<void>;
}

/** How a store is opened. */
export interface Opening {
  /** Whether this process may migrate the database; a command may not. */
  migrates: boolean;
  /** Takes the name of a long step, for a terminal. */
  progress: (step: string) => void;
  /** Takes a line that the operator should see wherever it goes. */
  say: (line: string) => void;
}

/**
 * Opens the configured database, or the embedded one. Several processes may do so at once. A database that is older than
 * this program is migrated where this process may do that; otherwise a MigrationError says what to run.
 */
export async function openStore(config: Config, opening: Opening): Promise<Store> {
  const migrates = opening.migrates && config.MIGRATE === 'auto';
  if (config.DATABASE_URL !== undefined) {
    const connection = { ...connectionOf(config.DATABASE_URL), ...(!config.PREPARED_STATEMENTS && { prepare: false }) };
    const owner = config.MIGRATION_URL === undefined ? connection : connectionOf(config.MIGRATION_URL);
    await prepared(connection, owner, config, migrates, opening);
    const secrets = Secrets.of(config.API_KEY_PEPPER!, config.ENCRYPTION_KEY);
    await during('connecting to PostgreSQL', () => known(connection, secrets));
    const database = new Database(connection);
    return {
      database,
      pepper: firstPepper(config.API_KEY_PEPPER!),
      secrets,
      embedded: false,
      withAdvisoryLock: (work, run) => withAdvisoryLock(connection, work, run),
      withAsynchronousCommit: (run) => withAsynchronousCommit(connection, run),
      demo: () => undefined,
      close: () => database.close(),
    };
  }
  writable(config.DATA_DIR);
  const dir = path.join(config.DATA_DIR, 'postgres');
  const embedded = await startEmbedded({ dir, progress: opening.progress });
  const restarted: Embedded[] = [];
  // A crashed server is started again by whoever misses it first; its socket is where it was, so the pools find it.
  const restart = once(async () => {
    restarted.push(await startEmbedded({ dir }));
  });
  try {
    await prepared(embedded.options, embedded.options, config, migrates, opening);
    const pepper = config.API_KEY_PEPPER ?? localSecret(config.DATA_DIR, 'pepper');
    const secrets = Secrets.of(pepper, config.ENCRYPTION_KEY ?? localSecret(config.DATA_DIR, 'encryption-key'));
    await during('connecting to PostgreSQL', () => known(embedded.options, secrets));
    const database = new Database(embedded.options, restart);
    const close = async () => {
      await database.close();
      for (const lease of [...restarted, embedded]) await lease.release();
    };
    return {
      database,
      pepper: firstPepper(pepper),
      secrets,
      embedded: true,
      withAdvisoryLock: (work, run) => withAdvisoryLock(embedded.options, work, run),
      withAsynchronousCommit: (run) => withAsynchronousCommit(embedded.options, run),
      demo: (state) => demoState(path.join(config.DATA_DIR, 'demo.json'), state),
      close,
    };
  } catch (error) {
    await embedded.release();
    throw error;
  }
}

/** Migrates the configured database, or the embedded one, as the role that owns it; `grantTo` as `migrate` has it. */
export async function migrateStore(
  config: Config,
  { grantTo, progress, say }: Pick<Opening, 'progress' | 'say'> & { grantTo?: string | undefined },
): Promise<SchemaVersion> {
  const options = { grantTo, say, lockSeconds: config.MIGRATION_LOCK_SECONDS };
  const address = config.MIGRATION_URL ?? config.DATABASE_URL;
  if (address !== undefined) {
    const connection = connectionOf(address);
    await during('connecting to PostgreSQL', () => versionOf(connection));
    return during('migrating the database', () => migrate(connection, options));
  }
  writable(config.DATA_DIR);
  const embedded = await startEmbedded({ dir: path.join(config.DATA_DIR, 'postgres'), progress });
  try {
    return await during('migrating the database', () => migrate(embedded.options, options));
  } finally {
    await embedded.release();
  }
}

/** Makes sure that the database can be served: it answers, keeps the limits of a session, and is at a fitting version. */
async function prepared(
  connection: Connection,
  owner: Connection,
  config: Config,
  migrates: boolean,
  { say }: Opening,
): Promise<void> {
  const found = await during('connecting to PostgreSQL', () => versionOf(connection));
  const state = compared(found);
  if (state === 'newer') say(`${newerThan(found!)} It is served as it is, and not changed.`);
  if (state !== 'older') return;
  if (!migrates) {
    const other = config.MIGRATE === 'auto' ? ', or start the gateway, which does so' : '';
    throw new MigrationError(`${olderThan(found)} Run the command "tidegate migrate"${other}.`);
  }
  await during('migrating the database', () => migrate(owner, { say, lockSeconds: config.MIGRATION_LOCK_SECONDS }));
}

/** Refuses a folder in which nothing can be written. */
function writable(folder: string): void {
  const probe = path.join(folder, `.probe.${process.pid}.${randomBytes(4).toString('hex')}`);
  try {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(probe, '');
    fs.unlinkSync(probe);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`DATA_DIR: the folder ${folder} cannot be written (${code}).`);
  }
}

/** Reads the state, or writes it whole: by a rename, so that a crash leaves the one or the other. */
function demoState(file: string, state?: DemoState): DemoState | undefined {
  if (state) {
    fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify(state));
    fs.renameSync(`${file}.${process.pid}`, file);
    return state;
  }
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as DemoState) : undefined;
}

async function withAsynchronousCommit<T>(connection: Connection, run: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database(connection, undefined, { durable: false });
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}

/** The same work for all who ask while it is under way. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The pepper from which the demo derives: the oldest, since it was seeded first. */
function firstPepper(peppers: string): string {
  return peppers.split(/\s*,\s*/).at(-1)!;
}

/** A secret of the local mode: a file beside the data, made once. The link makes the making atomic: two processes agree on one. */
function localSecret(folder: string, name: string): string {
  const file = path.join(folder, name);
  if (!fs.existsSync(file)) {
    const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    fs.writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600 });
    try {
      fs.linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      fs.unlinkSync(draft);
    }
  }
  return fs.readFileSync(file, 'utf8').trim();
}
