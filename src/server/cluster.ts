import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';

const pauseMilliseconds = 1_000;
const echoMillisecondsMax = 1_000;

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

/**
 * Runs this program in several worker processes that share its port, and replaces a worker that exits. The first worker
 * migrates the database and prints the start message; the others start when the first one listens. Each worker is an
 * independent gateway: all shared state is in the database. With `reloads`, SIGHUP goes on to the workers.
 */
export async function supervise(processes: number, reloads: boolean): Promise<void> {
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
  cluster.on('exit', async (_, code, signal) => {
    // When the first worker cannot start, another one cannot either. The first one has already logged the reason.
    if (!serving && !stopping) process.exit(code || 1);
    // A worker that was still starting had no request to finish: SIGTERM ended it, which is no failure.
    if (stopping && code !== 0 && signal !== 'SIGTERM') process.exitCode = 1;
    if (stopping) return;
    await sleep(pauseMilliseconds);
    if (!stopping) cluster.fork();
  });
  cluster.once('listening', () => {
    serving = true;
    if (!stopping) for (let i = 1; i < processes; i++) cluster.fork();
  });
  cluster.fork();
}

function signalAll(signal: NodeJS.Signals): void {
  for (const worker of workers()) worker.process.kill(signal);
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}
