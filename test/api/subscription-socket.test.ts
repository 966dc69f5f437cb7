import { createHash } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApolloClient, gql, InMemoryCache } from '@apollo/client/core';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client as UrqlClient, fetchExchange, subscriptionExchange } from '@urql/core';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually, givenIn, useWorld } from '../support/world.js';
import { bearer, followSocket, partner, sessionOf, subscriptionsIn, until } from './subscription-fixture.js';

const world = useWorld({ environment: { STREAMS_OF_KEY_MAX: '6', CORS_ORIGINS: 'https://app.example.com' } });
const given = givenIn(world);
const { open, settled, socketsOf, rawSocket } = subscriptionsIn(world);

// A connection of `fetch` without a request is not idle for Node, which waits a minute for its request.
afterAll(() => {
  for (const app of world.apps) app.server.closeAllConnections();
});

/** What a connection gets until its end when it sends these parts, 300 ms after each other. */
async function rawAnswers(parts: string[]): Promise<string> {
  const socket = net.connect(Number(new URL(world.origin).port), '127.0.0.1');
  open.add(() => socket.destroy());
  let text = '';
  let ended = false;
  socket.on('data', (data) => void (text += data));
  // Node's own end of a connection may be a reset.
  socket.on('error', () => {}).on('close', () => void (ended = true));
  for (const part of parts) {
    if (!ended) socket.write(part);
    await sleep(300);
  }
  await eventually(
    async () => ended,
    (is) => is,
  );
  return text;
}

