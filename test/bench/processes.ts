import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Setting } from './contenders/setting.ts';
import { pepper, type Seeded } from './seed.ts';
import { addressOf, type Login } from './server.ts';
import type { Contender } from './workloads.ts';

export interface Running {
  contender: Contender;
  origin: string;
  pid: number;
  /** The time from the start of the process to its first answer. */
  milliseconds: number;
  stop(): Promise<void>;
}

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, '../..');
const portOf: Record<Contender, number> = {
  tidegate: 4810,
  stock: 4811,
  postgraphile: 4812,
  mercurius: 4813,
  rest: 4814,
};

/** The headers of every request: the same for all contenders, though only two of them check the key. */
export const headersFor = (seeded: Seeded) => ({
  Authorization: `Bearer ${seeded.key}`,
  'Content-Type': 'application/json',
  'X-Forwarded-Proto': 'https',
});

/**
 * Starts a contender over a database and waits until it answers; with several `workers` of the product, until the first
 * one does. `settings` are more settings of the product.
 */
export async function start(
  contender: Contender,
  login: Login,
  seeded: Seeded,
  shift = 0,
  workers = 1,
  settings: Record<string, string> = {},
): Promise<Running> {
  const port = portOf[contender] + shift;
  const begun = performance.now();
  const child =
    contender === 'tidegate' ? product(login, port, workers, settings) : peer(contender, login, port, seeded);
  let said = '';
  child.stderr?.on('data', (chunk) => (said += chunk));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const origin = `http://127.0.0.1:${port}`;
  while (!(await answers(origin, contender))) {
    if (child.exitCode !== null) throw new Error(`${contender} ended before it answered.\n${said.slice(-2000)}`);
    if (performance.now() - begun > 60_000) throw new Error(`${contender} does not answer.\n${said.slice(-2000)}`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
  return {
    contender,
    origin,
    pid: child.pid!,
    milliseconds: Math.round(performance.now() - begun),
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 8_000);
      await ended;
      clearTimeout(late);
    },
  };
}

/**
 * The flags that `npm start` gives to Node. Every contender gets them, because their gain comes from Node and not from
 * a contender.
 */
const flags = (() => {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return /node ((?:--\S+ )*)dist\/main\.js/.exec(scripts.start)?.[1]?.trim().split(' ').filter(Boolean) ?? [];
})();

/**
 * Starts the product as `npm start` does, behind a proxy. Its log is discarded, since in production another process
 * reads it.
 */
function product(login: Login, port: number, workers: number, settings: Record<string, string>): ChildProcess {
  const env = {
    // No request is refused, and the work of the allowance is measured.
    RATE_LIMIT: 'measure',
    ...process.env,
    NODE_ENV: 'production',
    DATABASE_URL: addressOf(login),
    API_KEY_PEPPER: pepper,
    TRUSTED_PROXY: '127.0.0.1',
    PUBLIC_URL: 'https://pay.example',
    PORT: String(port),
    WORKERS: String(workers),
    ...settings,
  };
  return spawn(process.execPath, [...flags, path.join(root, 'dist/main.js')], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function peer(contender: Contender, login: Login, port: number, { tenant, platform }: Seeded): ChildProcess {
  const setting: Setting = { login, port, tenant, platform, pepper };
  const env = { ...process.env, NODE_ENV: 'production', BENCH: JSON.stringify(setting) };
  const file = path.join(here, 'contenders', `${contender}.ts`);
  const node = contender === 'postgraphile' ? newerNode() : process.execPath;
  return spawn(node, [...flags, '--import', 'tsx', file], { cwd: here, env, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** A Node for PostGraphile 5, which needs Node 22: the running one if it is new enough, or the one from npm. */
export function newerNode(): string {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const machine = `${process.platform}-${process.arch}`;
  const name = machine === 'darwin-arm64' ? `node-bin-${machine}` : `node-${machine}`;
  return path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin/node');
}

async function answers(origin: string, contender: Contender): Promise<boolean> {
  try {
    const response = await fetch(`${origin}${contender === 'tidegate' ? '/readyz' : '/'}`, {
      headers: { connection: 'close' },
    });
    await response.arrayBuffer();
    return contender !== 'tidegate' || response.status === 200;
  } catch {
    return false;
  }
}

/**
 * Seconds of CPU that a process and its ended children have used so far; undefined if the kernel does not report it.
 */
export function cpuOf(pid: number): number | undefined {
  try {
    const fields = fs
      .readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0) / 100;
  } catch {
    return undefined;
  }
}

/** Seconds of CPU of all PostgreSQL processes. */
export function cpuOfServer(server: number | undefined): number | undefined {
  return processesOf(server)?.reduce((sum, pid) => sum + (cpuOf(pid) ?? 0), 0);
}

/** Megabytes of private memory of PostgreSQL's processes: their shared memory is bounded by the settings. */
export function anonymousOfServer(server: number | undefined): number | undefined {
  const all = processesOf(server)?.reduce((sum, pid) => sum + (kilobytesOf(pid, 'RssAnon') ?? 0), 0);
  return all === undefined ? undefined : Math.round(all / 1024);
}

/** PostgreSQL's processes: the first one and its children. */
function processesOf(server: number | undefined): number[] | undefined {
  return server === undefined ? undefined : [server, ...(childrenOf(server) ?? [])];
}

/** The children of a process; undefined if the kernel does not report them. */
export function childrenOf(parent: number): number[] | undefined {
  try {
    const all = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return all.map(Number).filter((pid) => parentOf(pid) === parent);
  } catch {
    return undefined;
  }
}

/**
 * The parent of a process. The parent of a connection's process is PostgreSQL's first process, which outlives
 * connections.
 */
export function parentOf(pid: number): number | undefined {
  try {
    return Number(
      fs
        .readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    );
  } catch {
    return undefined;
  }
}

/** Megabytes that a process holds in memory. */
export function residentOf(pid: number): number | undefined {
  const kilobytes = kilobytesOf(pid, 'VmRSS');
  return kilobytes === undefined ? undefined : Math.round(kilobytes / 1024);
}

function kilobytesOf(pid: number, name: string): number | undefined {
  try {
    const [, kilobytes] =
      new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes);
  } catch {
    return undefined;
  }
}

/**
 * A relay in front of PostgreSQL that counts the statements that pass through it: each Execute and each simple Query.
 */
export async function counting(login: Login): Promise<{ login: Login; count(): number; close(): void }> {
  let statements = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const socket = login.host.startsWith('/')
      ? net.connect(`${login.host}/.s.PGSQL.${login.port}`)
      : net.connect(login.port, login.host);
    const reader = messages((type) => {
      if (type === 'E' || type === 'Q') statements++;
    });
    client.on('data', (chunk) => {
      reader(chunk);
      socket.write(chunk);
    });
    socket.on('data', (chunk) => client.write(chunk));
    for (const [one, other] of [
      [client, socket],
      [socket, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    login: { ...login, host: '127.0.0.1', port },
    count: () => statements,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reads the types of a client's messages from its bytes; the first message of a connection has none. */
function messages(onMessage: (type: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let begun = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = begun ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      if (begun) onMessage(String.fromCharCode(rest[0]!));
      begun = true;
      rest = rest.subarray(length);
    }
  };
}
