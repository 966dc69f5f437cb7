import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { timelineOfFile, type WalPosition, walPositionOf } from '../../src/db/replicas/wal-positions.js';
import { copyDataFolder } from './data-folders.js';
import { until } from './child.js';
import { freePort } from './ports.js';

/** A PostgreSQL on the loopback, and a connection to it as its superuser. */
export interface Server {
  /** The folder of its data. */
  data: string;
  port: number;
  process: ChildProcess;
  sql: postgres.Sql;
}

/**
 * Servers on the loopback whose data are copies of a prepared data folder, with the role and the database `tidegate`:
 * a primary, and standbys that follow it.
 */
export class Servers {
  #running: Server[] = [];
  #program = '';
  #ids = { uid: 0, gid: 0 };

  constructor(private readonly folder: string) {}

  /** Prepares one more copy of the data, of the same cluster; returns its folder. Call it before the servers start. */
  async copy(name: string): Promise<string> {
    const data = path.join(this.folder, name);
    if (this.#program === '') {
      const whole = path.join(this.folder, 'prepared');
      fs.mkdirSync(whole, { mode: 0o755 });
      await copyDataFolder(whole, 'migrated');
      const { uid, gid } = fs.statSync(path.join(whole, 'postgres', 'cluster'));
      this.#ids = { uid, gid };
      const options = fs.readFileSync(path.join(whole, 'postgres', 'cluster', 'postmaster.opts'), 'utf8');
      this.#program = /^\S+/.exec(options)![0];
    }
    copied(path.join(this.folder, 'prepared', 'postgres', 'cluster'), data);
    return data;
  }

  /** The user and group of the servers. */
  get ids(): { uid: number; gid: number } {
    return this.#ids;
  }

  /**
   * Starts a server on a copy, as a standby of another server if one is given, and waits until it answers. Its process
   * also gets the variables of `environment`.
   */
  async start(
    data: string,
    settings: string[] = [],
    of?: Server,
    port?: number,
    environment: Record<string, string> = {},
  ): Promise<Server> {
    const server = await this.#spawned(
      data,
      port ?? (await freePort()),
      [...settings, ...(of ? [`primary_conninfo=host=127.0.0.1 port=${of.port} user=postgres`] : [])],
      of !== undefined,
      environment,
    );
    await until(() =>
      server.sql`select 1`.then(
        () => true,
        () => false,
      ),
    );
    return server;
  }

  async #spawned(
    data: string,
    port: number,
    settings: string[],
    standby: boolean,
    environment: Record<string, string>,
  ): Promise<Server> {
    const signal = path.join(data, 'standby.signal');
    fs.rmSync(signal, { force: true });
    if (standby) {
      fs.writeFileSync(signal, '');
      fs.chownSync(signal, this.#ids.uid, this.#ids.gid);
    }
    const common = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'shared_buffers=32MB'];
    // The data are of an embedded server, and a standby must admit as many connections as the server of its data.
    common.push('max_connections=400');
    const given = [...common, ...settings].flatMap((setting) => ['-c', setting]);
    const env = { ...process.env, ...environment };
    const child = spawn(this.#program, ['-D', data, ...given], { ...this.#ids, cwd: '/', stdio: 'ignore', env });
    const sql = postgres({
      ...{ host: '127.0.0.1', port, username: 'postgres', database: 'tidegate', max: 1, backoff: () => 0.05 },
      onnotice: () => {},
      fetch_types: false,
    });
    const server = { data, port, process: child, sql };
    this.#running.push(server);
    return server;
  }

  /** Makes the data of a stopped server a base backup of a running one, with a label from which a standby starts. */
  async backUp(from: Server, data: string): Promise<void> {
    const session = await from.sql.reserve();
    try {
      await session`select pg_backup_start('standby', true)`;
      fs.rmSync(data, { recursive: true, force: true });
      copied(from.data, data);
      const [label] = await session<[{ labelfile: string }]>`select labelfile from pg_backup_stop(false)`;
      for (const name of ['postmaster.pid', 'standby.signal']) fs.rmSync(path.join(data, name), { force: true });
      fs.writeFileSync(path.join(data, 'backup_label'), label.labelfile);
      fs.chownSync(path.join(data, 'backup_label'), this.#ids.uid, this.#ids.gid);
    } finally {
      session.release();
    }
  }

  /** Sends a signal to a server and to all its processes, which have groups of their own. */
  signal({ process: { pid } }: Server, name: NodeJS.Signals): void {
    const others = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    for (const each of [pid!, ...others]) process.kill(each, name);
  }

  /** Ends a server at once, as a crash does. */
  async end(server: Server | undefined): Promise<void> {
    if (!server) return;
    await server.sql.end({ timeout: 1 });
    if (server.process.exitCode !== null || server.process.signalCode !== null) return;
    const end = new Promise((resume) => server.process.once('exit', resume));
    server.process.kill('SIGCONT');
    server.process.kill('SIGQUIT');
    await end;
  }

  async endAll(): Promise<void> {
    for (const server of this.#running) await this.end(server);
  }
}

/** The position of a primary in its log, with its timeline. */
export async function positionOf(primary: Server): Promise<WalPosition> {
  const [{ lsn, file }] = await primary.sql<[{ lsn: string; file: string }]>`
    select pg_current_wal_flush_lsn()::text as lsn, pg_walfile_name(pg_current_wal_insert_lsn()) as file`;
  return walPositionOf(timelineOfFile(file), lsn);
}

/** Waits until a standby has replayed all that its primary has written. */
export async function caughtUp(primary: Server, standby: Server): Promise<void> {
  const [{ at }] = await primary.sql<[{ at: string }]>`select pg_current_wal_flush_lsn()::text as at`;
  await until(async () => {
    const [row] = await standby.sql<[{ there: boolean }]>`select pg_last_wal_replay_lsn() >= ${at}::pg_lsn as there`;
    return row.there;
  });
}

/** Copies a folder with its owners. A file that a running server removes meanwhile is none of the backup. */
function copied(from: string, to: string): void {
  const { error } = spawnSync('cp', ['-a', from, to]);
  if (error) throw error;
}
