import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from './config.js';
import { connectionOf } from './db/address.js';
import { Database } from './db/database.js';
import { type Embedded, startEmbedded } from './db/embedded.js';
import { type Connection, exclusively, migrate } from './db/migrate.js';

/** Which attempt at seeding the demo was the last, and whether it came to its end. */
export interface DemoState {
  attempt: number;
  whole: boolean;
}

/** The database as this process uses it, and what it took to get there. */
export interface Store {
  database: Database;
  pepper: string;
  /** Whether this is the embedded server, the one that may be seeded with a demo. */
  embedded: boolean;
  /** Does a piece of work while no other process on this database does the same. */
  exclusively<T>(work: string, run: () => Promise<T>): Promise<T>;
  /** Does work in haste: fast, and lost if the server crashes meanwhile. For seeding a demo. */
  hastily<T>(run: (database: Database) => Promise<T>): Promise<T>;
  /** What is known of the demo's seeding, or what is to be. */
  demo(state?: DemoState): DemoState | undefined;
  /** Ends the connections and lets go of the embedded server. */
  close(): Promise<void>;
}

/** Opens the configured database, or the embedded one, at this program's version. Several processes may do so at once. */
export async function openStore(config: Config, progress: (step: string) => void): Promise<Store> {
  if (config.DATABASE_URL !== undefined) {
    const connection = connectionOf(config.DATABASE_URL);
    await migrate(connection);
    const database = new Database(connection);
    return {
      database,
      pepper: config.API_KEY_PEPPER!,
      embedded: false,
      exclusively: (work, run) => exclusively(connection, work, run),
      hastily: (run) => hastily(connection, run),
      demo: () => undefined,
      close: () => database.close(),
    };
  }
  const dir = path.join(config.DATA_DIR, 'postgres');
  const embedded = await startEmbedded({ dir, progress });
  const revived: Embedded[] = [];
  // A crashed server is started again by whoever misses it first; its socket is where it was, so the pools find it.
  const revive = once(async () => {
    revived.push(await startEmbedded({ dir }));
  });
  try {
    await migrate(embedded.options);
    const database = new Database(embedded.options, revive);
    const close = async () => {
      await database.close();
      for (const hold of [...revived, embedded]) await hold.release();
    };
    return {
      database,
      pepper: config.API_KEY_PEPPER ?? localPepper(config.DATA_DIR),
      embedded: true,
      exclusively: (work, run) => exclusively(embedded.options, work, run),
      hastily: (run) => hastily(embedded.options, run),
      demo: (state) => demoState(path.join(config.DATA_DIR, 'demo.json'), state),
      close,
    };
  } catch (error) {
    await embedded.release();
    throw error;
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

async function hastily<T>(connection: Connection, run: (database: Database) => Promise<T>): Promise<T> {
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

/** The pepper of the local mode: a file beside the data, made once. The link makes the making atomic: two processes agree on one. */
function localPepper(folder: string): string {
  const file = path.join(folder, 'pepper');
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
