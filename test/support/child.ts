import { type ChildProcess, type StdioOptions, fork, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, inject } from 'vitest';
import { settings } from '../../src/config/config.js';
import { alive } from './alive.js';
import { type Content, copyDataFolder } from './data-folders.js';
import { patient } from './patient.js';
import { asAdmin, type Edition, Speaker, type World } from './world.js';

type Environment = Record<string, string>;

/** How a process ended: its exit code, or the name of the signal. */
type End = number | NodeJS.Signals;

/** A child process, with its output so far. */
export interface Child {
  pid: number;
  readonly out: string;
  readonly errors: string;
  readonly over: boolean;
  ended: Promise<End>;
  signal(name: NodeJS.Signals): void;
}

/** A gateway process that has printed its address. */
export interface Gateway extends Child {
  origin: string;
  /** Its DATA_DIR; empty if it uses DATABASE_URL. */
  dataDir: string;
  /** The test keys that it printed, by edition; empty without a demo. */
  keys: Partial<Record<Edition, string>>;
  /** A client of this gateway's APIs. */
  speaker(key: string, headers?: Environment): Speaker;
  /** Its log so far: the lines of its standard output that are JSON. */
  log(): Record<string, unknown>[];
  /** Sends SIGTERM and waits until the process has ended. */
  stop(): Promise<End>;
}

/** The exit code and the output of a finished command. */
export interface Finished {
  code: End;
  out: string;
  errors: string;
}

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const commandHost = fileURLToPath(new URL('../fixtures/command-host.mjs', import.meta.url));
// Each command starts Node and computes: more of them at once would only wait for the processor.
const commandsAtOnce = 3;
const hostsAtOnce = 2;

/** The settings by which a command works on the database of a world. */
export async function settingsOf({ sql, pepper }: World): Promise<Record<string, string>> {
  const [database] = await sql`select current_database() as name`;
  const host = encodeURIComponent(inject('admin').host);
  return {
    DATABASE_URL: `postgres://tidegate@localhost/${database!.name}?host=${host}`,
    API_KEY_PEPPER: pepper,
  };
}

/**
 * Starts gateways and commands of the built program as processes, each with its own port and folder. At the end of the
 * test file it kills those that still run, by process id, and removes each folder once its PostgreSQL has ended.
 */
export type Children = ReturnType<typeof useChildren>;

