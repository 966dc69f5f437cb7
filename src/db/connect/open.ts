import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type Config, ConfigError } from '../../config/config.js';
import { connectionOf, replicasOf } from './driver/address.js';
import { Database } from '../database.js';
import type { Embedded } from '../embedded/lease.js';
import { startEmbedded } from '../embedded/server.js';
import type { Connection } from './driver/connection.js';
import type { PoolSettings, SlowLimits } from './database-settings.js';
import { compared, MigrationError, newerThan, olderThan } from '../schema/schema-version.js';
import { withAdvisoryLock } from '../schema/advisory-lock.js';
import { migrate, type Migrated, type MigrationOptions } from '../schema/migrate.js';
import { refuseForgetfulPooler } from './pooler.js';
import { during, knownSecrets, refuseRivals, versionOf } from './start.js';
import { Secrets } from '../../config/secrets.js';

/** The settings, for commands that open the database by themselves. */
export type { Config } from '../../config/config.js';

/** The last attempt at seeding the demo, and whether it completed. */
interface DemoState {
  attempt: number;
  complete: boolean;
}

/** The database as this process uses it, with everything that opening it produced. */
export interface Store {
  database: Database;
  /** The pepper from which the demo's ids and keys derive. */
  pepper: string;
  secrets: Secrets;
  /** Whether this is the embedded server. Only this server may be seeded with a demo. */
  embedded: boolean;
  /** Runs a piece of work while no other process on this database runs the same work. */
  withAdvisoryLock<T>(work: string, run: () => Promise<T>): Promise<T>;
  /** Runs work with asynchronous commit: it is fast, but a server crash may lose it. For seeding a demo. */
  withAsynchronousCommit<T>(run: (database: Database) => Promise<T>): Promise<T>;
  /** Reads the state of the demo's seeding, or stores a new one. */
  demo(state?: DemoState): DemoState | undefined;
  /** Ends the connections and releases the leases on the embedded server. */
  close(): Promise<void>;
}

/** How a store is opened. */
export interface Opening {
  /** Whether this process may migrate the database. A command of the command line may not. */
  migrates: boolean;
  /** Receives the name of a long step, for a terminal. */
  progress: (step: string) => void;
  /** Receives a line that the operator should see, whether or not there is a terminal. */
  say: (line: string) => void;
}

/**
 * Opens the configured database, or the embedded one. Several processes may do so at once. Migrates a database that is
 * older than this program, if this process may do that; otherwise a MigrationError says which command to run.
 */
