import net from 'node:net';

// Linux gives connections the ports from 32,768 on. These are lower, and each worker of the tests has its own, so that
// no other program gets one between its choice and its use. Another run on the machine begins elsewhere in the range.
const perWorker = 250;
const first = 21_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 40) * perWorker;
let next = process.pid % perWorker;

/** A port of this machine on which nothing listens, and which nothing else takes. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < perWorker; tries++) {
    const port = first + (next++ % perWorker);
    if ((await isFree(port, '127.0.0.1')) && (await isFree(port, 'localhost'))) return port;
  }
  throw new Error('All ports of this worker are taken.');
}

function isFree(port: number, host: string): Promise<boolean> {
  const server = net.createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
