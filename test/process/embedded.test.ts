import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Embedded } from '../../src/db/embedded/lease.js';
import { startEmbedded } from '../../src/db/embedded/server.js';
import { alive } from '../support/alive.js';
import { childrenOf } from '../support/child.js';

let dir: string;
const folders: string[] = [];
const leaseHolders: LeaseHolder[] = [];
const embeddeds: Embedded[] = [];

afterEach(async () => {
  for (const leaseHolder of leaseHolders.splice(0)) await leaseHolder.kill();
  for (const embedded of embeddeds.splice(0)) await embedded.release();
  await until(() => !alive(postmaster()));
});

afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

describe('the lease of the embedded PostgreSQL', () => {
  // A first start takes most of the time, so only the first of these tests has one.
  beforeAll(empty);

  it('is shared by two processes that start concurrently in an empty folder', async () => {
    const [one, other] = [leaseHolder(), leaseHolder()];

    const [first, second] = [await one.waitFor('ready'), await other.waitFor('ready')];

    expect(second).toEqual(first);
    expect([...one.lines, ...other.lines].filter(({ step }) => step === 'Making the database')).toHaveLength(1);
  });

  it('keeps the server for the second holder if the starter is killed, and stops it at its release', async () => {
    const starter = leaseHolder();
    const { started } = await starter.waitFor('ready');
    const second = leaseHolder();
    await second.waitFor('ready');

    await starter.kill();
    second.say('ask');

    expect(await second.waitFor('started', 2)).toEqual({ started });
    const pid = postmaster();
    expect(alive(pid)).toBe(true);
    second.say('release');
    await second.waitFor('released');
    expect(alive(pid)).toBe(false);
  });

  it('is released without waiting for a stop while another process has one', async () => {
    const embedded = await lease();
    const other = await lease();

    await other.release();
    await other.release();

    expect(alive(postmaster())).toBe(true);
    await embedded.release();
    expect(postmaster()).toBeUndefined();
    expect(fs.existsSync(embedded.options.host)).toBe(false);
  });

  it('logs in as an ordinary role, to which a revoked privilege applies', async () => {
    const embedded = await lease();
    const sql = postgres({ ...embedded.options, max: 1, onnotice: () => {} });
    try {
      const [role] = await sql`select rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user`;
      expect(role).toEqual({ rolsuper: false, rolcreaterole: false, rolcreatedb: false });

      await sql.unsafe('create table entry (amount int); insert into entry values (1)');
      await sql.unsafe('revoke update, delete, truncate on entry from current_user');

      await expect(sql`update entry set amount = 2`).rejects.toMatchObject({ code: '42501' });
      await expect(sql`select from pg_read_file('/etc/passwd')`).rejects.toMatchObject({ code: '42501' });
    } finally {
      await sql.end();
    }
  });

  it('gives tests a superuser who creates databases', async () => {
    const sql = postgres({ ...(await lease()).admin, max: 1 });
    try {
      await sql`create database another owner tidegate`;
      expect(await sql`select datname from pg_database where datname = 'another'`).toHaveLength(1);
    } finally {
      await sql.end();
    }
  });

  it('leaves no orphan when its only holder is killed, and keeps what was committed', async () => {
    const only = leaseHolder();
    await only.waitFor('ready');
    only.say('insert');
    await only.waitFor('id', 10);
    const pid = postmaster();

    await only.kill();

    await until(() => !alive(pid));
    expect(await rows(await lease())).toBeGreaterThanOrEqual(only.lines.at(-1)?.id as number);
  });

  it('recovers at the next start when the server itself is killed, with every acknowledged row', async () => {
    const writer = leaseHolder();
    await writer.waitFor('ready');
    writer.say('insert');
    await writer.waitFor('id', 10);
    const pid = postmaster() as number;

    process.kill(pid, 'SIGKILL');
    await writer.ended;

    const embedded = await lease();
    expect(postmaster()).not.toBe(pid);
    expect(await rows(embedded)).toBeGreaterThanOrEqual(writer.lines.filter(({ id }) => id).at(-1)?.id as number);
  });

  // The supervisor finds no holder left, and a new process takes a lease before the supervisor hides its FIFO with
  // `mv`.
  it('is never given for a server that is about to stop', async () => {
    const tools = path.join(dir, 'tools');
    const [begun, go] = [path.join(tools, 'begun'), path.join(tools, 'go')];
    fs.mkdirSync(tools);
    fs.chmodSync(tools, 0o777);
    const slow = `echo >> ${begun}; while [ ! -e ${go} ]; do sleep 0.02; done; exec /bin/mv "$@"`;
    fs.writeFileSync(path.join(tools, 'mv'), `#!/bin/sh\n${slow}\n`, { mode: 0o755 });
    const last = leaseHolder({ PATH: `${tools}:${process.env.PATH}` });
    await last.waitFor('ready');
    const pid = postmaster();
    await last.kill();
    await until(() => fs.existsSync(begun));

    const newcomer = await lease();
    fs.writeFileSync(go, '');
    await until(() => fs.readFileSync(begun, 'utf8') === '\n\n' || !alive(pid));

    expect(alive(pid)).toBe(true);
    expect(await answers(newcomer)).toBe(true);
  });

  // Only Linux lists the processes of a group without an extra tool.
  it.runIf(process.platform === 'linux')('adopts a server whose supervisor was killed', async () => {
    const first = await lease();
    const pid = postmaster() as number;
    for (const shell of shells(pid)) process.kill(shell, 'SIGKILL');
    await until(() => shells(pid).length === 0);

    const second = await lease();

    expect(postmaster()).toBe(pid);
    await first.release();
    expect(await answers(second)).toBe(true);
    await second.release();
    expect(alive(pid)).toBe(false);
  });

  // After a hard stop of the machine the pid in the lock file may belong to any process, here to the test.
  it('starts although another program has the pid of a server that was killed', async () => {
    const killed = await lease();
    process.kill(postmaster() as number, 'SIGKILL');
    await killed.release();
    const file = path.join(dir, 'cluster', 'postmaster.pid');
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/^\d+/, String(process.pid)));

    expect(await answers(await lease())).toBe(true);
  });
});

