import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import pino from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Database } from '../../src/db/database.js';
import { Secrets } from '../../src/config/secrets.js';
import { Worker } from '../../src/jobs/runner.js';
import { WebhookRequests } from '../../src/jobs/webhook-request.js';
import { recordChanges, seenChanges } from './changes.js';
import { eventually, givenIn, nickname, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);
beforeAll(() => recordChanges(world.sql));

auditLedger(world);

interface Received {
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}
type Answer = (received: Received, response: http.ServerResponse, n: number) => void;

const servers: (http.Server | net.Server)[] = [];
afterAll(() => Promise.all(servers.map((server) => new Promise((resume) => server.close(resume)))));

const ok: Answer = (_, response) => void response.end('thanks');

/** A receiver of webhooks on this machine: what it got, and its address. */
async function receiver(answer: Answer = ok) {
  const got: Received[] = [];
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      const received = { path: request.url!, headers: request.headers, body: Buffer.concat(parts).toString() };
      got.push(received);
      answer(received, response, got.length);
    });
  });
  server.keepAliveTimeout = 1;
  servers.push(server);
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
  const { port } = server.address() as net.AddressInfo;
  return { got, url: `http://127.0.0.1:${port}/hooks`, events: () => got.map(({ body }) => JSON.parse(body)) };
}

async function done(reply: Promise<Reply>): Promise<any> {
  const { status, body, fieldNames, codes } = await reply;
  expect([status, codes, fieldNames]).toEqual([200, [], []]);
  return body;
}

const create = (speaker: Speaker, body: object) =>
  speaker.post('/v1/webhook_endpoints', { event_types: ['*'], ...body });
const deliveries = async (speaker: Speaker, id: string): Promise<any[]> =>
  (await done(speaker.get(`/v1/webhook_endpoints/${id}/deliveries`))).data;
const endpoint = (speaker: Speaker, id: string) => done(speaker.get(`/v1/webhook_endpoints/${id}`));
const partner = (speaker: Speaker) => speaker.partner({ nickname: nickname() });

/** Makes the next attempts of an endpoint due now, as they would be after hours. */
async function later(id: string) {
  await world.sql`update webhook_delivery set next_attempt = 0 where endpoint_id = ${id} and status = 'pending'`;
  await world.sql`update webhook_endpoint set due = 0, claimed_until = null where id = ${id}`;
}

/** A user, after its own events were numbered: an endpoint gets the events that are numbered from its creation on. */
async function settled(edition: 1 | 2 = 1): Promise<Speaker> {
  const user = await given.directUser(edition);
  await eventually(
    async () => (await done(user.get('/v1/events?type=account.created'))).data,
    (list) => list.length > 0,
  );
  return user;
}