export function useChildren() {
  const children: Child[] = [];
  const folders: string[] = [];
  const databases: string[] = [];
  const queues = Array.from({ length: commandsAtOnce }, () => Promise.resolve<unknown>(undefined));
  const hosts: (ChildProcess | undefined)[] = [];
  const hostQueues = Array.from({ length: hostsAtOnce }, () => Promise.resolve<unknown>(undefined));
  let [commands, quickCommands] = [0, 0];
  // A hook that ran out of time goes on: it starts nothing after the end.
  let over = false;
  const refusedIfOver = () => {
    if (over) throw new Error('The tests of these processes are over.');
  };
  const started = (program: string, args: string[], environment: Environment): Child => {
    refusedIfOver();
    const child = start(program, args, environment);
    children.push(child);
    return child;
  };

  afterAll(async () => {
    over = true;
    for (const host of hosts) host?.kill('SIGKILL');
    for (const child of children) if (!child.over) child.signal('SIGKILL');
    await Promise.all(children.map((child) => child.ended));
    await Promise.all(folders.map(removed));
    for (const name of databases) await asAdmin(`drop database if exists ${name} with (force)`);
  });

  return {
    /** Creates an empty folder for a DATA_DIR. */
    folder(): string {
      refusedIfOver();
      const folder = emptyFolder();
      folders.push(folder);
      return folder;
    },

    /** Creates a folder for a DATA_DIR that has a database already, for tests that are not about a first start. */
    async preparedFolder(content: Content): Promise<string> {
      refusedIfOver();
      const folder = emptyFolder();
      folders.push(folder);
      await copyDataFolder(folder, content);
      return folder;
    },

    /** Creates a database in the run's PostgreSQL, empty or migrated; returns the settings that name it. */
    async database({ migrated = false } = {}): Promise<{ DATABASE_URL: string; API_KEY_PEPPER: string }> {
      refusedIfOver();
      const name = `child_${randomUUID().replaceAll('-', '')}`;
      const template = migrated ? 'template tidegate_template strategy file_copy' : '';
      await asAdmin(`create database ${name} ${template} owner tidegate`);
      if (over) await asAdmin(`drop database ${name} with (force)`);
      refusedIfOver();
      databases.push(name);
      return {
        DATABASE_URL: `postgres://tidegate@localhost/${name}?host=${encodeURIComponent(inject('admin').host)}`,
        API_KEY_PEPPER: 'a pepper that is long enough for a test',
      };
    },

    /** Starts the gateway and does not wait. */
    start: (environment: Environment): Child => started('main.js', [], published(environment)),

    /** Starts the gateway and waits until it has printed its address. */
    gateway: (environment: Environment): Promise<Gateway> =>
      announced(started('main.js', [], published(environment)), environment.DATA_DIR ?? ''),

    /** Runs `npm start` in a project's folder, in its own process group, and waits until the gateway listens. */
    npmStart(project: string, environment: Environment): Promise<Gateway> {
      refusedIfOver();
      const child = watched(
        spawn('npm', ['start'], { cwd: project, detached: true, env: environmentOf(environment), stdio }),
      );
      children.push(child);
      return announced(child, environment.DATA_DIR ?? '');
    },

    /** Starts a command and does not wait for its end. */
    startCommand: (environment: Environment, ...args: string[]): Child => started('cli.js', args, environment),

    /** Runs a command of the command line to its end, after the earlier commands of its queue. */
    command(environment: Environment, ...args: string[]): Promise<Finished> {
      const queue = commands++ % commandsAtOnce;
      const finished = queues[queue]!.then(async () => {
        const child = started('cli.js', args, environment);
        return { code: await child.ended, out: child.out, errors: child.errors };
      });
      queues[queue] = finished;
      return finished;
    },

    /**
     * Runs a command as `command` does, but in a process that already has the program loaded and runs many commands,
     * one after another. Tests of how a command starts and ends its process use `command`.
     */
    quickCommand(environment: Environment, ...args: string[]): Promise<Finished> {
      const queue = quickCommands++ % hostsAtOnce;
      const finished = hostQueues[queue]!.then(() => {
        refusedIfOver();
        const host = (hosts[queue] ??= fork(commandHost, {
          execArgv: [],
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        }));
        return answerOf(host, { args, environment: environmentOf(environment) });
      });
      hostQueues[queue] = finished.catch(() => {});
      return finished;
    },
  };
}

/** Adds a PUBLIC_URL, which a gateway that is not local requires; most tests need no particular one. */
function published(environment: Environment): Environment {
  const local = environment.TRUSTED_PROXY === undefined && environment.TLS_CERT_FILE === undefined;
  return local ? environment : { PUBLIC_URL: 'https://gateway.example', ...environment };
}

/** Starts a gateway with the demo; `stop` removes its folder, too. */
export async function startGateway(environment: Environment = {}): Promise<Gateway> {
  const dataDir = emptyFolder();
  await copyDataFolder(dataDir, 'demo');
  const gateway = await announced(start('main.js', [], { DATA_DIR: dataDir, ...environment }), dataDir);
  const stop = async () => {
    gateway.signal('SIGTERM');
    const end = await gateway.ended;
    await removed(dataDir);
    return end;
  };
  return Object.assign(gateway, { stop });
}

/** The PostgreSQL of a DATA_DIR, read from its lock file; undefined once it has shut down. */
export function postmaster(dataDir: string): { pid: number; socket: string } | undefined {
  const [pid = '', , , , socket = ''] = lockFile(dataDir).split('\n');
  return pid === '' ? undefined : { pid: Number(pid), socket };
}

