import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { endSilentConnections } from '../../src/server/http/silent-connections.js';
import { eventually, givenIn, useWorld } from '../support/world.js';

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

// More than the buffers of both sides take.
const bytes = 16 * 1024 * 1024;

/** An application with one large answer, and a client that has its head and none of its body. */
async function unread(limits: { drainMilliseconds: number; unread?: number }) {
  const app = Fastify({ forceCloseConnections: 'idle' });
  endSilentConnections(app, limits);
  app.get('/', async () => Buffer.alloc(bytes));
  const request = http.get(await app.listen({ port: 0, host: '127.0.0.1' }), { agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { app, response };
}

/** Reads an answer and returns the number of its bytes, or the code of the error that ends it. */
async function readAll(response: http.IncomingMessage, each = async (_: number) => {}): Promise<number | string> {
  let read = 0;
  try {
    for await (const part of response) {
      read += part.length;
      await each(read);
    }
    return read;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code!;
  }
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
    const { app, response } = await unread({ drainMilliseconds: 25_000 });
    const ended = app.close();
    // The first part takes longer than the grace.
    const read = readAll(response, async (count) => (count < 1024 * 1024 ? pause(150) : undefined));
    expect(await read).toBe(bytes);
    await ended;
  });

  it('ends a connection whose client reads nothing of its answer, after half of DRAIN_SECONDS', async () => {
    const { app, response } = await unread({ drainMilliseconds: 2_000 });
    await app.close();
    expect(await readAll(response)).toBe('ECONNRESET');
  });
});

describe('a client that is sent an answer', () => {
  it('is disconnected when it reads nothing of it for a time', async () => {
    const { app, response } = await unread({ drainMilliseconds: 25_000, unread: 1_500 });
    const connections = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
    expect(await connections()).toBe(1);
    await eventually(connections, (count) => count === 0);
    expect(await readAll(response)).toBe('ECONNRESET');
    await app.close();
  });

  it('gets all of it when it reads slowly, for longer than that', async () => {
    const { app, response } = await unread({ drainMilliseconds: 25_000, unread: 1_500 });
    // 1 MB a step, so that the answer lasts for some 5 s.
    let next = 0;
    const read = readAll(response, async (count) => {
      if (count < next) return;
      next = count + bytes / 16;
      await pause(300);
    });
    expect(await read).toBe(bytes);
    await app.close();
  });
});