describe('a webhook endpoint', () => {
  it('has exactly these keys, and shows its secret only in the answer that makes it', async () => {
    const user = await given.directUser(1);
    const { url } = await receiver();
    const made = await done(
      create(user, { url, event_types: ['deposit.*', 'account.created'], description: 'orders' }),
    );
    expect(made).toEqual({
      id: expect.stringMatching(/^webhook_[0-9a-f]{32}$/),
      object: 'webhook_endpoint',
      created: expect.any(Number),
      livemode: false,
      account_id: user.id,
      url,
      event_types: ['deposit.*', 'account.created'],
      description: 'orders',
      scope: 'self',
      query: null,
      query_cost: null,
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    const { secret, ...shown } = made;
    expect(await endpoint(user, made.id)).toEqual(shown);
    expect(await done(user.get('/v1/webhook_endpoints'))).toEqual({ object: 'list', data: [shown], has_next: false });
    const { body } = await user.graph(
      `{ webhookEndpoint(id: "${made.id}") { id url eventTypes secret enabled account { id } } }`,
    );
    expect(body.data.webhookEndpoint).toEqual({
      ...{ id: made.id, url, eventTypes: ['deposit.*', 'account.created'], secret: null, enabled: true },
      account: { id: user.id },
    });
    // Neither a column, nor an event, nor a stored answer has the secret in the clear, or the encrypted one outside its
    // row.
    const [row] = await world.sql`select secret_sealed from webhook_endpoint where id = ${made.id}`;
    const stored = await world.sql`
      select 1 from event where data::text like ${`%${row!.secret_sealed.slice(0, 40)}%`}
      or data::text like ${`%${secret}%`}
      union all select 1 from idempotency where answer::text like ${`%${row!.secret_sealed.slice(0, 40)}%`}
      union all select 1 from webhook_endpoint where secret_sealed like ${`%${secret}%`}`;
    expect(stored).toEqual([]);
  });

  it('has a scope in both APIs, which an update changes', async () => {
    const platform = await given.platform(2);
    const input = '{ url: "https://example.com/hooks", eventTypes: ["*"], scope: DESCENDANTS }';
    const made = await platform.graph(
      `mutation { createWebhookEndpoint(input: ${input}) { webhookEndpoint { id scope } } }`,
    );
    const { id, scope } = made.body.data.createWebhookEndpoint.webhookEndpoint;
    expect([scope, (await endpoint(platform, id)).scope]).toEqual(['DESCENDANTS', 'descendants']);
    expect((await done(platform.post(`/v1/webhook_endpoints/${id}`, { description: 'all' }))).scope).toBe(
      'descendants',
    );
    expect((await done(platform.post(`/v1/webhook_endpoints/${id}`, { scope: 'self' }))).scope).toBe('self');
    const { body } = await platform.graph(`{ webhookEndpoint(id: "${id}") { scope } }`);
    expect(body.data.webhookEndpoint).toEqual({ scope: 'SELF' });
  });

  it('is answered unchanged, without an event, for an update that says nothing', async () => {
    const user = await settled();
    const { url } = await receiver();
    const { secret, ...made } = await done(create(user, { url, event_types: ['payout.failed'] }));
    const row = () => world.sql`
      select w.*, (select count(*) from event e where e.object_id = w.id)
      from webhook_endpoint w where id = ${made.id}`;
    const [before] = await row();

    expect(await done(user.post(`/v1/webhook_endpoints/${made.id}`, {}))).toEqual(made);
    const text = 'mutation ($id: ID!) { updateWebhookEndpoint(input: { id: $id }) { webhookEndpoint { id url } } }';
    const { body } = await user.graph(text, { id: made.id });
    expect(body.data).toEqual({ updateWebhookEndpoint: { webhookEndpoint: { id: made.id, url } } });

    expect(await row()).toEqual([before]);
  });

  it('is answered without its secret when the answer is a replay', async () => {
    const user = await given.directUser(1);
    const { url } = await receiver();
    const headers = { 'idempotency-key': nickname() };
    const body = { url, event_types: ['*'] };
    const first = await user.post('/v1/webhook_endpoints', body, headers);
    const second = await user.post('/v1/webhook_endpoints', body, headers);
    const { secret, ...rest } = first.body;
    expect(secret).toMatch(/^whsec_/);
    expect(second.body).toEqual(rest);
    expect((await done(user.get('/v1/webhook_endpoints'))).data).toHaveLength(1);
  });

  it.each<[string, string]>([
    ['http://example.com/hooks', 'must begin with https://'],
    ['ftp://example.com/', 'must be a complete web address'],
    ['example.com', 'must be a complete web address'],
    ['https://user:word@example.com/', 'must not contain a user name'],
    ['https://example.com/#part', 'must not contain a fragment'],
    ['https://intranet/', 'must have a complete host name'],
    ['https://10.0.0.1/', 'must be a public address'],
    ['https://169.254.169.254/latest/meta-data', 'must be a public address'],
    ['https://[fd00::1]/', 'must be a public address'],
    ['https://[::7f00:1]/', 'must be a public address'],
    ['https://[4000::1]/', 'must be a public address'],
    ['https://[::ffff:10.0.0.1]/', 'must be a public address'],
    ['https://0x0a000001/', 'must be a public address'],
    [`https://example.com/${'a'.repeat(2_100)}`, 'must have at most'],
  ])('is refused for %s', async (url, message) => {
    const user = await given.directUser(1);
    const { status, body, fieldNames, codes } = await create(user, { url });
    expect([status, codes, fieldNames]).toEqual([400, ['parameter_invalid'], ['webhook_endpoint.url']]);
    expect(body.errors[0].message).toContain(message);
    expect((await done(user.get('/v1/webhook_endpoints'))).data).toEqual([]);
  });

  it('is refused with everything that is wrong, before its account is looked for', async () => {
    const user = await given.directUser(1);
    const wrong = {
      url: 'shop',
      event_types: ['vanished.*'],
      description: 'a'.repeat(201),
      account_id: 'account_none',
    };
    const { status, fieldNames } = await user.post('/v1/webhook_endpoints', wrong);
    expect([status, fieldNames.toSorted()]).toEqual([
      400,
      ['description', 'event_types[0]', 'url'].map((name) => `webhook_endpoint.${name}`),
    ]);
  });

  it('is an address of this machine in test mode alone', async () => {
    const live = await given.directUser(1, { live: true });
    for (const url of ['http://127.0.0.1:4000/', 'https://localhost/', 'http://[::1]/', 'https://2130706433/']) {
      const { status, body, fieldNames } = await create(live, { url });
      expect([status, fieldNames]).toEqual([400, ['webhook_endpoint.url']]);
      expect(body.errors[0].message).toContain('must not be an address of this machine');
    }
    expect((await create(live, { url: 'https://example.com/hooks' })).status).toBe(200);
  });

  it.each<[object, string, string]>([
    [{ event_types: [] }, 'webhook_endpoint.event_types', 'parameter_invalid_empty'],
    [{ event_types: ['deposit.vanished'] }, 'webhook_endpoint.event_types[0]', 'parameter_invalid'],
    [{ event_types: ['*', 'vanished.*'] }, 'webhook_endpoint.event_types[1]', 'parameter_invalid'],
    [{ description: 'a'.repeat(201) }, 'webhook_endpoint.description', 'parameter_invalid'],
    [{ scope: 'descendants' }, 'webhook_endpoint.scope', 'parameter_invalid'],
    [{ scope: 'all' }, 'webhook_endpoint.scope', 'parameter_invalid'],
    [{ connected: true }, 'webhook_endpoint.connected', 'parameter_unknown'],
    [{ color: 'red' }, 'webhook_endpoint.color', 'parameter_unknown'],
    [{ account_id: 'account_none' }, 'webhook_endpoint.account_id', 'resource_missing'],
  ])('is refused with %j', async (more, field, code) => {
    const user = await given.directUser(1);
    const { codes, fieldNames } = await create(user, { url: 'https://example.com/hooks', ...more });
    expect([codes, fieldNames]).toEqual([[code], [field]]);
    expect((await done(user.get('/v1/webhook_endpoints'))).data).toEqual([]);
  });

  it('is one of at most 16 that are enabled, also when they are created at once', async () => {
    const user = await given.directUser(1);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => create(user, { url: `https://example.com/${n}` })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(16).fill(200), ...Array(4).fill(400)]);
    const [first] = replies.filter(({ status }) => status === 200);
    await done(user.post(`/v1/webhook_endpoints/${first!.body.id}`, { enabled: false }));
    const added = await done(create(user, { url: 'https://example.com/more' }));
    const { status, fieldNames } = await user.post(`/v1/webhook_endpoints/${first!.body.id}`, { enabled: true });
    expect([status, fieldNames]).toEqual([400, ['webhook_endpoint.url']]);
    expect(added.enabled).toBe(true);
  });

  it('is managed by its account and its platform, and seen by no other', async () => {
    const platform = await given.platform(1);
    const [one, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const stranger = await given.directUser(1);
    const { id } = await done(create(platform, { url: 'https://example.com/', account_id: one.id }));
    const { id: own } = await done(create(platform, { url: 'https://example.com/own' }));
    for (const path of ['', '/rotate_secret', '/test']) {
      // An update without a change moves the time all the same, which the last test of this file takes for a fault.
      for (const [speaker, description] of [[one, 'by the user'] as const, [platform, 'by the platform'] as const])
        expect(
          (await speaker.post(`/v1/webhook_endpoints/${id}${path}`, path === '' ? { description } : undefined)).status,
        ).toBe(200);
      for (const speaker of [other, stranger])
        expect((await speaker.post(`/v1/webhook_endpoints/${id}${path}`)).status).toBe(404);
      expect((await one.post(`/v1/webhook_endpoints/${own}${path}`)).status).toBe(404);
    }
    expect((await other.get(`/v1/webhook_endpoints/${id}/deliveries`)).body.data).toEqual([]);
    expect((await deliveries(platform, id)).length).toBeGreaterThan(0);
    const buyer = await platform.partner();
    const { codes } = await create(platform, { url: 'https://example.com/', account_id: buyer.id });
    expect(codes).toEqual(['account_type_invalid']);
  });
});

describe('an event for a webhook endpoint', () => {
  it('is sent as /v1 shows it, signed, once, and in the order of the numbers', async () => {
    const user = await settled();
    const hook = await receiver();
    const { id, secret } = await done(create(user, { url: hook.url, event_types: ['account.created'] }));
    const made = await Promise.all(Array.from({ length: 120 }, () => partner(user)));
    await eventually(
      async () => hook.got.length,
      (count) => count === 120,
    );

    const events = hook.events();
    expect(new Set(events.map((event) => event.data.object.id))).toEqual(new Set(made.map((object) => object.id)));
    expect(events.map(({ number }) => number)).toEqual(events.map(({ number }) => number).toSorted((a, b) => a - b));
    const [first] = hook.got;
    expect(await done(user.get(`/v1/events/${events[0].id}`))).toEqual(events[0]);
    expect(first!.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': events[0].id });
    expect(events[0]).toMatchObject({ account_id: user.id, livemode: false, type: 'account.created' });
    for (const { headers, body } of hook.got)
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(`${first!.body} `, first!.headers as Record<string, string>)).toThrow(
      /signature/,
    );
    const sent = await eventually(
      () => deliveries(user, id),
      (list) => list.length > 0 && list.every(({ status }) => status === 'succeeded'),
    );
    expect(sent[0]).toEqual({
      id: expect.stringMatching(/^delivery_/),
      object: 'webhook_delivery',
      created: expect.any(Number),
      livemode: false,
      endpoint_id: id,
      event_id: expect.stringMatching(/^event_/),
      event_type: 'account.created',
      status: 'succeeded',
      next_attempt: null,
      attempts: [
        { at: expect.any(Number), milliseconds: expect.any(Number), status: 200, error: null, response: 'thanks' },
      ],
    });
    expect(await done(user.get(`/v1/webhook_deliveries/${sent[0].id}`))).toEqual(sent[0]);
    const [{ at, milliseconds }] = sent[0].attempts;
    const shown = await user.graph(
      'query ($id: ID!) { webhookDelivery(id: $id) { nextAttemptAt attempts { startedAt durationMilliseconds } } }',
      { id: sent[0].id },
    );
    expect(shown.body.data.webhookDelivery).toEqual({
      nextAttemptAt: null,
      attempts: [
        { startedAt: new Date(at * 1000).toISOString().replace('.000Z', 'Z'), durationMilliseconds: milliseconds },
      ],
    });
  });

  it('is sent by its type, and while the endpoint is enabled', async () => {
    const user = await settled();
    const hook = await receiver();
    const of = (path: string, event_types: string[]) => done(create(user, { url: `${hook.url}/${path}`, event_types }));
    await of('all', ['*']);
    await of('receivables', ['receivable.*']);
    const { id } = await of('accounts', ['account.created']);
    await partner(user);
    await eventually(
      async () => hook.got.filter(({ path }) => path.endsWith('/accounts')).length,
      (n) => n === 1,
    );
    await done(user.post(`/v1/webhook_endpoints/${id}`, { enabled: false }));
    await partner(user);
    await eventually(
      async () =>
        hook.events().filter((event, i) => hook.got[i]!.path.endsWith('/all') && event.type === 'account.created'),
      (list) => list.length === 2,
    );
    expect(hook.got.filter(({ path }) => path.endsWith('/accounts'))).toHaveLength(1);
    expect(hook.got.filter(({ path }) => path.endsWith('/receivables'))).toHaveLength(0);
    expect(await endpoint(user, id)).toMatchObject({ enabled: false, disabled_reason: 'by_request' });
    const enabled = await done(user.post(`/v1/webhook_endpoints/${id}`, { enabled: true }));
    expect(enabled).toMatchObject({ enabled: true, disabled_reason: null });
  });

  it('reaches the platform of a connected user by choice, and no other user', async () => {
    const platform = await given.platform(1);
    const [one, other] = [await platform.connectedUser(), await platform.connectedUser()];
    await eventually(
      async () => await Promise.all([one, other].map((user) => done(user.get('/v1/events?type=account.created')))),
      (lists) => lists.every(({ data }) => data.length === 1),
    );
    const hook = await receiver();
    const at = (path: string) => `${hook.url}/${path}`;
    await done(create(platform, { url: at('own'), event_types: ['account.created'] }));
    await done(create(platform, { url: at('connected'), event_types: ['account.created'], scope: 'descendants' }));
    await done(create(one, { url: at('one'), event_types: ['account.created'] }));
    await done(create(other, { url: at('other'), event_types: ['account.created'] }));
    await partner(one);
    const paths = () => hook.got.map(({ path }) => path.split('/').at(-1)).toSorted();
    await eventually(
      async () => paths(),
      (list) => list.length === 2,
    );
    expect(paths()).toEqual(['connected', 'one']);
    expect(new Set(hook.events().map(({ account_id }) => account_id))).toEqual(new Set([one.id]));
    await partner(platform);
    await eventually(
      async () => paths(),
      (list) => list.length === 4,
    );
    expect(paths()).toEqual(['connected', 'connected', 'one', 'own']);
  });

  it('is signed with both secrets for 24 hours after a rotation', async () => {
    const user = await settled();
    const hook = await receiver();
    const { id, secret: before } = await done(create(user, { url: hook.url }));
    const { secret: after } = await done(user.post(`/v1/webhook_endpoints/${id}/rotate_secret`));
    expect(after).not.toBe(before);
    await done(user.post(`/v1/webhook_endpoints/${id}/test`));
    const tested = () => hook.got.filter(({ body }) => JSON.parse(body).type === 'webhook_endpoint.tested');
    await eventually(
      async () => tested().length,
      (n) => n === 1,
    );
    const [{ headers, body }] = tested() as [Received];
    for (const secret of [before, after]) new Webhook(secret).verify(body, headers as Record<string, string>);
    await world.sql`update webhook_endpoint set previous_secret_until = previous_secret_until - 86401 where id = ${id}`;
    await done(user.post(`/v1/webhook_endpoints/${id}/test`));
    await eventually(
      async () => tested().length,
      (n) => n === 2,
    );
    const [, last] = tested() as [Received, Received];
    new Webhook(after).verify(last.body, last.headers as Record<string, string>);
    expect(() => new Webhook(before).verify(last.body, last.headers as Record<string, string>)).toThrow(/signature/);
  });

  it('is tried again while its secret cannot be decrypted, so that a rotation loses nothing', async () => {
    const user = await settled();
    const hook = await receiver();
    const { id } = await done(create(user, { url: hook.url, event_types: ['account.created'] }));
    await world.sql`update webhook_endpoint set secret_sealed = 'v1.00000000.AAAA' where id = ${id}`;
    await partner(user);
    const [waits] = await eventually(
      () => deliveries(user, id),
      ([one]) => one?.attempts.length > 0,
    );
    expect(waits).toMatchObject({
      status: 'pending',
      attempts: [{ status: null, error: 'the secret cannot be decrypted; rotate it' }],
    });
    expect(hook.got).toEqual([]);
    const { secret } = await done(user.post(`/v1/webhook_endpoints/${id}/rotate_secret`));
    await later(id);
    await eventually(
      () => deliveries(user, id),
      ([one]) => one.status === 'succeeded',
    );
    const [{ headers, body }] = hook.got as [Received];
    new Webhook(secret).verify(body, headers as Record<string, string>);
  });

  it('is tried again after a failure, with pauses that grow, for three days', async () => {
    const user = await settled();
    const hook = await receiver((_, response) => void response.writeHead(500).end('no'));
    const { id } = await done(create(user, { url: hook.url, event_types: ['account.created'] }));
    await partner(user);
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      const [delivery] = await eventually(
        () => deliveries(user, id),
        ([one]) => one?.attempts.length === attempt,
      );
      expect(delivery.status).toBe('pending');
      pauses.push(delivery.next_attempt - delivery.attempts[0].at);
      await later(id);
    }
    for (const [i, expected] of [5, 300, 1_800, 7_200].entries()) {
      expect(pauses[i]).toBeGreaterThanOrEqual(expected);
      expect(pauses[i]).toBeLessThanOrEqual(expected * 1.1 + 3);
    }
    await eventually(
      () => deliveries(user, id),
      ([one]) => one.attempts.length === 5,
    );
    expect(await endpoint(user, id)).toMatchObject({ enabled: true, failing_since: expect.any(Number) });
    await world.sql`update webhook_delivery set queued = queued - 3 * 86400 where endpoint_id = ${id}`;
    await later(id);
    const [ended] = await eventually(
      () => deliveries(user, id),
      ([one]) => one.status === 'failed',
    );
    expect(ended).toMatchObject({ next_attempt: null, attempts: { length: 6 } });
    expect(ended.attempts[0]).toMatchObject({ status: 500, error: 'the response has status 500', response: 'no' });
  });

  it('waits as long as Retry-After asks', async () => {
    const user = await settled();
    const hook = await receiver((_, response, n) =>
      n === 1 ? void response.writeHead(503, { 'retry-after': '1000' }).end() : void response.end(),
    );
    const { id } = await done(create(user, { url: hook.url, event_types: ['account.created'] }));
    await partner(user);
    const [delivery] = await eventually(
      () => deliveries(user, id),
      ([one]) => one?.attempts.length === 1,
    );
    expect(delivery.next_attempt - delivery.attempts[0].at).toBeGreaterThanOrEqual(1_000);
    await partner(user);
    await eventually(
      () => deliveries(user, id),
      (list) => list.length === 2,
    );
    expect(hook.got).toHaveLength(1);
    await later(id);
    await eventually(
      () => deliveries(user, id),
      (list) => list.every(({ status }) => status === 'succeeded'),
    );
    expect(hook.got).toHaveLength(3);
  });

  it.each<[string, Answer, () => Promise<void>]>([
    ['gone', (_, response) => void response.writeHead(410).end(), async () => {}],
    [
      'failing',
      (_, response) => void response.writeHead(500).end(),
      async () => {
        await world.sql`update webhook_endpoint set failing_since = failing_since - 6 * 86400, updated_at = wall_clock()
          where failing_since is not null`;
      },
    ],
  ])('disables an endpoint that is %s, with an event', async (reason, answer, between) => {
    const user = await settled();
    const hook = await receiver(answer);
    const { id } = await done(create(user, { url: hook.url, event_types: ['account.created'] }));
    await partner(user);
    await eventually(
      () => deliveries(user, id),
      ([one]) => one?.attempts.length === 1,
    );
    await between();
    if (reason === 'failing') await later(id);
    const disabled = await eventually(
      () => endpoint(user, id),
      ({ enabled }) => !enabled,
    );
    expect(disabled.disabled_reason).toBe(reason);
    const events = await eventually(
      async () => (await done(user.get(`/v1/events?type=webhook_endpoint.disabled`))).data,
      (list) => list.length === 1,
    );
    expect(events[0].data.object).toEqual(disabled);
  });

  it('is sent again on request: one delivery, or all since a number that have not arrived', async () => {
    const user = await settled();
    let fails = true;
    const hook = await receiver((_, response) => void response.writeHead(fails ? 500 : 204).end());
    const { id } = await done(create(user, { url: hook.url, event_types: ['account.created'] }));
    for (let n = 0; n < 3; n++) await partner(user);
    const list = await eventually(
      () => deliveries(user, id),
      (all) => all.length === 3 && all.every(({ attempts }) => attempts.length > 0),
    );
    // No attempt is due by itself for the rest of the test.
    await world.sql`update webhook_delivery set next_attempt = next_attempt + 9999 where endpoint_id = ${id}`;
    const counts = async () => (await deliveries(user, id)).map(({ attempts }) => attempts.length);
    const before = await counts();
    fails = false;
    const redeliver = (body: object) => user.post(`/v1/webhook_endpoints/${id}/redeliver`, body);
    await done(redeliver({ delivery_id: list[2].id }));
    await eventually(
      () => deliveries(user, id),
      (all) => all[2].status === 'succeeded',
    );
    expect((await deliveries(user, id)).map(({ status }) => status)).toEqual(['pending', 'pending', 'succeeded']);
    await done(redeliver({ delivery_id: list[2].id }));
    await eventually(counts, (all) => all[2] === before[2]! + 2);

    // Events from before the endpoint existed are events since a number, too.
    const second = await done(create(user, { url: `${hook.url}/second`, event_types: ['account.created'] }));
    await done(user.post(`/v1/webhook_endpoints/${second.id}/redeliver`, { after_number: 0 }));
    await done(redeliver({ after_number: 0 }));
    await eventually(
      () => deliveries(user, id),
      (all) => all.every(({ status }) => status === 'succeeded'),
    );
    const again = await eventually(
      () => deliveries(user, second.id),
      (all) => all.length === 4,
    );
    expect(again.slice(0, 3).map(({ event_id }) => event_id)).toEqual(list.map(({ event_id }) => event_id));
    expect(await counts()).toEqual([1, before[0]! + 1, before[1]! + 1, before[2]! + 2]);

    for (const [body, code] of [
      [{}, 'parameter_missing'],
      [{ delivery_id: list[0].id, after_number: 1 }, 'parameter_invalid'],
      [{ after_number: -1 }, 'parameter_invalid'],
      [{ delivery_id: again[0].id }, 'resource_missing'],
    ] as const)
      expect((await redeliver(body)).codes).toEqual([code]);
  });

  it('is sent by one process at a time, and each to each endpoint once, with two workers', async () => {
    const user = await settled();
    const { database } = world.sql.options;
    const store = new Database({ ...inject('admin'), username: 'tidegate', database });
    const parts = {
      secrets: Secrets.of(world.pepper),
      requests: new WebhookRequests({ local: true }),
      queries: world.app.eventQueries,
    };
    const worker = new Worker(store, pino({ level: 'silent' }), undefined, undefined, parts);
    worker.start();
    try {
      let [running, most] = [0, 0];
      const hook = await receiver((_, response) => {
        most = Math.max(most, ++running);
        setTimeout(() => {
          running--;
          response.end();
        }, 2);
      });
      await done(create(user, { url: hook.url, event_types: ['account.created'] }));
      for (let n = 0; n < 10; n++) await Promise.all(Array.from({ length: 20 }, () => partner(user)));
      await eventually(
        async () => hook.got.length,
        (count) => count >= 200,
      );
      const numbers = hook.events().map((event) => event.number);
      expect(new Set(numbers).size).toBe(200);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(most).toBe(1);
    } finally {
      await worker.stop();
      await store.close();
    }
  });

  it('does not wait for another endpoint that is slow', async () => {
    const user = await settled();
    const silent = await receiver(() => {});
    const hook = await receiver();
    await done(create(user, { url: silent.url, event_types: ['account.created'] }));
    await done(create(user, { url: hook.url, event_types: ['account.created'] }));
    await partner(user);
    await partner(user);
    await eventually(
      async () => hook.got.length,
      (count) => count === 2,
    );
    await eventually(
      async () => silent.got.length,
      (count) => count > 0,
    );
    expect(silent.got).toHaveLength(1);
  });
});

