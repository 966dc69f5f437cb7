import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { holding } from './holding.js';
import { details, eventually, givenIn, nickname, type Speaker, useWorld } from '../support/world.js';

/** A tenant has two turns and may have three requests in flight. A key may have a connection and two subscriptions. */
const world = useWorld({
  environment: {
    REQUEST_SLOTS: '2',
    REQUESTS_OF_TENANT_MAX: '3',
    REQUEST_SECONDS: '300',
    WAIT_MILLISECONDS_MAX: '60000',
    STREAMS_OF_KEY_MAX: '3',
  },
});
const given = givenIn(world);
let user: Speaker;
beforeEach(async () => {
  user = await given.directUser(1);
});

const open = new Set<() => unknown>();
afterEach(async () => {
  await Promise.all([...open].map((close) => close()));
  open.clear();
});

type Message = { type: string; id?: string; payload?: any };

/** A connection whose key is known. `serverSide` is the gateway's end of it. */
async function connected({ key }: Speaker) {
  const before = new Set(world.app.websocketServer.clients);
  const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  open.add(() => socket.terminate());
  const got: Message[] = [];
  const closed = new Promise<{ code: number; reason: string }>((resume) => {
    socket.on('close', (code, reason) => resume({ code, reason: String(reason) }));
  });
  socket.on('error', () => {}).on('message', (data) => void got.push(JSON.parse(String(data))));
  await new Promise((resume) => socket.once('open', resume));
  /** Sends texts in one packet, so that the gateway reads them at once. */
  const send = (...messages: (Message | string)[]) => {
    const { _socket: raw } = socket as unknown as { _socket: Socket };
    raw.cork();
    for (const each of messages) socket.send(typeof each === 'string' ? each : JSON.stringify(each));
    raw.uncork();
  };
  send({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } });
  await eventually(
    async () => got.length,
    (length) => length === 1,
  );
  const [serverSide] = [...world.app.websocketServer.clients].filter((client) => !before.has(client));
  return { socket, got, closed, send, serverSide: serverSide! };
}

/** Holds both turns of a tenant, by two reads. */
async function turnsHeld(speaker: Speaker) {
  const held = holding(world, /^page:deposit/);
  const answers = [1, 2].map(() => speaker.get('/v1/deposits'));
  await eventually(
    async () => held.count,
    (count) => count === 2,
  );
  const free = async () => {
    held.free();
    await Promise.all(answers);
  };
  open.add(free);
  return free;
}

/** The names of the reads from now on. */
function readsOf(): string[] {
  const { database } = world;
  const { read } = database;
  const names: string[] = [];
  database.read = ((...args: Parameters<typeof read>) => {
    names.push(args[0]);
    return read.apply(database, args);
  }) as typeof read;
  open.add(() => Object.assign(database, { read }));
  return names;
}

/** The status of a request that takes no turn: 503 while its tenant has three others in flight, and 404 otherwise. */
const statusOf = (speaker: Speaker, wanted: number) =>
  eventually(
    async () => (await speaker.get('/v1/none')).status,
    (status) => status === wanted,
  );

const ping = (n: number): Message => ({ type: 'ping', payload: { n } });
const pings = (count: number) => Array.from({ length: count }, (_, i) => ping(i));
const subscribe = (id: string, query: string): Message => ({ type: 'subscribe', id, payload: { query } });
const balance = 'subscription { balance { accountId } }';
const numbers = (got: Message[]) => got.flatMap(({ payload }) => payload?.n ?? []);

