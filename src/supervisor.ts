import cluster, { type Worker } from 'node:cluster';

/**
 * Keeps `count` processes serving on one port, each a whole gateway with its own pools and its own share of the work
 * that is due; what they have in common is in the database alone. One that ends is followed by another; one that never
 * came to serve ends them all, since the next would do no better. This process serves nobody.
 */
export function supervise(count: number): void {
  let stopping = false;
  let failed = false;
  const each = (): Worker[] => Object.values(cluster.workers ?? {}).filter((one) => one !== undefined);
  const stop = (): void => {
    stopping = true;
    for (const one of each()) one.process.kill('SIGTERM');
  };
  const begin = (): void => {
    let served = false;
    const one = cluster.fork();
    one.once('listening', () => {
      served = true;
    });
    one.once('exit', (code, signal) => {
      if (!stopping && served) return begin();
      // One that had not come to serve yet could do no better than go when it was told to.
      failed ||= code !== 0 && !(stopping && !served && signal === 'SIGTERM');
      if (!stopping) stop();
      if (each().every((other) => other === one || other.isDead())) process.exit(failed ? 1 : 0);
    });
  };
  for (let i = 0; i < count; i++) begin();
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Whether this process is the one of its kind that speaks to people: the only one, or the first of several. */
export function speaks(): boolean {
  return cluster.worker === undefined || cluster.worker.id === 1;
}

/** Whether this process has others beside it, and one above that tells it when to stop. */
export function supervised(): boolean {
  return cluster.isWorker;
}
