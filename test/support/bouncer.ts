import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { until } from './child.js';
import { freePort } from './ports.js';

const places = [process.env.PGBOUNCER ?? '', '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];

/**
 * The PgBouncer of the variable PGBOUNCER or of this machine, and its minor version: 21 is the first that keeps
 * statements.
 */
export const bouncerProgram = places.find((file) => fs.existsSync(file));
export const bouncerMinor = bouncerProgram
  ? Number(/PgBouncer 1\.(\d+)/.exec(execFileSync(bouncerProgram, ['--version'], { encoding: 'utf8' }))![1])
  : 0;

/**
 * A PgBouncer with the deployment's file on the run's PostgreSQL, or on the loopback's with a port. It can be killed
 * and started again on its port.
 */
export class Bouncer {
  readonly #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-bouncer-'));
  #running: ChildProcess | undefined;
  port = 0;

  constructor(private readonly server?: { port: number }) {}

  /**
   * Starts it with these settings in place of those of the deployment, as the user of the server, because only that
   * user reaches its socket.
   */
  async start(more: Record<string, string | number> = {}): Promise<void> {
    const { host } = inject('admin');
    const { uid, gid } = fs.statSync(host);
    const server = this.server ? `host=127.0.0.1 port=${this.server.port}` : `host=${host} port=5432`;
    this.port ||= await freePort();
    fs.writeFileSync(path.join(this.#folder, 'users'), '"tidegate" ""\n');
    const here = {
      listen_addr: '127.0.0.1',
      listen_port: this.port,
      auth_type: 'trust',
      default_pool_size: 4,
      ...more,
    };
    let ini = fs
      .readFileSync('docs/operations/deploy/pgbouncer.ini', 'utf8')
      .replace(/^tidegate = .*$/m, `* = ${server}`);
    for (const [name, value] of Object.entries({ ...here, auth_file: path.join(this.#folder, 'users') })) {
      const line = new RegExp(`^${name} = .*$`, 'm');
      if (!line.test(ini)) throw new Error(`pgbouncer.ini has no setting ${name}.`);
      ini = ini.replace(line, `${name} = ${value}`);
    }
    if (bouncerMinor < 21) ini = ini.replace(/^max_prepared_statements = .*$/m, '');
    fs.writeFileSync(path.join(this.#folder, 'ini'), ini);
    for (const file of ['', 'users', 'ini']) fs.chmodSync(path.join(this.#folder, file), file ? 0o644 : 0o755);
    const as = process.getuid?.() === 0 ? { uid, gid } : {};
    this.#running = spawn(bouncerProgram!, [path.join(this.#folder, 'ini')], { ...as, stdio: 'ignore' });
    await until(
      () =>
        new Promise((resolve) => {
          const socket = net.connect(this.port, '127.0.0.1', () => resolve(true));
          socket.on('connect', () => socket.destroy()).on('error', () => resolve(false));
        }),
    );
  }

  async kill(): Promise<void> {
    const ended = new Promise((resume) => this.#running!.once('exit', resume));
    this.#running!.kill('SIGKILL');
    await ended;
  }

  /** Kills it and removes its files. */
  async stop(): Promise<void> {
    await this.kill();
    fs.rmSync(this.#folder, { recursive: true });
  }
}