describe('a start', () => {
  beforeEach(empty);

  it('repairs a first start that was killed', async () => {
    const first = leaseHolder();
    await first.waitFor('step');
    const run = path.join(dir, 'run');
    await until(() => fs.readdirSync(run).some((name) => name.startsWith('cluster-')));

    await first.kill();

    expect(fs.readdirSync(dir)).toEqual(['run']);
    expect(await answers(await lease())).toBe(true);
    expect(fs.readdirSync(run).filter((name) => name.startsWith('cluster-'))).toEqual([]);
  });

  // The old server would write its last checkpoint, by path, into the data of the new one.
  it('refuses to put new data where a server still uses deleted ones', async () => {
    const embedded = await lease();
    const pid = postmaster()!;
    // A server that finds its files gone ends by itself within a second. One that is busy does not find out. None of
    // its processes makes files in folders that are being removed.
    process.kill(pid, 'SIGSTOP');
    const all = [pid, ...childrenOf(pid)];
    for (const each of all) process.kill(each, 'SIGSTOP');
    try {
      fs.rmSync(dir, { recursive: true, maxRetries: 5 });

      await expect(startEmbedded({ dir })).rejects.toThrow('data that were deleted');
    } finally {
      // The first process last: it collects those that had ended when they were stopped.
      for (const each of all.toReversed()) process.kill(each, 'SIGCONT');
    }
    await embedded.release();
    await until(() => !alive(pid));
    expect(await answers(await lease())).toBe(true);
  });

  it('waits for a server that does not answer as long as its process lives', async () => {
    await leaseHolder().waitFor('ready');
    const pid = postmaster()!;
    const steps: string[] = [];
    // Each look at the clock is seven seconds after the one before, so that the patience ends several times.
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 7_000));
    process.kill(pid, 'SIGSTOP');
    try {
      const joined = startEmbedded({ dir, progress: (step) => steps.push(step) });
      await until(() => steps.filter((step) => step === 'PostgreSQL takes long to start').length === 2);
      process.kill(pid, 'SIGCONT');
      embeddeds.push(await joined);
    } finally {
      process.kill(pid, 'SIGCONT');
      clock.mockRestore();
    }
    expect([postmaster(), await answers(embeddeds[0]!)]).toEqual([pid, true]);
  });

  it('reports the reason if the server cannot start', async () => {
    await (await lease()).release();
    fs.writeFileSync(path.join(dir, 'cluster', 'PG_VERSION'), '9\n');

    await expect(startEmbedded({ dir })).rejects.toThrow(/DATABASE_URL[^]*version 9/);
  });

  // Only root can give the folder to another user.
  it.runIf(process.getuid?.() === 0)('refuses the socket folder of another user', async () => {
    const embedded = await lease();
    await embedded.release();
    const { host } = embedded.options;
    fs.mkdirSync(host);
    fs.chownSync(host, 4321, 4321);
    try {
      await expect(startEmbedded({ dir })).rejects.toThrow('belongs to another user (4321)');
    } finally {
      fs.rmdirSync(host);
    }
  });
});

