import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient as sseClient } from 'graphql-sse';
import { afterAll, describe, expect, it } from 'vitest';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { eventually, givenIn, must, type Speaker, useWorld } from '../support/world.js';
import { bearer, followSocket, partner, sessionOf, subscriptionsIn, until } from './subscription-fixture.js';

const world = useWorld({ environment: { STREAMS_OF_KEY_MAX: '6', CORS_ORIGINS: 'https://app.example.com' } });
const given = givenIn(world);
const { open, settled, socketsOf, rawSocket } = subscriptionsIn(world);

// A connection of `fetch` without a request is not idle for Node, which waits a minute for its request.
afterAll(() => {
  for (const app of world.apps) app.server.closeAllConnections();
});

interface Message {
  id?: string;
  event?: string;
  data?: any;
}

type Asked = { query: string; variables?: object; extensions?: object };

/** A client of a subscription with nothing but `fetch`: the messages so far, and the end. */
async function subscribe(
  key: string,
  asked: string | Asked,
  { headers = {}, origin = world.origin }: { headers?: Record<string, string>; origin?: string } = {},
) {
  const controller = new AbortController();
  open.add(() => controller.abort());
  const response = await fetch(`${origin}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(typeof asked === 'string' ? { query: asked } : asked),
    signal: controller.signal,
  });
  const got: Message[] = [];
  const body = async () => {
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const messages = (text + piece).split('\n\n');
      text = messages.pop()!;
      for (const each of messages) {
        const lines = each.split('\n').map((line) => line.split(/: ?(.*)/s));
        const { data, ...rest } = Object.fromEntries(lines);
        got.push({ ...rest, ...(data && { data: JSON.parse(data) }) });
      }
    }
  };
  const reading = response.status === 200 ? body().catch(() => {}) : undefined;
  const results = () => got.flatMap(({ event, data }) => (event === 'next' ? [data] : []));
  return {
    response,
    got,
    reading,
    results,
    numbers: () => results().flatMap(({ data }) => data?.events?.number ?? []) as number[],
    position: () => got.findLast(({ id }) => id !== undefined)?.id,
    completed: () => got.some(({ event }) => event === 'complete'),
    close: () => controller.abort(),
  };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function keyOf(speaker: Speaker, permission = 'READ') {
  const query = `mutation { createApiKey(input: { permission: ${permission} }) { secret apiKey { id } } }`;
  const { secret, apiKey } = (await speaker.graph(query)).body.data.createApiKey;
  return {
    secret: secret as string,
    revoke: () => speaker.graph(`mutation { revokeApiKey(input: { id: "${apiKey.id}" }) { apiKey { id } } }`),
  };
}

const everyEvent = 'subscription { events(afterNumber: 0) { number type objectId accountId subject { id } } }';

describe('events over server-sent events', () => {
  it('sends each event once, in the order of the numbers, as a query shows it', async () => {
    const user = await given.directUser(1);
    const stream = await subscribe(user.key, everyEvent);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await partner(user);
    const last = await settled(user);
    await until(stream.numbers, (numbers) => numbers.at(-1) === last);
    expect(stream.numbers()).toEqual(range(1, last));
    const query = '{ events(last: 100) { nodes { number type objectId accountId subject { id } } } }';
    const { nodes } = (await user.graph(query)).body.data.events;
    expect(stream.results().map(({ data }) => data.events)).toEqual(nodes.reverse());
    expect(stream.results()[0].extensions).toMatchObject({ requestId: expect.any(String), cost: expect.any(Object) });
    expect(stream.got.filter(({ event }) => event === 'next').map(({ id }) => Number(id))).toEqual(range(1, last));
  });

  it('misses and repeats nothing when a client comes back, to another gateway as well', async () => {
    const user = await given.directUser(1);
    const origins = [world.origin, await world.another()];
    const received: number[] = [];
    const state = { last: Number.POSITIVE_INFINITY };
    const reader = (async () => {
      let position = '0';
      for (let turn = 0; received.length < state.last; turn++) {
        const headers = { 'last-event-id': position };
        const query = 'subscription { events { number } }';
        const stream = await subscribe(user.key, query, { headers, origin: origins[turn % 2]! });
        const wanted = 1 + (turn % 4);
        // Each turn brings some events, or the last ones, however late they come.
        await until(stream.numbers, ({ length }) => length >= Math.min(wanted, state.last - received.length));
        stream.close();
        await stream.reading;
        received.push(...stream.numbers());
        position = stream.position() ?? position;
      }
    })();
    for (let i = 0; i < 8; i++) await Promise.all([partner(user), partner(user)]);
    state.last = await settled(user);
    await reader;
    expect(received).toEqual(range(1, state.last));
  });

  it.each(['types: ["account.*"]', 'eventType: [DEPOSIT_COMPLETED, ACCOUNT_CREATED]'])(
    'is read by the library graphql-sse, with the account of a connected user and %s',
    async (types) => {
      const platform = await given.platform(2);
      const user = await platform.connectedUser();
      await partner(user);
      await settled(platform);
      const client = sseClient({
        url: `${world.origin}/graphql`,
        headers: { authorization: `Bearer ${platform.key}` },
      });
      open.add(() => client.dispose());
      const query = `subscription ($id: ID) { events(afterNumber: 0, ${types}, accountId: $id) { type accountId } }`;
      const found: unknown[] = [];
      for await (const { data, errors } of client.iterate({ query, variables: { id: user.id } })) {
        expect(errors).toBeUndefined();
        found.push(data);
        if (found.length === 2) break;
      }
      expect(found).toEqual([
        { events: { type: 'account.created', accountId: user.id } },
        { events: { type: 'account.created', accountId: user.id } },
      ]);
    },
  );

  it('shows a session no event of keys, and acts for a connected user', async () => {
    const platform = await given.platform(2);
    const user = await platform.connectedUser();
    const { token } = await sessionOf(platform);
    const last = await settled(platform);
    const [whole, narrow, acting] = await Promise.all([
      subscribe(platform.key, 'subscription { events(afterNumber: 0, scope: DESCENDANTS) { type accountId number } }'),
      subscribe(token, 'subscription { events(afterNumber: 0, scope: DESCENDANTS) { type accountId number } }'),
      subscribe(token, everyEvent, { headers: { 'on-behalf-of': user.id } }),
    ]);
    await until(whole.numbers, (numbers) => numbers.at(-1) === last);
    const types = (stream: typeof whole) => stream.results().map(({ data }) => data.events.type as string);
    expect(types(whole)).toContain('api_key.created');
    const seen = types(whole).filter((type) => !/^(api_key|session)\./.test(type));
    await until(
      () => types(narrow),
      ({ length }) => length >= seen.length,
    );
    expect(types(narrow)).toEqual(seen);
    await until(acting.results, ({ length }) => length > 0);
    expect(new Set(acting.results().map(({ data }) => data.events.accountId))).toEqual(new Set([user.id]));
  });

  it.each([
    ['events(afterNumber: -1) { id }', 400, 'event.after_number'],
    ['events(afterNumber: 2000000000) { id }', 400, 'event.after_number'],
    ['events(afterNumber: "1") { id }', 400, 'event.after_number'],
    ['events(types: ["deposit.invented"]) { id }', 400, 'event.types[0]'],
    ['events(types: []) { id }', 400, 'event.types'],
    ['events(eventType: [DEPOSIT_INVENTED]) { id }', 400, 'event.event_type[0]'],
    ['events(eventType: []) { id }', 400, 'event.event_type'],
    ['events(types: ["account.*"], eventType: [ACCOUNT_CREATED]) { id }', 400, 'event.event_type'],
    ['events(scope: DESCENDANTS) { id }', 400, 'event.scope'],
    ['events(accountId: "account_0") { id }', 404, 'event.account_id'],
    ['events(since: 1) { id }', 400, 'event.since'],
    ['events @skip(if: true) { id }', 400, undefined],
    ['...F } fragment F on Subscription { events @include(if: false) { id }', 400, undefined],
    ['events { id } balance { accountId }', 400, undefined],
    ['events { nothing }', 400, undefined],
    ['events { id', 400, undefined],
    ['checkout(id: "checkout_0") { id }', 404, undefined],
    ['node { id }', 400, 'node.id'],
  ])('refuses subscription { %s } by name', async (fields, status, name) => {
    const user = await given.directUser(1);
    const { response } = await subscribe(user.key, `subscription { ${fields} }`);
    const { errors } = await response.json();
    expect([response.status, errors[0].extensions.error?.metadata?.field_name]).toEqual([status, name]);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  it.each([
    ['$after: SafeInt', 'events(afterNumber: $after) { id }', { after: 'x' }, 'event.after_number'],
    ['$after: SafeInt', 'events(afterNumber: $after) { id }', { after: 1.5 }, 'event.after_number'],
    ['$types: [String!]', 'events(types: $types) { id }', { types: [1] }, 'event.types[0]'],
    ['$id: ID!', 'node(id: $id) { id }', { id: {} }, 'node.id'],
    ['$id: ID!', 'node(id: $id) { id }', {}, 'node.id'],
    ['$asOf: DateTime', 'balance { account { balance(asOf: $asOf) { accountId } } }', { asOf: 'x' }, 'account.as_of'],
    ['$at: Int', 'balance { account { partners(first: $at) { nodes { id } } } }', { at: 'x' }, 'account.limit'],
  ])(
    'refuses a wrong variable %s of { %s } and not as a fault of the service',
    async (declared, fields, values, name) => {
      const user = await given.directUser(1);
      const { response } = await subscribe(user.key, {
        query: `subscription (${declared}) { ${fields} }`,
        variables: values,
      });
      const [error] = (await response.json()).errors;
      expect([response.status, error.extensions.error?.metadata?.field_name]).toEqual([400, name]);
      expect(error.extensions).toMatchObject({
        docUrl: expect.stringContaining('/docs/errors#'),
        requestId: response.headers.get('request-id'),
      });
    },
  );

  it.each(['events { nothing }', 'events { id', 'events @skip(if: true) { id }'])(
    'says of { %s } where the code is explained, like a query',
    async (fields) => {
      const user = await given.directUser(1);
      const { response } = await subscribe(user.key, `subscription { ${fields} }`);
      const [{ extensions }] = (await response.json()).errors;
      expect(extensions.docUrl).toBe(`/docs/errors#${extensions.code}`);
    },
  );

  it('has the limits of queries', async () => {
    const user = await given.directUser(1);
    const nested = `${'account { '.repeat(17)}id${' }'.repeat(17)}`;
    const codes = await Promise.all(
      [
        `subscription { balance { ${nested} } }`,
        `subscription { balance { ${range(1, 31).map((i) => `a${i}: accountId `)} } }`,
        'subscription { node(id: "x") { ... on Account { partners(first: 100) { nodes { depositsIn(first: 100) ' +
          '{ nodes { id } } } } } } }',
        `subscription { events { ${'id '.repeat(5_000)} } }`,
      ].map(async (query) => {
        const { response } = await subscribe(user.key, query);
        return (await response.json()).errors.map(({ extensions }: any) => extensions.code);
      }),
    );
    expect(codes).toMatchInlineSnapshot(`
      [
        [
          "QUERY_TOO_DEEP",
          "GRAPHQL_VALIDATION_FAILED",
        ],
        [
          "QUERY_TOO_MANY_ALIASES",
        ],
        [
          "QUERY_TOO_LARGE",
        ],
        [
          "GRAPHQL_PARSE_FAILED",
        ],
      ]
    `);
  });

  it('answers no subscription as JSON, and no query as events', async () => {
    const user = await given.directUser(1);
    const json = await user.graph('subscription { events { id } }');
    expect([json.status, json.body.errors[0].extensions.code]).toEqual([400, 'OPERATION_NOT_SUPPORTED']);
    const mixed = { query: 'query A { viewer { mode } } subscription B { events { id } }', operationName: 'A' };
    for (let i = 0; i < 3; i++) {
      expect((await user.post('/graphql', mixed)).body.data).toEqual({ viewer: { mode: 'TEST' } });
      expect((await user.post('/graphql', { ...mixed, operationName: 'B' })).status).toBe(400);
    }
    const events = await subscribe(user.key, '{ viewer { mode } }');
    expect([events.response.status, (await events.response.json()).errors[0].extensions.code]).toEqual([
      406,
      'NOT_ACCEPTABLE',
    ]);
    const either = { accept: 'application/json, text/event-stream' };
    expect((await user.graph('{ viewer { mode } }', {}, either)).body.data).toEqual({ viewer: { mode: 'TEST' } });
  });

  it('answers a GET, whose document and variables are in the address', async () => {
    const user = await given.directUser(1);
    await settled(user);
    const query = 'subscription ($after: SafeInt) { events(afterNumber: $after) { number } }';
    const search = new URLSearchParams({ query, variables: '{"after":0}' });
    const response = await fetch(`${world.origin}/graphql?${search}`, {
      headers: { authorization: `Bearer ${user.key}`, accept: 'text/event-stream' },
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    open.add(() => reader.cancel());
    let text = '';
    while (!text.includes('event: next')) text += (await reader.read()).value;
    expect(text).toMatch(/^retry: 2000\n\n:\nid: 0\n\nid: 1\nevent: next\ndata: \{"data":\{"events":\{"number":1\}\}/);
  });
});

describe('objects over server-sent events', () => {
  it('sends an object at once and whenever it has changed, by a compiled query or by resolvers', async () => {
    const user = await given.platform(1);
    const { id } = await user.connectedUser();
    const fields = '__typename ... on Account { nickname partners { totalCount } }';
    const streams = await Promise.all([
      subscribe(user.key, {
        query: 'subscription ($id: ID!) { node(id: $id) { ... on Account { nickname } } }',
        variables: { id },
      }),
      subscribe(user.key, `subscription { node(id: "${id}") { ${fields} } }`),
    ]);
    const names = (stream: (typeof streams)[0]) => stream.results().map(({ data }) => data.node.nickname as string);
    const expected = [
      ...(await until(
        () => names(streams[0]!),
        ({ length }) => length === 1,
      )),
    ];
    for (const name of ['One', 'Two', 'Three']) {
      expect((await user.post(`/v1/accounts/${id}`, { nickname: name })).body).toMatchObject({ nickname: name });
      expected.push(name);
      for (const stream of streams)
        await until(
          () => names(stream),
          (found) => found.at(-1) === name,
        );
    }
    // A change of something else sends nothing.
    await user.connectedUser();
    await settled(user);
    await user.post(`/v1/accounts/${id}`, { nickname: 'Four' });
    for (const stream of streams) {
      await until(
        () => names(stream),
        (found) => found.at(-1) === 'Four',
      );
      expect(names(stream)).toEqual([...expected, 'Four']);
    }
  });

  it('sends the funds of an account and a checkout whenever they change', async () => {
    const payee = await PayeeFixture.open(world);
    const checkout = await payee.checkoutFixture({ amount: '12.50' });
    const amounts = 'amount currency';
    const balance = `balance { available { ${amounts} } pending { ${amounts} } processing { ${amounts} } }`;
    const status = `checkout(id: "${checkout.id}") { status deposit { status } }`;
    const streams = await Promise.all([
      subscribe(payee.user.key, `subscription { ${status} }`),
      subscribe(payee.user.key, `subscription { ${balance} }`),
    ]);
    for (const stream of streams) await until(stream.results, ({ length }) => length === 1);
    await payee.help(checkout, 'pay');
    const last = (i: number) => streams[i]!.results().at(-1).data;
    const done = await eventually(
      async () => (await payee.user.graph(`{ ${status} ${balance} }`)).body.data,
      (now) => now.checkout.deposit?.status === 'COMPLETED',
    );
    expect(done.balance).not.toEqual(streams[1]!.results()[0].data.balance);
    await until(
      () => ({ ...last(0), ...last(1) }),
      (shown) => JSON.stringify(shown) === JSON.stringify(done),
    );
  });

  it('sends null for what the caller cannot see, and ends with the reason when there is no such object', async () => {
    const [user, other] = [await given.directUser(2), await given.directUser(2)];
    const hidden = await subscribe(user.key, `subscription { node(id: "${other.id}") { id } }`);
    await until(hidden.results, ({ length }) => length === 1);
    expect(hidden.results()[0].data).toEqual({ node: null });
    const missing = await subscribe(user.key, 'subscription { checkout(id: "checkout_0") { id } }');
    await missing.reading;
    expect(missing.results()).toMatchObject([{ errors: [{ extensions: { code: 'RESOURCE_MISSING' } }] }]);
    expect(missing.completed()).toBe(true);
  });
});

describe('streams of both protocols', () => {
  it('end when their key is revoked or their session has ended', async () => {
    const user = await given.directUser(1);
    const key = await keyOf(user);
    const { token, session } = await sessionOf(user);
    const query = 'subscription { events { id } }';
    const streams = await Promise.all([subscribe(key.secret, query), subscribe(token, query)]);
    const sockets = [socketsOf(bearer(key.secret)), socketsOf(bearer(token))];
    const followed = sockets.map(({ client }) => followSocket(client, 'subscription { balance { accountId } }'));
    for (const { got } of followed)
      await until(
        () => got,
        ({ length }) => length > 0,
      );
    await key.revoke();
    await user.graph(`mutation { revokeSession(input: { id: "${session.id}" }) { session { id } } }`);
    for (const stream of streams) {
      await stream.reading;
      expect(stream.results().at(-1)).toMatchObject({ errors: [{ extensions: { code: 'API_KEY_INVALID' } }] });
      expect(stream.completed()).toBe(true);
    }
    for (const { closed } of sockets)
      await until(
        () => closed[0]?.code,
        (code) => code === 4401,
      );
  });

  it('last longer than a request may', async () => {
    const user = await given.directUser(1);
    const origin = await world.another({ environment: { REQUEST_SECONDS: '5' } });
    const query = 'subscription { events { number } }';
    const stream = await subscribe(user.key, query, { origin });
    const { client } = socketsOf(bearer(user.key), { origin });
    const { got, state } = followSocket(client, query);
    // The limit of the request is over after 5 s; a shorter one would end what begins late on a busy machine.
    await sleep(5_500);
    await partner(user);
    const last = await settled(user);
    await until(stream.numbers, (numbers) => numbers.at(-1) === last);
    await until(
      () => got,
      (results) => results.at(-1)?.data.events.number === last,
    );
    expect([stream.completed(), state]).toEqual([false, {}]);
  });

  it('are bounded for each key', async () => {
    const user = await given.directUser(1);
    const query = 'subscription { events { id } }';
    const { client } = socketsOf(bearer(user.key));
    const { got } = followSocket(client, 'subscription { balance { accountId } }');
    await until(
      () => got,
      ({ length }) => length > 0,
    );
    const streams = [];
    for (let i = 0; i < 4; i++) streams.push(await subscribe(user.key, query));
    const refused = await subscribe(user.key, query);
    expect([refused.response.status, (await refused.response.json()).errors[0].extensions.code]).toEqual([
      429,
      'STREAMS_EXCEEDED',
    ]);
    const { state } = followSocket(client, query);
    await until(
      () => state.error?.[0].extensions.code,
      (code) => code === 'STREAMS_EXCEEDED',
    );
    const other = socketsOf(bearer(user.key));
    followSocket(other.client, query);
    await until(
      () => other.closed[0]?.code,
      (code) => code === 1013,
    );
    streams[0]!.close();
    await eventually(
      async () => (await subscribe(user.key, query)).response.status,
      (status) => status === 200,
    );
  });

  it('end when the gateway stops, so that clients come back', async () => {
    const user = await given.directUser(1);
    const origin = await world.another();
    const stream = await subscribe(user.key, 'subscription { events { id } }', { origin });
    const { client, closed } = socketsOf(bearer(user.key), { origin });
    const { got } = followSocket(client, 'subscription { balance { accountId } }');
    await until(
      () => got,
      ({ length }) => length > 0,
    );
    await world.apps.at(-1)!.close();
    await stream.reading;
    expect(stream.position()).toBeDefined();
    expect(stream.completed()).toBe(false);
    await until(
      () => closed[0]?.code,
      (code) => code === 1012,
    );
  });

  it('keep little for a client that reads nothing', async () => {
    const user = await given.directUser(1);
    await partner(user);
    const { hostname, port } = new URL(world.origin);
    const socket = net.connect(Number(port), hostname);
    open.add(() => socket.destroy());
    const raw = await rawSocket();
    raw.socket.send(JSON.stringify({ type: 'connection_init', payload: bearer(user.key) }));
    await new Promise((resume) => raw.socket.once('message', resume));
    raw.socket.pause();
    // Each ping has an answer of 60 kB, which nothing reads.
    const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(60_000) } });
    const sending = setInterval(() => raw.socket.readyState === raw.socket.OPEN && raw.socket.send(ping), 1);
    open.add(() => clearInterval(sending));
    const sizes = () => [...world.app.websocketServer.clients].map(({ bufferedAmount }) => bufferedAmount);
    const most = { bytes: 0 };
    await until(
      () => {
        most.bytes = Math.max(most.bytes, ...sizes());
        return sizes().length;
      },
      (length) => length === 0,
    );
    expect(most.bytes).toBeLessThan(8_000_000);
  });
});

