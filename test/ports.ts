import net from 'node:net';

// Below the ports that Linux gives to connections, and for each worker of the tests other ones: what starts meanwhile
// takes none of them. Another run on the machine begins elsewhere in the range.
const perWorker = 250;
const first = 21_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 40) * perWorker;
let next = Math.floor(Math.random() * perWorker);

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
