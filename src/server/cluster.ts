import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';

const pauseMilliseconds = 1_000;
const echoMillisecondsMax = 1_000;

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP, and `quit` at each that comes a second later or more. Until then
 * another signal is an echo of the first: a terminal signals every process, and npm and the process above pass it on.
 * Of several processes, SIGTERM alone stops one below: the one above them sends it when a terminal signals all of them. Only
 * the one above quits, and ends those below: what it passes on to them may come at any time after their own signal.
 */
export function onStop(stop: () => Promise<void>, quit: () => void): void {
  let since: number | undefined;
  const signalled = (): void => {
    const now = performance.now();
    if (since === undefined) {
      since = now;
      void stop();
    } else if (cluster.isPrimary && now - since >= echoMillisecondsMax) quit();
  };
  process.on('SIGTERM', signalled);
  for (const name of ['SIGINT', 'SIGHUP'] as const) process.on(name, () => cluster.isPrimary && signalled());
}

/**
 * Runs this program in several processes that share its port, and keeps that many alive. The first one brings the database
 * up to date and announces itself; the others start once it listens. Each is a gateway like any other: what must hold between them is in the database.
 */
export async function supervise(processes: number): Promise<void> {
  let stopping = false;
  const end = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    stopping = true;
    for (const worker of workers()) worker.process.kill(signal);
  };
  onStop(
    async () => end('SIGTERM'),
    () => end('SIGKILL'),
  );

  let serving = false;
  cluster.on('exit', async (_, code, signal) => {
    // What the first one could not do, another could not either; it has said why.
    if (!serving && !stopping) process.exit(code || 1);
    // One that was still starting had nothing to finish: the signal alone has ended it.
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

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}
