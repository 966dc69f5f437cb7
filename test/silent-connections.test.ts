import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { endSilentConnections } from '../src/server/silent-connections.js';
import { givenIn, useWorld } from './world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

/** A further gateway, the port where it listens, and its end. */
async function gateway() {
  const origin = await world.another();
  const app = world.apps.at(-1)!;
  return { origin, port: Number(new URL(origin).port), end: () => app.close() };
}

async function connected(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // The gateway has accepted it, too.
  await pause(100);
  return socket;
}

// Node's own limit for them does not apply once a server closes, so a gateway would wait for the client: the test's
// time-out is the limit.
describe('a gateway that ends', () => {
  it('ends a connection on which no request has arrived, as browsers open them', async () => {
    const { port, end } = await gateway();
    const sockets = [await connected(port), await connected(port)];
    sockets[1]!.write('GET /v1/accounts HTTP/1.1\r\nHost: x\r\n');
    const ended = sockets.map((socket) => once(socket.on('error', () => {}).resume(), 'close'));
    await Promise.all([end(), ...ended]);
  });

  it('ends a connection whose client still sends what was refused', async () => {
    const { port, end } = await gateway();
    const socket = await connected(port);
    socket.write('POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n{');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /);
    const ended = once(
      socket.on('error', () => {}),
      'close',
    );
    await Promise.all([end(), ended]);
  });

  it('answers a request whose body takes longer than that', async () => {
    const me = await given.platform(1);
    const { origin, end } = await gateway();
    const body = JSON.stringify({ metadata: { note: 'late' } });
    const [first] = (await me.get('/v1/account_settings')).body.data;
    const request = http.request(`${origin}/v1/account_settings/${first.id}`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${me.key}`, 'content-type': 'application/json' },
        'content-length': body.length,
      },
    });
    request.write(body.slice(0, 10));
    await pause(200);
    const ended = end();
    await pause(1_500);
    request.end(body.slice(10));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
    response.resume();
    await ended;
  });

  it('sends the answers that have begun, also to a client that reads slowly', async () => {
    // More than the buffers of both sides take.
    const bytes = 64 * 1024 * 1024;
    const app = Fastify({ forceCloseConnections: 'idle' });
    endSilentConnections(app);
    app.get('/', async () => Buffer.alloc(bytes));
    const request = http.get(await app.listen({ port: 0, host: '127.0.0.1' }), { agent: false });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const ended = app.close();
    let read = 0;
    for await (const part of response) {
      read += part.length;
      // Longer than the grace.
      if (read < 1024 * 1024) await pause(150);
    }
    expect(read).toBe(bytes);
    await ended;
  });
});