describe('subscriptions over a WebSocket', () => {
  it('send each event once, resume after a number, and act for another account', async () => {
    const platform = await given.platform(2);
    const user = await platform.connectedUser();
    const { client } = socketsOf({ ...bearer(platform.key), 'On-Behalf-Of': user.id });
    const query = 'subscription ($after: SafeInt) { events(afterNumber: $after) { number accountId } }';
    const first = followSocket(client, query, { variables: { after: 0 } });
    await partner(user);
    const last = await settled(platform);
    const numbers = () => first.got.map(({ data }) => data.events.number as number);
    await until(numbers, (found) => found.at(-1) === last);
    expect(new Set(first.got.map(({ data }) => data.events.accountId))).toEqual(new Set([user.id]));
    const second = followSocket(client, query, { variables: { after: numbers()[0] } });
    await until(
      () => second.got,
      ({ length }) => length >= numbers().length - 1,
    );
    expect(second.got.map(({ data }) => data.events.number)).toEqual(numbers().slice(1));
    expect(second.got[0].extensions).toMatchObject({ requestId: expect.any(String), cost: expect.any(Object) });
  });

  it('send an object at once and whenever it has changed, and end when the client says so', async () => {
    const platform = await given.platform(1);
    const { id } = await platform.connectedUser();
    const { client } = socketsOf(bearer(platform.key));
    const query = 'subscription ($id: ID!) { node(id: $id) { ... on Account { nickname } } }';
    // Six streams are allowed, one of which is the connection. Each that ends makes room for another.
    for (let i = 0; i < 7; i++) {
      const { got, end } = followSocket(client, query, { variables: { id } });
      await until(
        () => got,
        ({ length }) => length === 1,
      );
      await platform.post(`/v1/accounts/${id}`, { nickname: `Name ${i}` });
      await until(
        () => got.at(-1).data.node.nickname,
        (name) => name === `Name ${i}`,
      );
      end();
    }
  });

  it('refuses what it does not answer, with the errors of a query', async () => {
    const user = await given.directUser(1);
    const { client } = socketsOf(bearer(user.key));
    const errors = async (query: string, more: object = {}) => {
      const { state } = followSocket(client, query, more);
      const found = await until(
        () => state.error,
        (error) => error !== undefined,
      );
      return found.map(({ extensions }: any) => extensions.error?.metadata?.field_name ?? extensions.code);
    };
    expect(await errors('{ viewer { mode } }')).toEqual(['OPERATION_NOT_SUPPORTED']);
    expect(await errors('mutation { revokeApiKey(input: { id: "x" }) { apiKey { id } } }')).toEqual([
      'OPERATION_NOT_SUPPORTED',
    ]);
    expect(await errors('subscription { events(afterNumber: -1) { id } }')).toEqual(['event.after_number']);
    expect(await errors('subscription { events(afterNumber: "x") { id } }')).toEqual(['event.after_number']);
    expect(await errors('subscription { events {')).toEqual(['GRAPHQL_PARSE_FAILED']);
    expect(await errors('', {})).toEqual(['request.query']);
    const query = 'subscription { events(afterNumber: 0) { id } }';
    const persistedQuery = { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') };
    expect(await errors('', { extensions: { persistedQuery } })).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
    followSocket(client, query, { extensions: { persistedQuery } });
    const known = followSocket(client, '', { extensions: { persistedQuery } });
    await partner(user);
    await until(
      () => known.got,
      ({ length }) => length > 0,
    );
  });

  it('are followed by Apollo Client and by urql, which also needs nothing but a fetch', async () => {
    const user = await given.directUser(1);
    const query = gql`subscription ($after: SafeInt) { events(afterNumber: $after) { number type } }`;
    const url = `${world.origin}/graphql`;
    const apollo = new ApolloClient({
      link: new GraphQLWsLink(socketsOf(bearer(user.key)).client),
      cache: new InMemoryCache(),
    });
    const overSocket = new UrqlClient({
      url,
      exchanges: [
        subscriptionExchange({
          forwardSubscription: ({ query: text, variables }) => ({
            subscribe: (sink) => {
              const { client } = socketsOf(bearer(user.key));
              const asked = { query: text ?? '', variables: variables as Record<string, unknown> };
              return {
                unsubscribe: client.subscribe(asked, { ...sink, next: (result) => sink.next(result as never) }),
              };
            },
          }),
        }),
      ],
    });
    const overFetch = new UrqlClient({
      ...{ url, preferGetMethod: false, fetchSubscriptions: true, exchanges: [fetchExchange] },
      fetchOptions: { headers: bearer(user.key) },
    });
    const got = { apollo: [] as any[], overSocket: [] as any[], overFetch: [] as any[] };
    const variables = { after: 0 };
    const followed = [
      apollo.subscribe({ query, variables }).subscribe(({ data }) => void got.apollo.push(data)),
      overSocket.subscription(query, variables).subscribe(({ data }) => void got.overSocket.push(data)),
      overFetch.subscription(query, variables).subscribe(({ data }) => void got.overFetch.push(data)),
    ];
    for (const each of followed) open.add(() => each.unsubscribe());
    await partner(user);
    const last = await settled(user);
    for (const [name, results] of Object.entries(got)) {
      await until(
        () => results,
        (found) => found.at(-1)?.events.number === last,
      );
      const numbers = results.map(({ events }) => events.number);
      expect([name, numbers]).toEqual([name, Array.from({ length: last }, (_, i) => i + 1)]);
    }
  });

  it('closes connections without a valid key, and of pages that may not use the gateway', async () => {
    const user = await given.directUser(1);
    for (const [params, code] of [
      [bearer(`${user.key}x`), 4401],
      [{}, 4401],
      [{ ...bearer(user.key), 'on-behalf-of': 'account_0' }, 4403],
    ] as const) {
      const { client, closed } = socketsOf(params);
      const { state } = followSocket(client, 'subscription { events { id } }');
      await until(
        () => state.error,
        (error) => error !== undefined,
      );
      expect(closed.map((each) => each.code)).toEqual([code]);
      expect(closed[0]!.reason).toMatch(/\.$/);
    }
    const { token } = await sessionOf(user, 'role: READ, allowedOrigins: ["https://app.example.com"]');
    for (const [origin, credential, status, code] of [
      ['https://evil.example', token, 403, 1006],
      ['https://evil.example', user.key, 403, 1006],
      ['https://app.example.com', token, 101, undefined],
      [undefined, token, 101, 4403],
    ] as const) {
      const raw = await rawSocket(origin === undefined ? {} : { origin });
      expect(raw.status).toBe(status);
      if (status !== 101) continue;
      const answer = new Promise((resume) => void raw.socket.once('message', (data) => resume(String(data))));
      raw.socket.send(JSON.stringify({ type: 'connection_init', payload: bearer(credential) }));
      if (code) expect(await raw.closed).toBe(code);
      else expect(await answer).toBe('{"type":"connection_ack"}');
    }
  });

  it('is refused when its first message has a header twice, in two spellings', async () => {
    const user = await given.directUser(1);
    for (const payload of [
      { Authorization: `Bearer ${user.key}`, authorization: `Bearer ${user.key}` },
      { ...bearer(user.key), 'On-Behalf-Of': 'account_0', 'on-behalf-of': 'account_0' },
    ]) {
      const { socket } = await rawSocket();
      const reason = new Promise((resume) => void socket.on('close', (_, text) => resume(String(text))));
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
      expect(await reason).toMatch(/^The header (Authorization|On-Behalf-Of) is repeated. Send it once.$/);
    }
  });

  it.each([
    ['a NUL', 'On-Behalf-Of', '\u0000'],
    ['a letter that no header has', 'On-Behalf-Of', 'ключ'],
    ['more than 500 characters', 'on-behalf-of', 'a'.repeat(501)],
  ])('is refused when its first message has %s', async (_, name, value) => {
    const user = await given.directUser(1);
    const { socket, closed } = await rawSocket();
    const reason = new Promise((resume) => void socket.on('close', (__, text) => resume(String(text))));
    socket.send(JSON.stringify({ type: 'connection_init', payload: { ...bearer(user.key), [name]: value } }));
    expect([await closed, await reason]).toEqual([4403, expect.stringContaining('printable ASCII')]);
  });

  it('has a bounded number of connections without a key, of which the oldest give way', async () => {
    const user = await given.directUser(1);
    const { client, closed } = socketsOf(bearer(user.key));
    const { got } = followSocket(client, 'subscription { balance { accountId } }');
    await until(
      () => got,
      ({ length }) => length === 1,
    );
    const ends: number[] = [];
    const outsiders = [];
    for (let i = 0; i < 205; i++) {
      const outsider = await rawSocket();
      expect(outsider.status).toBe(101);
      void outsider.closed.then(() => ends.push(i));
      outsiders.push(outsider);
    }
    await until(
      () => ends,
      ({ length }) => length >= 5,
    );
    expect(ends.toSorted((a, b) => a - b).slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
    expect(closed).toEqual([]);
    const last = outsiders.at(-1)!;
    const answer = new Promise((resume) => void last.socket.once('message', (data) => resume(String(data))));
    last.socket.send(JSON.stringify({ type: 'connection_init', payload: bearer(user.key) }));
    expect(await answer).toBe('{"type":"connection_ack"}');
  });

  it('answers requests that offer another protocol without it', async () => {
    const user = await given.directUser(1);
    const body = JSON.stringify({ query: '{ viewer { mode } }' });
    const answers = ['h2c', 'websocket'].map(
      (upgrade) =>
        new Promise<string>((resolve, reject) => {
          const headers = { ...bearer(user.key), 'content-type': 'application/json', upgrade, connection: 'upgrade' };
          const request = http.request(`${world.origin}/graphql`, { method: 'POST', headers }, async (response) => {
            let text = '';
            for await (const part of response) text += part;
            resolve(`${response.statusCode} ${text}`);
          });
          request.on('error', reject).write(body.slice(0, 5));
          setTimeout(() => request.end(body.slice(5)), 50);
        }),
    );
    for (const answer of await Promise.all(answers))
      expect(answer).toMatch(/^200 \{"data":\{"viewer":\{"mode":"TEST"\}\}/);
    const elsewhere = await rawSocket(bearer(user.key), `${world.origin.replace('http', 'ws')}/v1/events/stream`);
    expect(elsewhere.status).toBe(200);
  });

  // Node ended the process when an answer before the offer had not ended, and the connection went on.
  it.each(['h2c', 'websocket'])(
    'ends a connection that offers %s before an earlier request is answered',
    async (protocol) => {
      const offer = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\n`;
      for (const path of ['/', '/graphql', '/docs']) {
        const answers = await rawAnswers([
          `GET /docs HTTP/1.1\r\nHost: a\r\n\r\nGET ${path} HTTP/1.1\r\nHost: a\r\n${offer}\r\n`,
          'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
        ]);
        expect(answers).not.toContain('101');
        expect((await fetch(world.origin)).status).toBe(200);
      }
    },
  );

  it('ends the connection of a request that offered another protocol after its answer', async () => {
    const offer = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
    const answers = await rawAnswers([`GET / HTTP/1.1\r\nHost: a\r\n${offer}\r\n`]);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(answers).toMatch(/^connection: close\r$/im);
  });
});
