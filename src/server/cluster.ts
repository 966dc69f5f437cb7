import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';

const pauseMilliseconds = 1_000;
const echoMillisecondsMax = 1_000;
const aliveMilliseconds = 1_000;
/** A worker whose event loop has not run for so long does not come back. */
const hungMilliseconds = 20_000;

const starting = ['SIGTERM', 'SIGINT'] as const;
const exit = () => process.exit(0);

/**
 * Exits at a signal as long as the process starts, until `onStop` is called: no request is under way. Process 1, as in
 * a container, would ignore a signal without a handler.
 */
export function exitWhileStarting(): void {
  for (const signal of starting) process.on(signal, exit);
}

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP, and `quit` at each signal that comes at least a second later.
 * Before that, another signal is an echo of the first: a terminal signals every process, and npm and the parent process
 * forward the signal. A worker process stops only at SIGTERM, which the primary process sends to its workers when a
 * terminal signals all processes. Only the primary process quits, and then kills its workers: a worker cannot recognise
 * an echo, because the signal from the primary process may arrive at any time after the worker's own signal.
 *
 * With `reload`, SIGHUP calls that instead of `stop`, in workers too.
 */
export function onStop(stop: () => Promise<void>, quit: () => void, reload?: () => void): void {
  let since: number | undefined;
  const signalled = (): void => {
    const now = performance.now();
    if (since === undefined) {
      since = now;
      void stop();
    } else if (cluster.isPrimary && now - since >= echoMillisecondsMax) quit();
  };
  for (const signal of starting) process.off(signal, exit);
  process.on('SIGTERM', signalled);
  process.on('SIGINT', () => cluster.isPrimary && signalled());
  process.on('SIGHUP', () => (reload ? reload() : cluster.isPrimary && signalled()));
}

/** Learns of the processes that are replaced. */
export interface SupervisorEvents {
  replaced(reason: 'ended' | 'hung', worker: { process: number | undefined; code: number; signal: string }): void;
}

/** Whether this is the first process of those that serve, or the only one. */
export const isFirst = (): boolean => cluster.isPrimary || cluster.worker?.id === 1;

/** Says that this worker has started, so that its supervisor starts the others. */
export function sayServing(): void {
  if (cluster.isWorker) process.send?.('serving', () => {});
}

/** Says every second that this worker's event loop runs, as long as its supervisor is there. */
export function sayAlive(): void {
  setInterval(() => process.send?.('alive', () => {}), aliveMilliseconds).unref();
}

/**
 * Runs this program in several worker processes that share its port, and replaces a worker that exits. The first worker
 * migrates the database and prints the start message; the others start when the first one serves. Each worker is an
 * independent gateway: all shared state is in the database. With `reloads`, SIGHUP goes on to the workers.
 */
export async function supervise(processes: number, reloads: boolean, events: SupervisorEvents): Promise<void> {
  let stopping = false;
  const end = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    stopping = true;
    signalAll(signal);
  };
  onStop(
    async () => end('SIGTERM'),
    () => end('SIGKILL'),
    reloads ? () => signalAll('SIGHUP') : undefined,
  );

  let serving = false;
  const hung = killHung(() => stopping);
  cluster.on('exit', async (worker, code, signal) => {
    // When the first worker cannot start, another one cannot either. The first one has already logged the reason.
    if (!serving && !stopping) process.exit(code || 1);
    // A worker that was still starting had no request to finish: SIGTERM ended it, which is no failure.
    if (stopping && code !== 0 && signal !== 'SIGTERM') process.exitCode = 1;
    // A scrape of the metrics under way, or a connection kept open for the next one, would keep this process.
    if (stopping && workers().every((each) => each.isDead())) process.exit();
    if (stopping) return;
    events.replaced(hung.has(worker.id) ? 'hung' : 'ended', { process: worker.process.pid, code, signal });
    await sleep(pauseMilliseconds);
    if (!stopping) cluster.fork();
  });
  cluster.on('message', (_, message) => {
    if (message !== 'serving' || serving) return;
    serving = true;
    if (!stopping) for (let i = 1; i < processes; i++) cluster.fork();
  });
  cluster.fork();
}

/** Kills workers that have said nothing for too long. Returns the numbers of those that it has killed. */
function killHung(stopping: () => boolean): ReadonlySet<number> {
  const killed = new Set<number>();
  const saidAt = new Map<number, number>();
  let checkedAt = performance.now();
  cluster.on('message', ({ id }, message) => message === 'alive' && saidAt.set(id, performance.now()));
  cluster.on('exit', ({ id }) => saidAt.delete(id));
  setInterval(() => {
    const now = performance.now();
    // This process was stopped itself, or the machine slept: the workers have not had their time.
    if (now - checkedAt > 3 * aliveMilliseconds) for (const id of saidAt.keys()) saidAt.set(id, now);
    checkedAt = now;
    if (stopping()) return;
    for (const worker of workers()) {
      if (now - (saidAt.get(worker.id) ?? now) < hungMilliseconds) continue;
      killed.add(worker.id);
      worker.process.kill('SIGKILL');
    }
  }, aliveMilliseconds).unref();
  return killed;
}

function signalAll(signal: NodeJS.Signals): void {
  for (const worker of workers()) worker.process.kill(signal);
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}