/** The text of the lock file, which the server may remove at any moment; empty if there is none. */
function lockFile(dataDir: string): string {
  try {
    return fs.readFileSync(path.join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** A connection to the database of a DATA_DIR whose server runs, to look at rows without the APIs. */
export function behind(dataDir: string): postgres.Sql {
  const host = postmaster(dataDir)?.socket;
  if (!host) throw new Error(`No server runs in ${dataDir}.`);
  return postgres({ host, port: 5432, username: 'tidegate', database: 'tidegate', max: 1, onnotice: () => {} });
}

/** The processes that a process has started, and that run. Where the system lists them no program has to be started. */
export function childrenOf(pid: number): number[] {
  try {
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // It has ended, or this system has no such file.
  }
  const { stdout } = spawnSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
  const all = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return all.filter(([of]) => of === pid).map(([, child]) => child!);
}

/**
 * Waits for a condition without a time limit of its own: the test's time-out is the limit. A condition that takes many
 * requests is tried less often.
 */
export async function until(condition: () => boolean | Promise<boolean>, milliseconds = 10): Promise<void> {
  while (!(await condition())) await new Promise((resume) => setTimeout(resume, milliseconds));
}

const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];

/** Sends one command to a host; returns what the host reports when the command has finished. */
function answerOf(host: ChildProcess, message: { args: string[]; environment: NodeJS.ProcessEnv }): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The process that runs commands has ended.'));
    host.once('exit', ended).once('message', (finished: Finished) => {
      host.off('exit', ended);
      resolve(finished);
    });
    host.send(message, (error) => error && reject(error));
  });
}

function start(program: string, args: string[], environment: Environment): Child {
  const env = environmentOf(environment);
  return watched(spawn(process.execPath, [path.join(dist, program), ...args], { env, stdio }));
}

function environmentOf(environment: Environment): NodeJS.ProcessEnv {
  // Drop the settings of the environment that the tests were started in.
  const clean = Object.entries(process.env).filter(([name]) => !(name in settings.shape));
  return { ...Object.fromEntries(clean), PORT: '0', ...patient, ...environment };
}

function watched(child: ChildProcess): Child {
  let [out, errors, over] = ['', '', false];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise<End>((resolve) =>
    child.once('close', (code, signal) => {
      over = true;
      resolve(code ?? signal ?? 'SIGKILL');
    }),
  );
  return {
    pid: child.pid as number,
    get out() {
      return out;
    },
    get errors() {
      return errors;
    },
    get over() {
      return over;
    },
    ended,
    signal: (name) => void child.kill(name),
  };
}

async function announced(child: Child, dataDir: string): Promise<Gateway> {
  const place = () => /^Tidegate is listening on (\S+)$/m.exec(child.out)?.[1];
  await until(() => place() !== undefined || child.over);
  const origin = place();
  if (origin === undefined) throw new Error(`The gateway did not start: ${child.errors}`);
  const keys: Gateway['keys'] = {};
  for (const [, edition, key] of child.out.matchAll(/^ {2}Edition ([12]): .*\n {2}Test key {2}(\S+)$/gm))
    keys[Number(edition) as Edition] = key as string;
  // `assign` keeps the getters `out` and `errors` of the child, so that its output goes on growing.
  return Object.assign(child, {
    origin,
    dataDir,
    keys,
    speaker: (key: string, headers: Environment = {}) => new Speaker({ origin } as World, '', key, 1, headers),
    log: () =>
      child.out
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    stop: () => {
      child.signal('SIGTERM');
      return child.ended;
    },
  });
}

function emptyFolder(): string {
  const folder = fs.mkdtempSync(path.join(inject('dataFolders'), 'child-'));
  // If the tests run as root, PostgreSQL runs as another user, who must be able to enter the folder.
  fs.chmodSync(folder, 0o755);
  return folder;
}

/**
 * Removes a folder once its PostgreSQL has ended: a server whose files are gone would search for them until it ends.
 */
async function removed(folder: string): Promise<void> {
  await until(() => !alive(postmaster(folder)?.pid));
  fs.rmSync(folder, { recursive: true, force: true });
}
