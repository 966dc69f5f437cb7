import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { GraphQLNonNull } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { value } from '../../src/api/graphql/compiler/json.js';
import { followEvents } from '../../src/operator/commands/event-client.js';
import { SafeInt } from '../../src/types/scalars.js';
import { eventually, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

/** Reads a stream of server-sent events with `fetch` until it has so many messages with data. */
async function read(speaker: Speaker, path: string, { count, ...init }: RequestInit & { count: number }) {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${speaker.key}`, accept: 'text/event-stream', ...init.headers };
  const response = await fetch(`${world.origin}${path}`, { ...init, headers, signal: controller.signal });
  expect(response.status).toBe(200);
  const got: { id: string; data: any }[] = [];
  let text = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    const messages = (text + piece).split('\n\n');
    text = messages.pop()!;
    for (const message of messages) {
      const { id, data } = Object.fromEntries(message.split('\n').map((line) => line.split(/: ?(.*)/s)));
      if (data) got.push({ id, data: JSON.parse(data) });
    }
    if (got.length >= count) break;
  }
  controller.abort();
  return got.slice(0, count);
}

const subscription = (speaker: Speaker, query: string, count: number, variables = {}, headers = {}) =>
  read(speaker, '/graphql', {
    ...{ method: 'POST', count, body: JSON.stringify({ query, variables }) },
    headers: { 'content-type': 'application/json', ...headers },
  });

// The second numbers end at the largest that a JSON number keeps exact.
describe.each([
  ['32 bits', 2 ** 31 - 1],
  ['almost 53 bits', Number.MAX_SAFE_INTEGER - 6],
])('events with numbers of more than %s', (_, base) => {
  let user: Speaker;
  const numbers = [1, 2, 3].map((n) => base + n);
  const bodies: string[] = [];
  const receiver = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => void (body += piece));
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(204).end();
    });
  });
  afterAll(() => new Promise((resume) => receiver.close(resume)));

  beforeAll(async () => {
    await new Promise<void>((resume) => receiver.listen(0, '127.0.0.1', resume));
    user = await given.directUser(1);
    await settled();
    await world.sql`
      update event_counter set last = ${base} where tenant_id = ${tenantOf(user)} and not livemode`;
    for (const _ of numbers) await user.partner();
    await settled();
  });

  const settled = () =>
    eventually(
      async () => world.sql`select 1 from event where tenant_id = ${tenantOf(user)} and number is null`,
      ({ length }) => length === 0,
    );

  it('are listed and shown by /v1', async () => {
    const { body, text } = await user.get('/v1/events?limit=3');
    expect(body.data.map((event: any) => event.number)).toEqual(numbers.toReversed());
    for (const number of numbers) expect(text).toContain(`"number":${number},`);
    const [{ id }] = body.data;
    expect((await must(user.get(`/v1/events/${id}`))).number).toBe(numbers[2]);
  });

  it('are listed and shown by the graph, as JSON numbers, whichever way a document is executed', async () => {
    const query = '{ events(first: 3) { nodes { id number eventType type } } }';
    const replies = [];
    // A document that asks for rows alone is compiled from the third time on.
    for (let i = 0; i < 4; i++) replies.push(await user.graph(query));
    for (const { body, text } of replies) {
      expect(body.errors).toBeUndefined();
      expect(body.data.events.nodes.map((event: any) => [event.number, event.eventType, event.type])).toEqual(
        numbers.toReversed().map((number) => [number, 'ACCOUNT_CREATED', 'account.created']),
      );
      for (const number of numbers) expect(text).toContain(`"number":${number},`);
    }
    const [{ id }] = replies[0]!.body.data.events.nodes;
    const one = await user.graph('query ($id: ID!) { event(id: $id) { number } }', { id });
    expect(one.body.data.event.number).toBe(numbers[2]);
  });

  it('are followed by the stream of /v1, after a number or from the last one that a client has', async () => {
    const [first, second] = numbers as [number, number];
    const all = await read(user, `/v1/events/stream?after=${base}`, { count: 3 });
    expect(all.map(({ id, data }) => [id, data.number])).toEqual(numbers.map((number) => [String(number), number]));
    const headers = { 'last-event-id': String(first) };
    const [next] = await read(user, '/v1/events/stream', { count: 1, headers });
    expect([next!.id, next!.data.number]).toEqual([String(second), second]);
    const followed = followEvents({ gateway: world.origin, key: user.key, after: second, say: () => {} });
    expect((await followed.next()).value?.number).toBe(numbers[2]);
    await followed.return();
  });

  it('are followed by a subscription, after a number or from the last one that a client has', async () => {
    const [first, second] = numbers as [number, number];
    const shown = (got: { id: string; data: any }[]) => got.map(({ id, data }) => [id, data.data.events.number]);
    const query = 'subscription ($after: SafeInt) { events(afterNumber: $after) { number } }';
    const all = numbers.map((number) => [String(number), number]);
    expect(shown(await subscription(user, query, 3, { after: base }))).toEqual(all);
    const literal = `subscription { events(afterNumber: ${base}) { number } }`;
    expect(shown(await subscription(user, literal, 3))).toEqual(all);
    const headers = { 'last-event-id': String(first) };
    expect(shown(await subscription(user, query, 1, {}, headers))).toEqual([[String(second), second]]);
  });

  it('are sent to webhooks by a document, and again after a number by both APIs', async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const query = 'query ($eventId: ID!) { event(id: $eventId) { number eventType subject { id } } }';
    // Events from before the endpoint existed are sent on request.
    const { id } = await must(user.post('/v1/webhook_endpoints', { url, query, event_types: ['account.created'] }));
    const sent = async (count: number) => {
      await eventually(
        async () => bodies.length,
        (n) => n === count,
      );
      return bodies.map((body) => JSON.parse(body).data.event.number);
    };
    const [first, second, third] = numbers;
    const mutation = `mutation ($input: RedeliverWebhooksInput!) {
      redeliverWebhooks(input: $input) { webhookEndpoint { id } }
    }`;
    await must(user.graph(mutation, { input: { id, afterNumber: second } }));
    expect(await sent(1)).toEqual([third]);
    await must(user.post(`/v1/webhook_endpoints/${id}/redeliver`, { after_number: base }));
    expect(await sent(3)).toEqual([third, first, second]);
    // The creation of the endpoint has the number before.
    await user.partner();
    expect(await sent(4)).toEqual([third, first, second, base + 5]);
  });
});

describe('the number of an event', () => {
  it.each([2 ** 53, 2 ** 63, 1.5, '1'])('is refused as a position by its name: %s', async (number) => {
    const user = await given.directUser(1);
    const { id } = await must(
      user.post('/v1/webhook_endpoints', { url: 'http://127.0.0.1:1/', event_types: ['account.created'] }),
    );
    const mutation = `mutation ($input: RedeliverWebhooksInput!) {
      redeliverWebhooks(input: $input) { webhookEndpoint { id } }
    }`;
    const replies = [
      await user.post(`/v1/webhook_endpoints/${id}/redeliver`, { after_number: number }),
      await user.graph(mutation, { input: { id, afterNumber: number } }),
    ];
    for (const { status, codes, fieldNames } of replies)
      expect([status, codes[0], fieldNames[0]]).toEqual([400, 'parameter_invalid', 'webhook_endpoint.after_number']);
  });

  it.each(['9007199254740992', '90071992547409910', '1e3', '-1'])(
    'is refused as a position of a stream: %s',
    async (text) => {
      const user = await given.directUser(1);
      const stream = await user.get(`/v1/events/stream?after=${text}`);
      expect([stream.status, stream.fieldNames]).toEqual([400, ['event.after']]);
      const again = await user.get('/v1/events/stream', { 'last-event-id': text });
      expect([again.status, again.fieldNames]).toEqual([400, ['Last-Event-ID']]);
    },
  );

  it('is written as a JSON number by the query compiler', async () => {
    const written = async (number: bigint | null, nullable: boolean) => {
      const type = nullable ? SafeInt : new GraphQLNonNull(SafeInt);
      const expression = value(type, { column: 'x.number', nullable }, []);
      const [row] = await world.sql.unsafe(`select ${expression} as json from (values ($1::bigint)) x (number)`, [
        number === null ? null : String(number),
      ]);
      return row!.json;
    };
    for (const number of [0n, 2n ** 31n, 2n ** 53n - 1n, -1n]) {
      expect(await written(number, false)).toBe(String(number));
      expect(await written(number, true)).toBe(String(number));
    }
    expect(await written(null, true)).toBe('null');
  });
});