export async function openStore(config: Config, opening: Opening): Promise<Store> {
  const migrates = opening.migrates && config.MIGRATE === 'auto';
  if (config.DATABASE_URL !== undefined) {
    const connection = { ...connectionOf(config.DATABASE_URL), ...(!config.PREPARED_STATEMENTS && { prepare: false }) };
    const owner = config.MIGRATION_URL === undefined ? connection : connectionOf(config.MIGRATION_URL);
    if (opening.migrates) await refuseRivals(connection);
    await prepared(connection, owner, config, migrates, opening);
    const secrets = Secrets.of(config.API_KEY_PEPPER!, config.ENCRYPTION_KEY);
    await knownSecrets(connection, secrets, opening);
    if (opening.migrates && config.PREPARED_STATEMENTS) await refuseForgetfulPooler(connection);
    const listens = config.LISTEN_URL === undefined ? connection : connectionOf(config.LISTEN_URL);
    const database = new Database(connection, undefined, {
      ...{ slow: slowOf(config), pools: poolsOf(config), listens },
      replicas: replicasFor(config, opening),
    });
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
  // The first process that finds a crashed server missing restarts it. Its socket has the same path, so the pools find
  // it.
  const restart = once(async () => {
    restarted.push(await startEmbedded({ dir }));
  });
  try {
    await prepared(embedded.options, embedded.options, config, migrates, opening);
    const pepper = config.API_KEY_PEPPER ?? localSecret(config.DATA_DIR, 'pepper');
    const secrets = Secrets.of(pepper, config.ENCRYPTION_KEY ?? localSecret(config.DATA_DIR, 'encryption-key'));
    await knownSecrets(embedded.options, secrets, opening);
    const database = new Database(embedded.options, restart, { slow: slowOf(config), pools: poolsOf(config) });
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

function slowOf({ SLOW_CONNECTIONS, SLOW_SECONDS }: Config): SlowLimits {
  return { connections: SLOW_CONNECTIONS, seconds: SLOW_SECONDS };
}

/** The standbys. A command ends too soon to learn how old their data are, and reads on the primary. */
function replicasFor({ DATABASE_REPLICA_URL, REPLICA_LAG_SECONDS, PREPARED_STATEMENTS }: Config, opening: Opening) {
  if (DATABASE_REPLICA_URL === undefined) return undefined;
  const connections = replicasOf(DATABASE_REPLICA_URL).map((connection) => ({
    ...connection,
    ...(!PREPARED_STATEMENTS && { prepare: false }),
  }));
  return { connections, lagSeconds: REPLICA_LAG_SECONDS, reads: opening.migrates };
}

/** The pools and limits of a gateway's connections. */
export function poolsOf(config: Config): PoolSettings {
  return {
    read: config.READ_CONNECTIONS,
    write: config.WRITE_CONNECTIONS,
    worker: config.WORKER_CONNECTIONS,
    statementMilliseconds: config.STATEMENT_SECONDS * 1_000,
    lockMilliseconds: config.LOCK_SECONDS * 1_000,
  };
}

/** Migrates the configured database, or the embedded one, as the role that owns it. For `grantTo` see `migrate`. */
export async function migrateStore(
  config: Config,
  { progress, ...given }: Pick<Opening, 'progress' | 'say'> & Pick<MigrationOptions, 'grantTo' | 'action' | 'stepped'>,
): Promise<Migrated> {
  const options = { ...given, lockSeconds: config.MIGRATION_LOCK_SECONDS };
  return asOwner(config, progress, async (connection) => {
    // The embedded server is known to answer, and to apply the limits.
    if (ownerAddress(config) !== undefined)
      await during('connecting to PostgreSQL', () => versionOf(connection, poolsOf(config)));
    return during('migrating the database', () => migrate(connection, options));
  });
}

const ownerAddress = (config: Config) => config.MIGRATION_URL ?? config.DATABASE_URL;

/** Runs work that needs the owner of the tables, on the configured database or the embedded one. */
export async function asOwner<T>(
  config: Config,
  progress: Opening['progress'],
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const address = ownerAddress(config);
  if (address !== undefined) return work(connectionOf(address));
  writable(config.DATA_DIR);
  const embedded = await startEmbedded({ dir: path.join(config.DATA_DIR, 'postgres'), progress });
  try {
    return await work(embedded.options);
  } finally {
    await embedded.release();
  }
}

/** Opens the pools over a database for one piece of work. */
export async function withDatabase<T>(connection: Connection, run: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database(connection);
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}

/** Reads the state of the demo from a folder's file, or stores it; undefined with another PostgreSQL. */
export function demoOf(config: Config, state?: DemoState): DemoState | undefined {
  return ownerAddress(config) === undefined ? demoState(path.join(config.DATA_DIR, 'demo.json'), state) : undefined;
}

/** The secrets of the settings and of the data folder; makes none. Undefined where there is no pepper. */
export function existingSecrets(config: Config): Secrets | undefined {
  const ofFile = (name: string) => {
    const file = path.join(config.DATA_DIR, name);
    return config.DATABASE_URL === undefined && fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : undefined;
  };
  const pepper = config.API_KEY_PEPPER ?? ofFile('pepper');
  return pepper === undefined ? undefined : Secrets.of(pepper, config.ENCRYPTION_KEY ?? ofFile('encryption-key'));
}

/**
 * Checks that the gateway can serve the database: it answers, applies the session's limits, and has a usable version.
 */
async function prepared(
  connection: Connection,
  owner: Connection,
  config: Config,
  migrates: boolean,
  { say }: Opening,
): Promise<void> {
  const found = await during('connecting to PostgreSQL', () => versionOf(connection, poolsOf(config)));
  const state = compared(found);
  if (state === 'newer') say(`${newerThan(found!)} This program serves it without changing it.`);
  if (state !== 'older') return;
  if (!migrates) {
    const other = config.MIGRATE === 'auto' ? ', or start the gateway, which does so' : '';
    throw new MigrationError(`${olderThan(found)} Run the command "tidegate migrate"${other}.`);
  }
  await during('migrating the database', () => migrate(owner, { say, lockSeconds: config.MIGRATION_LOCK_SECONDS }));
}

/** Refuses a folder that this process cannot write to. */
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

/**
 * Reads the state, or writes it. A rename replaces the file, so that a crash leaves either the old or the new state.
 * Other versions of the gateway read the same file, where `complete` is called `whole`.
 */
function demoState(file: string, state?: DemoState): DemoState | undefined {
  if (state) {
    const { attempt, complete } = state;
    fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify({ attempt, whole: complete }));
    fs.renameSync(`${file}.${process.pid}`, file);
    return state;
  }
  if (!fs.existsSync(file)) return undefined;
  const { attempt, whole } = JSON.parse(fs.readFileSync(file, 'utf8')) as { attempt: number; whole: boolean };
  return { attempt, complete: whole };
}

async function withAsynchronousCommit<T>(connection: Connection, run: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database(connection, undefined, { durable: false });
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}

/** Callers that arrive while the work runs share its result, so that it never runs twice at the same time. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The pepper from which the demo derives: the oldest, because the demo was seeded with it. */
function firstPepper(peppers: string): string {
  return peppers.split(/\s*,\s*/).at(-1)!;
}

/**
 * A secret for the embedded server: a file next to the data, made once. The link makes its creation atomic, so that two
 * processes use the same secret.
 */
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