describe('deliveries at the same time', () => {
  it('are at most one for an endpoint and eight for a tenant, and another tenant waits for none of them', async () => {
    const [user, other] = [await settled(), await settled()];
    const open = new Map<string, number>();
    let most = 0;
    const silent = await receiver(({ path }, response) => {
      open.set(path, (open.get(path) ?? 0) + 1);
      most = Math.max(most, open.get(path)!);
      response.on('close', () => open.set(path, open.get(path)! - 1));
    });
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) {
      const url = `${silent.url}/${n}`;
      ids.push((await done(create(user, { url, event_types: ['account.created'] }))).id);
    }
    await partner(user);
    await partner(user);
    await eventually(
      async () => open.size,
      (n) => n === 8,
    );
    const hook = await receiver();
    await done(create(other, { url: hook.url, event_types: ['account.created'] }));
    await partner(other);
    await eventually(
      async () => hook.got.length,
      (n) => n === 1,
    );
    expect([open.size, most]).toEqual([8, 1]);
    for (const id of ids) await done(user.post(`/v1/webhook_endpoints/${id}`, { enabled: false }));
  });
});

describe('a query of a webhook endpoint', () => {
  const query = `query Arrived($eventId: ID!) {
    event(id: $eventId) { number eventType accountId subject { id ... on Account { nickname status } } }
  }`;

  it('makes the body of each delivery, with what its account sees, on both APIs', async () => {
    const user = await settled();
    const hook = await receiver();
    const made = await done(create(user, { url: hook.url, event_types: ['account.created'], query }));
    expect(made).toMatchObject({ query, query_cost: expect.any(Number) });
    const object = await partner(user);
    await eventually(
      async () => hook.got.length,
      (n) => n === 1,
    );
    const [{ headers, body }] = hook.got as [Received];
    const event = (await done(user.get(`/v1/events/${headers['webhook-id']}`))) as any;
    expect(new Webhook(made.secret).verify(body, headers as Record<string, string>)).toEqual({
      data: {
        event: {
          ...{ number: event.number, eventType: 'ACCOUNT_CREATED', accountId: user.id },
          subject: { id: object.id, nickname: object.nickname, status: 'DRAFT' },
        },
      },
    });
    const update = (query: string | null) =>
      user.graph(
        `mutation ($input: UpdateWebhookEndpointInput!) {
          updateWebhookEndpoint(input: $input) { webhookEndpoint { query queryCost url } }
        }`,
        { input: { id: made.id, query } },
      );
    const other = 'query ($objectId: ID!) { node(id: $objectId) { __typename } }';
    const changed = (await update(other)).body.data.updateWebhookEndpoint.webhookEndpoint;
    expect(changed).toEqual({ query: other, queryCost: expect.any(Number), url: hook.url });
    await partner(user);
    await eventually(
      async () => hook.got.length,
      (n) => n === 2,
    );
    expect(JSON.parse(hook.got[1]!.body)).toEqual({ data: { node: { __typename: 'Account' } } });
    // Other changes keep the query, and null removes it.
    expect(await done(user.post(`/v1/webhook_endpoints/${made.id}`, { description: 'x' }))).toMatchObject({
      query: other,
    });
    expect((await update(null)).body.data.updateWebhookEndpoint.webhookEndpoint).toMatchObject({
      ...{ query: null, queryCost: null },
    });
    await partner(user);
    await eventually(
      async () => hook.got.length,
      (n) => n === 3,
    );
    expect(JSON.parse(hook.got[2]!.body)).toMatchObject({ object: 'event', type: 'account.created' });
  });

  it('reads at each attempt, and a test event once it has its number', async () => {
    const user = await settled();
    let fails = false;
    const hook = await receiver((_, response) => void response.writeHead(fails ? 500 : 204).end());
    const { id } = await done(
      create(user, {
        url: hook.url,
        event_types: ['receivable.created'],
        query:
          'query ($eventId: ID!) { event(id: $eventId) { number object subject { ' +
          '... on WebhookEndpoint { description } } } }',
      }),
    );
    await done(user.post(`/v1/webhook_endpoints/${id}/test`));
    const [tested] = await eventually(
      async () => hook.events(),
      (list) => list.length === 1,
    );
    expect(tested.data.event).toMatchObject({ number: expect.any(Number), object: { id } });
    fails = true;
    await done(user.post(`/v1/webhook_endpoints/${id}`, { event_types: ['webhook_endpoint.created'] }));
    const other = await done(create(user, { url: 'https://example.com/', description: 'then' }));
    const seen = () =>
      hook
        .events()
        .filter(({ data }) => data.event.object.id === other.id)
        .map(({ data }) => [data.event.object.description, data.event.subject.description]);
    await eventually(
      async () => seen().length,
      (n) => n === 1,
    );
    await done(user.post(`/v1/webhook_endpoints/${other.id}`, { description: 'now' }));
    await later(id);
    await eventually(
      async () => seen().length,
      (n) => n === 2,
    );
    expect(seen()).toEqual([
      ['then', 'then'],
      ['then', 'now'],
    ]);
  });

  it('reads what its account sees, in its edition, and not what the platform that made it does', async () => {
    const platform = await given.platform(2);
    const [one, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const hidden = await partner(other);
    const hook = await receiver();
    const query = `query ($objectId: ID!) {
      own: node(id: $objectId) { id }
      accounts { nodes { id } }
      viewer { edition onBehalf }
      other: node(id: "${hidden.id}") { id }
    }`;
    await done(create(platform, { url: hook.url, event_types: ['account.created'], account_id: one.id, query }));
    const made = await partner(one);
    await eventually(
      async () => hook.events().filter(({ data }) => data?.own?.id === made.id).length,
      (n) => n === 1,
    );
    const sent = hook.events().find(({ data }) => data.own.id === made.id);
    expect(sent.data).toMatchObject({ other: null, viewer: { edition: 2, onBehalf: false } });
    expect(sent.data.accounts.nodes.map(({ id }: any) => id)).not.toContain(hidden.id);
    expect(sent.data.accounts.nodes.map(({ id }: any) => id)).toContain(made.id);
  });

  it('that fails sends its errors, so that no event is lost', async () => {
    const user = await settled();
    const hook = await receiver();
    const query = 'query ($eventId: ID!) { event(id: $eventId) { type } account(id: "account_none") { id } }';
    await done(create(user, { url: hook.url, event_types: ['account.created'], query }));
    await partner(user);
    await eventually(
      async () => hook.got.length,
      (n) => n === 1,
    );
    expect(JSON.parse(hook.got[0]!.body)).toMatchObject({
      data: { event: { type: 'account.created' }, account: null },
      errors: [{ path: ['account'], extensions: { code: 'RESOURCE_MISSING', httpStatus: 404 } }],
    });
  });

  it.each<[string, string]>([
    ['{ events { nodes { id } ', 'Syntax Error: Expected Name, found <EOF> (line 1, column 25).'],
    ['{ viewer { color } }', 'Cannot query field "color" on type "Viewer"'],
    ['query ($eventId: ID!) {\n  event(id: $eventId) { colour }\n}', '(line 2, column 25)'],
    ['mutation { updateAccount(input: {id: "x"}) { account { id } } }', 'must be a query, and not a mutation'],
    ['query A { viewer { mode } } query B { viewer { mode } }', 'must have exactly one operation'],
    ['query ($id: ID!) { node(id: $id) { id } }', 'The variable $id has no value. There are $eventId: ID!'],
    ['query ($eventId: Int!) { deposits(first: $eventId) { nodes { id } } }', '$eventId'],
    ['{ __schema { types { name } } }', 'introspection'],
    ['{ accounts(first: 100) { nodes { depositsIn(first: 100) { nodes { id } } } } }', 'The operation could touch'],
    [
      '{ accounts(first: 100) { totalCount nodes { id } } deposits(first: 100) { totalCount nodes { id } } ' +
        'receivables(first: 100) { totalCount nodes { id } } }',
      'points for each delivery, and the limit is 500',
    ],
    [
      '{ connectedAccountSettings { nodes { id } } }',
      'The account cannot read `connectedAccountSettings`: Only a platform',
    ],
    [
      '{ viewer { mode } checkout(id: "checkout_1") { id } }',
      '`checkout` is part of Edition 2 only (line 1, column 19)',
    ],
    ['x'.repeat(5_001), 'must have at most 5000 characters'],
  ])('is refused when it is stored: %s', async (refused, message) => {
    const user = await given.directUser(1);
    for (const reply of [
      await create(user, { url: 'https://example.com/', query: refused }),
      await user.post(`/v1/webhook_endpoints/${(await done(create(user, { url: 'https://example.com/' }))).id}`, {
        query: refused,
      }),
    ]) {
      expect([reply.status, new Set(reply.fieldNames)]).toEqual([400, new Set(['webhook_endpoint.query'])]);
      expect(reply.body.errors[0].message).toContain(message);
    }
    expect((await done(user.get('/v1/webhook_endpoints'))).data).toMatchObject([{ query: null, query_cost: null }]);
  });
});

describe('the receivers of docs/webhooks.md', () => {
  const blocks = (language: string) =>
    [
      ...fs
        .readFileSync('docs/webhooks.md', 'utf8')
        .matchAll(new RegExp(`^\\\`{3}${language}\\n([\\s\\S]*?)^\\\`{3}`, 'gm')),
    ].map(([, code]) => code!);

  it('accept what the gateway sends, and nothing else', async () => {
    const user = await settled();
    const { url, got } = await receiver();
    const { secret } = await done(create(user, { url, event_types: ['account.created'] }));
    await partner(user);
    await eventually(
      async () => got.length,
      (n) => n === 1,
    );
    const [{ headers, body }] = got as [Received];
    const file = path.join(process.cwd(), 'test', `.receiver-${process.pid}.mjs`);
    const [code] = blocks('js');
    fs.writeFileSync(
      file,
      code!.replace(
        '.listen(process.env.PORT)',
        ".listen(0, '127.0.0.1', function () { console.log(this.address().port); })",
      ),
    );
    const child = spawn(process.execPath, [file], { env: { ...process.env, WEBHOOK_SECRET: secret } });
    try {
      const lines: string[] = [];
      child.stdout.on('data', (data: Buffer) => void lines.push(...data.toString().trim().split('\n')));
      await eventually(
        async () => lines.length,
        (n) => n > 0,
      );
      const signed = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('webhook-')));
      const send = (content: string) =>
        fetch(`http://127.0.0.1:${lines[0]}/`, {
          method: 'POST',
          body: content,
          headers: signed as Record<string, string>,
        });
      expect((await send(body)).status).toBe(204);
      expect((await send(body)).status).toBe(204);
      expect((await send(`${body} `)).status).toBe(400);
      const event = JSON.parse(body);
      expect(lines.slice(1)).toEqual([`${event.number} ${event.type} ${event.data.object.id}`]);
    } finally {
      child.kill();
      fs.rmSync(file);
    }
    const shell = spawnSync('bash', ['-c', blocks('sh')[1]!], {
      encoding: 'utf8',
      env: {
        ...process.env,
        WEBHOOK_SECRET: secret,
        WEBHOOK_ID: headers['webhook-id'] as string,
        WEBHOOK_TIMESTAMP: headers['webhook-timestamp'] as string,
        BODY: body,
      },
    });
    expect(`v1,${shell.stdout.trim()}`).toBe(headers['webhook-signature']);
  });
});