describe('the messages of a WebSocket', () => {
  it('are parsed and answered only in a turn of their tenant', async () => {
    const { got, send, socket, closed, serverSide } = await connected(user);
    const free = await turnsHeld(user);
    send('no JSON', ...pings(9));
    await eventually(
      async () => serverSide.isPaused,
      (paused) => paused,
    );
    await statusOf(user, 503);
    expect([socket.readyState, serverSide.readyState, got.length]).toEqual([WebSocket.OPEN, WebSocket.OPEN, 1]);
    await free();
    expect((await closed).code).toBe(4400);
    expect(numbers(got)).toEqual([]);
  });

  it('are worked on one after the other, and not read while more than eight wait', async () => {
    const { got, send, serverSide } = await connected(user);
    const free = await turnsHeld(user);
    const refused = (id: string) => subscribe(id, 'subscription { events { nothing } }');
    send(refused('a'), ping(1), subscribe('b', balance), refused('c'), ping(2), { type: 'complete', id: 'b' }, ping(3));
    await statusOf(user, 503);
    expect(serverSide.isPaused).toBe(false);
    send(refused('d'), ping(4));
    send(ping(5));
    await eventually(
      async () => serverSide.isPaused,
      (paused) => paused,
    );
    await free();
    await eventually(
      async () => numbers(got).length,
      (length) => length === 5,
    );
    // The results of a subscription are no answers to its message: they come when they have turns.
    const answers = got.filter(({ type }) => type !== 'next').map(({ type, id, payload }) => id ?? payload?.n ?? type);
    expect(answers).toEqual(['connection_ack', 'a', 1, 'c', 2, 3, 'd', 4, 5]);
    await eventually(
      async () => serverSide.isPaused,
      (paused) => !paused,
    );
  });

  it('close the connection with its subscriptions when more than 64 of them wait', async () => {
    const { got, send, closed, serverSide } = await connected(user);
    send(subscribe('a', balance), subscribe('b', balance));
    await eventually(
      async () => got.length,
      (length) => length === 3,
    );
    const free = await turnsHeld(user);
    send(...pings(66));
    const { code, reason } = await closed;
    expect([code, reason]).toEqual([1013, 'Too many messages wait for their turns. Send them more slowly.']);
    expect(serverSide.readyState).not.toBe(WebSocket.OPEN);
    // The message that had the place of a request has left it, and the key has no streams any more.
    await statusOf(user, 404);
    await free();
    const next = await connected(user);
    next.send(subscribe('a', balance), subscribe('b', balance));
    await eventually(
      async () => next.got.filter(({ type }) => type === 'next').length,
      (length) => length === 2,
    );
    expect(numbers(got)).toEqual([]);
  });

  it('stay within 64 when a client sends 65 at once', async () => {
    const { got, send } = await connected(user);
    const free = await turnsHeld(user);
    send(...pings(65));
    await statusOf(user, 503);
    await free();
    await eventually(
      async () => numbers(got),
      (found) => found.length === 65,
    );
    expect(numbers(got)).toEqual(Array.from({ length: 65 }, (_, i) => i));
  });

  it('are dropped when the client leaves', async () => {
    const { socket, send } = await connected(user);
    const free = await turnsHeld(user);
    const names = readsOf();
    send(subscribe('a', balance), subscribe('b', balance));
    await statusOf(user, 503);
    socket.terminate();
    await statusOf(user, 404);
    await free();
    await statusOf(user, 404);
    // A subscription begins with a look at the events of its tenant.
    expect(names).not.toContain('last_event_number');
  });

  const nested = `{"type":"ping","payload":{"deep":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`;
  it.each([
    ['longer than a body may be', `{"type":"ping","payload":{"text":"${'x'.repeat(70_000)}"}}`, 1009],
    ['nested too deeply', nested, 4400],
    ['a second connection_init', '{"type":"connection_init"}', 4429],
  ])('close the connection where one is %s', async (_, text, code) => {
    const { got, send, closed } = await connected(user);
    send(text, ping(1));
    expect((await closed).code).toBe(code);
    expect(got.length).toBe(1);
  });

  it('keep no turn while the client does not read the answer', async () => {
    const { socket, send, serverSide } = await connected(user);
    socket.pause();
    const long = `{"type":"ping","payload":{"text":"${'x'.repeat(60_000)}"}}`;
    await eventually(
      async () => {
        send(long, long, long, long);
        return serverSide.bufferedAmount;
      },
      (bytes) => bytes > 0,
    );
    const free = await turnsHeld(user);
    expect(serverSide.readyState).toBe(WebSocket.OPEN);
    await free();
  });

  it('are none where the client offers another protocol', async () => {
    const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/graphql`, []);
    open.add(() => socket.terminate());
    expect(await new Promise((resume) => void socket.on('close', resume))).toBe(4406);
  });

  it('wait behind one that was refused for too many requests, as repeated requests do', async () => {
    const { got, send } = await connected(user);
    send(subscribe('a', balance), subscribe('b', balance));
    const before = performance.now();
    // The third subscription is one too many. Of the refusals, 20 in a second have their answers without a wait.
    for (let i = 0; i < 22; i++) {
      send(subscribe(`c${i}`, balance));
      await eventually(
        async () => got.filter(({ type }) => type === 'error').length,
        (length) => length === i + 1,
      );
    }
    expect(performance.now() - before).toBeGreaterThan(1_000);
    expect(got.find(({ type }) => type === 'error')!.payload[0].extensions.code).toBe('STREAMS_EXCEEDED');
  });
});

/** Opens a stream: the text that has arrived, and how to leave, which takes until the gateway has seen it. */
type Follow = (speaker: Speaker, query: string) => Promise<{ text: () => string; leave: () => Promise<unknown> }>;

const bySocket: Follow = async (speaker, query) => {
  const { got, send, socket, serverSide } = await connected(speaker);
  const left = once(serverSide, 'close');
  send(subscribe('a', query));
  const leave = () => {
    socket.terminate();
    return left;
  };
  return { text: () => JSON.stringify(got), leave };
};

async function byHttp({ key }: Speaker, path: string, init: object = {}) {
  const controller = new AbortController();
  open.add(() => controller.abort());
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'content-type': 'application/json' };
  const received = once(world.app.server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const response = await fetch(world.origin + path, { headers, signal: controller.signal, ...init });
  let text = '';
  const read = async () => {
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) text += part;
  };
  void read().catch(() => {});
  const [, answer] = await received;
  const left = once(answer, 'close');
  const leave = () => {
    controller.abort();
    return left;
  };
  return { text: () => text, leave };
}

const subscriptions: [string, Follow][] = [
  ['a WebSocket', bySocket],
  [
    'server-sent events',
    (speaker, query) => byHttp(speaker, '/graphql', { method: 'POST', body: JSON.stringify({ query }) }),
  ],
];
const streams: [string, Follow][] = [
  ...subscriptions,
  ['/v1/events/stream', (speaker) => byHttp(speaker, '/v1/events/stream?after=0')],
];

describe('when the client of a stream leaves', () => {
  it.each(streams)('its next event gives up the wait for a turn: over %s', async (_, follow) => {
    // The other process has turns of its own.
    const origin = await world.another();
    await user.partner({ nickname: nickname() });
    const { text, leave } = await follow(user, 'subscription { events(afterNumber: 0) { number type } }');
    await eventually(
      async () => text(),
      (found) => found.includes('account.created'),
    );
    const free = await turnsHeld(user);
    const response = await fetch(`${origin}/v1/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'partner', nickname: nickname(), business_details: details() }),
    });
    expect(response.status).toBe(200);
    await statusOf(user, 503);
    await leave();
    await statusOf(user, 404);
    await free();
  });

  it.each(subscriptions)('its running operation asks nothing further: over %s', async (_, follow) => {
    const names = readsOf();
    const held = holding(world, /^one:account/);
    open.add(held.free);
    const partners = '... on Account { partners(first: 1) { nodes { id } } }';
    const { leave } = await follow(user, `subscription { node(id: "${user.id}") { ${partners} } }`);
    await eventually(
      async () => held.count,
      (count) => count === 1,
    );
    await leave();
    held.free();
    // The tenant has no request in flight when the operation has ended.
    const free = await turnsHeld(user);
    await statusOf(user, 404);
    await free();
    expect(names.filter((name) => name.startsWith('edge:owner_id'))).toEqual([]);
  });
});