function empty(): void {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-embedded-'));
  folders.push(dir);
  // If the tests run as root, PostgreSQL runs as another user, who must be able to enter the folder.
  fs.chmodSync(dir, 0o755);
}

type Line = { step?: string; ready?: boolean; started?: string; id?: number; released?: boolean };
type LeaseHolder = {
  lines: Line[];
  ended: Promise<void>;
  say(line: string): void;
  waitFor(key: keyof Line, times?: number): Promise<Line>;
  kill(): Promise<void>;
};

function leaseHolder(environment: NodeJS.ProcessEnv = {}): LeaseHolder {
  const file = fileURLToPath(new URL('../fixtures/embedded-lease-holder.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', file, dir], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let [errors, over] = ['', false];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin?.on('error', () => {});
  const lines: Line[] = [];
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  reader.on('line', (line) => lines.push(JSON.parse(line) as Line));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve())).then(() => void (over = true));
  const made: LeaseHolder = {
    lines,
    ended,
    say: (line) => child.stdin?.write(`${line}\n`),
    async waitFor(key, times = 1) {
      const found = () => lines.filter((line) => line[key] !== undefined)[times - 1];
      await until(() => found() !== undefined || over);
      return found() ?? expect.unreachable(`The holder ended without reporting "${key}": ${errors}`);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
  leaseHolders.push(made);
  return made;
}

async function lease(): Promise<Embedded> {
  const embedded = await startEmbedded({ dir, durable: false });
  embeddeds.push(embedded);
  return embedded;
}

async function answers(embedded: Embedded): Promise<boolean> {
  const sql = postgres({ ...embedded.options, max: 1 });
  return (await sql`select 1`.finally(() => sql.end())).length === 1;
}

async function rows(embedded: Embedded): Promise<number> {
  const sql = postgres({ ...embedded.options, max: 1 });
  const [row] = await sql`select count(*)::int as count from row`.finally(() => sql.end());
  return row?.count as number;
}

function postmaster(): number | undefined {
  const file = path.join(dir, 'cluster', 'postmaster.pid');
  return fs.existsSync(file) ? Number.parseInt(fs.readFileSync(file, 'utf8'), 10) : undefined;
}

/** The shells in the process group of a server: its supervisor. */
function shells(pid: number): number[] {
  const group = (id: string) => {
    const file = `/proc/${id}/stat`;
    const [, state, , number] = (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '').split(/\) | /).slice(1);
    return state === 'Z' ? undefined : number;
  };
  const own = group(String(pid));
  const others = fs.readdirSync('/proc').filter((id) => /^\d+$/.test(id) && Number(id) !== pid);
  return others.filter((id) => own !== undefined && group(id) === own).map(Number);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