describe('an attempt', () => {
  const message = (url: string) => ({
    ...{ id: 'event_1', body: '{}', url, at: 1_790_000_000 },
    secrets: [`whsec_${Buffer.alloc(24).toString('base64')}`],
  });
  const attempt = async (
    url: string,
    options: { local?: boolean; milliseconds?: number; lookup?: net.LookupFunction } = {},
  ) => {
    const requests = new WebhookRequests({ local: true, ...options });
    const { attempt: made } = await requests.send(message(url));
    requests.close();
    return made;
  };
  /** A server that writes something to each connection. */
  async function raw(write: (socket: net.Socket) => void): Promise<string> {
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => write(socket));
    });
    servers.push(server);
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
    return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`;
  }

  it.each([
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://[::1]:1/',
    'http://0.0.0.0:1/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.0.1/',
    'http://169.254.169.254/',
    'http://100.64.0.1/',
    'http://[fe80::1]/',
    'http://[fc00::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://224.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://0x7f.1/',
    'http://255.255.255.255/',
    'http://240.0.0.1/',
    'http://198.18.0.1/',
    'http://[::]:1/',
    'http://[::ffff:7f00:1]:1/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[ff02::1]/',
    'http://LOCALHOST:1/',
  ])('connects to no address that is not public: %s', async (url) => {
    expect(await attempt(url, { local: false })).toMatchObject({
      status: null,
      error: 'the host has an address that is not public',
    });
  });

  // DNS rebinding: the name had a public address when the endpoint was created, and has another one at the connection.
  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:10.0.0.1'])(
    'checks the address that a name has at the connection: %s',
    async (address) => {
      const lookups: string[] = [];
      const lookup: net.LookupFunction = (name, { all }, found) => {
        lookups.push(name);
        const family = net.isIP(address);
        if (all) found(null, [{ address, family }]);
        else found(null, address, family);
      };
      for (const url of ['http://hooks.example.com/', 'https://hooks.example.com/'])
        expect(await attempt(url, { local: false, lookup })).toMatchObject({
          status: null,
          error: 'the host has an address that is not public',
        });
      expect(lookups).toEqual(['hooks.example.com', 'hooks.example.com']);
    },
  );

  it('on a local gateway connects to this machine alone', async () => {
    const { url } = await receiver();
    expect(await attempt(url)).toMatchObject({ status: 200, error: null });
    expect(await attempt('http://10.1.2.3/')).toMatchObject({ error: 'the host has an address that is not public' });
  });

  it('follows no redirect', async () => {
    const target = await receiver();
    const hook = await receiver((_, response) => void response.writeHead(307, { location: target.url }).end());
    expect(await attempt(hook.url)).toMatchObject({ status: 307, error: 'the response has status 307' });
    expect(target.got).toEqual([]);
  });

  it('ends after its time, whether the response does not begin or does not end', async () => {
    const [silent, endless] = [
      await receiver(() => {}),
      await receiver((_, response) => void response.write('beginning')),
    ];
    for (const { url } of [silent, endless])
      expect(await attempt(url, { milliseconds: 300 })).toMatchObject({ error: 'no complete response in time' });
  });

  it('reads the beginning of a response alone, however long it is', async () => {
    let written = 0;
    const hook = await receiver((_, response) => {
      const more = () => {
        if (written > 30_000_000 || response.destroyed) return;
        written += 65_536;
        response.write('x'.repeat(65_536), more);
      };
      more();
    });
    const made = await attempt(hook.url);
    expect(made).toMatchObject({ status: 200, error: null, response: 'x'.repeat(1_024) });
    expect(written).toBeLessThan(10_000_000);
  });

  it.each<[string, (socket: net.Socket) => void, string]>([
    ['is no HTTP', (socket) => void socket.end('hello\r\n\r\n'), 'the response is not HTTP'],
    ['does not come', (socket) => void socket.destroy(), 'the connection was closed'],
    [
      'has endless headers',
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
      'the response is not HTTP',
    ],
    [
      'changes the protocol',
      (socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      'the response changes the protocol',
    ],
  ])('says that the response %s', async (_, write, error) => {
    expect(await attempt(await raw(write))).toMatchObject({ status: null, error });
  });

  it('keeps no half of a character of a response', async () => {
    const hook = await receiver((_, response) => void response.end(`${'x'.repeat(1_023)}\u{1f600}\u{1f600}`));
    expect(await attempt(hook.url)).toMatchObject({ status: 200, response: `${'x'.repeat(1_023)}\u{1f600}` });
  });

  it('that meets a kept connection which the receiver closes is made by another one', async () => {
    let connections = 0;
    const url = await raw((socket) => {
      connections++;
      socket.once('data', () => socket.destroy()).write('HTTP/1.1 204 No Content\r\n\r\n');
    });
    const requests = new WebhookRequests({ local: true });
    for (let n = 0; n < 3; n++)
      expect(await requests.send(message(url))).toMatchObject({ attempt: { status: 204, error: null } });
    requests.close();
    expect(connections).toBe(3);
  });

  it('sends nothing again when a response is cut off on a kept connection', async () => {
    let received = 0;
    const url = await raw((socket) => {
      received++;
      socket.on('data', () => {
        received++;
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart');
        setTimeout(() => socket.resetAndDestroy(), 50);
      });
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const requests = new WebhookRequests({ local: true });
    expect(await requests.send(message(url))).toMatchObject({ attempt: { status: 200 } });
    expect(await requests.send(message(url))).toMatchObject({ attempt: { error: 'the connection was closed' } });
    await new Promise((resume) => setTimeout(resume, 300));
    requests.close();
    expect(received).toBe(2);
  });

  it('ends after a few answers that only announce another one', async () => {
    const announcing = (most: number) =>
      raw((socket) => {
        let sent = 0;
        const write = () => {
          while (sent < most) {
            sent++;
            if (!socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')) return void socket.once('drain', write);
          }
          socket.end('HTTP/1.1 204 No Content\r\n\r\n');
        };
        write();
      });
    expect(await attempt(await announcing(8))).toMatchObject({ status: 204, error: null });
    for (const most of [9, Number.POSITIVE_INFINITY])
      expect(await attempt(await announcing(most))).toMatchObject({
        status: null,
        error: 'the response does not come after 8 announcements (1xx)',
      });
  });

  it('says that nothing listens, and that a host has no address', async () => {
    expect(await attempt('http://127.0.0.1:1/')).toMatchObject({ error: 'the connection was refused' });
    expect(await attempt('http://hooks.invalid/')).toMatchObject({ error: 'the host name has no address' });
  });

  it('sends no more than 256 KiB', async () => {
    const hook = await receiver();
    const requests = new WebhookRequests({ local: true });
    const { attempt: made } = await requests.send({ ...message(hook.url), body: 'x'.repeat(262_145) });
    requests.close();
    expect(made.error).toContain('larger than 262144 bytes');
    expect(hook.got).toEqual([]);
  });
});

describe('the time of the last change', () => {
  it('moves with each attempt of a delivery, and where an endpoint fails or works again', async () => {
    const { tables, faults } = await seenChanges(world.sql);
    expect(faults).toEqual([]);
    expect(tables).toEqual(expect.arrayContaining(['webhook_delivery', 'webhook_endpoint']));
  });
});
