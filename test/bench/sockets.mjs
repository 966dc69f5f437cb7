import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** Sockets of one tenant that subscribe without a pause, for a time: prints the figures as of a round of load. */
const [, , origin, key, seconds] = process.argv;
const sockets = 20;
/** How much of what a socket sends may wait on the side of the client. */
const unsentMax = 200_000;
const fields = Array.from({ length: 29 }, (_, i) => `a${i}: type`).join(' ');
const end = performance.now() + Number(seconds) * 1_000;
let [sent, answers, refused, bytes] = [0, 0, 0, 0];

async function flood(index) {
  while (performance.now() < end) {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-forwarded-proto': 'https' },
    });
    const closed = new Promise((resume) => void socket.on('close', resume));
    socket.on('error', () => {});
    const first = new Promise((resume) => void socket.once('message', resume));
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } })),
    );
    await Promise.race([first, closed, sleep(1_000)]);
    socket.on('message', (data) => {
      answers++;
      bytes += data.length;
      if (String(data).includes('"type":"error"')) refused++;
    });
    while (socket.readyState === socket.OPEN && performance.now() < end) {
      if (socket.bufferedAmount > unsentMax) await sleep(1);
      else {
        const query = `subscription { events { ${fields} } } # ${index} ${++sent} ${'x'.repeat(800)}`;
        socket.send(JSON.stringify({ type: 'subscribe', id: String(sent), payload: { query } }));
        if (sent % 20 === 0) await new Promise((resume) => setImmediate(resume));
      }
    }
    socket.terminate();
    await sleep(50);
  }
}

await Promise.all(Array.from({ length: sockets }, (_, i) => flood(i)));
const figures = { requests: answers, seconds: Number(seconds), p50: 0, p99: 0, bytes, failures: refused, refused };
process.stdout.write(JSON.stringify(figures), () => process.exit());