describe('the documentation of subscriptions', () => {
  it.each([0, 1])('has an example that ends with the session of its page: number %i', async (index) => {
    const user = await given.directUser(1);
    const { id, token } = await must(user.post('/v1/sessions', { role: 'read' }));
    await settled(user);
    const code = [...fs.readFileSync('docs/streams.md', 'utf8').matchAll(/```js\n([\s\S]*?)```/g)][index]![1]!;
    const environment = { ...process.env, ORIGIN: world.origin, KEY: token };
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { env: environment });
    open.add(() => child.kill());
    let [out, faults] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (faults += part));
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    await until(
      () => out,
      (printed) => printed.includes('account.created'),
    );
    await must(user.post(`/v1/sessions/${id}/revoke`));
    expect([await ended, faults.includes('TypeError')]).toEqual([0, false]);
  });

  it.each([
    [1, 'account.created'],
    [2, '0.00'],
  ])('has an example that runs: number %i', async (index, printed) => {
    const user = await given.directUser(1);
    await settled(user);
    const code = [...fs.readFileSync('docs/streams.md', 'utf8').matchAll(/```js\n([\s\S]*?)```/g)][index]![1]!;
    const environment = { ...process.env, ORIGIN: world.origin, KEY: user.key };
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { env: environment });
    open.add(() => child.kill());
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part));
    await until(
      () => out.trimEnd().split('\n'),
      (lines) => lines.includes(printed),
    );
  });
});
