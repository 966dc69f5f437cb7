import net from 'node:net';
import pino from 'pino';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Database } from '../../src/db/database.js';
import { Secrets } from '../../src/config/secrets.js';
import { Worker } from '../../src/jobs/runner.js';
import { WebhookRequests } from '../../src/jobs/webhook-request.js';
import { recordChanges } from './changes.js';
import { eventually, givenIn, must, type Speaker, useWorld } from '../support/world.js';
import { type Answer, create, deliveries, endpoint, partner, type Received, webhooksIn } from './webhook-fixture.js';

const world = useWorld();
const given = givenIn(world);
const { servers, receiver, later, settled } = webhooksIn(world);

beforeAll(() => recordChanges(world.sql));

auditLedger(world);

/** What needs the attention of a user. */
const waitingFor = async (user: Speaker) =>
  (await must(user.graph('{ viewer { account { attention { items { kind object { id } } } } } }'))).data.viewer.account
    .attention.items;

describe('an event for a webhook endpoint', () => {
  it('is sent as /v1 shows it, signed, once, and in the order of the numbers', async () => {
    const user = await settled();
    const hook = await receiver();
    const { id, secret } = await must(create(user, { url: hook.url, event_types: ['account.created'] }));
    const made = await Promise.all(Array.from({ length: 120 }, () => partner(user)));
    await eventually(
      async () => hook.got.length,
      (count) => count === 120,
    );

    const events = hook.events();
    expect(new Set(events.map((event) => event.data.object.id))).toEqual(new Set(made.map((object) => object.id)));
    expect(events.map(({ number }) => number)).toEqual(events.map(({ number }) => number).toSorted((a, b) => a - b));
    const [first] = hook.got;
    expect(await must(user.get(`/v1/events/${events[0].id}`))).toEqual(events[0]);
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
    expect(await must(user.get(`/v1/webhook_deliveries/${sent[0].id}`))).toEqual(sent[0]);
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
    const of = (path: string, event_types: string[]) => must(create(user, { url: `${hook.url}/${path}`, event_types }));
    await of('all', ['*']);
    await of('receivables', ['receivable.*']);
    const { id } = await of('accounts', ['account.created']);
    await partner(user);
    await eventually(
      async () => hook.got.filter(({ path }) => path.endsWith('/accounts')).length,
      (n) => n === 1,
    );
    await must(user.post(`/v1/webhook_endpoints/${id}`, { enabled: false }));
    await partner(user);
    await eventually(
      async () =>
        hook.events().filter((event, i) => hook.got[i]!.path.endsWith('/all') && event.type === 'account.created'),
      (list) => list.length === 2,
    );
    expect(hook.got.filter(({ path }) => path.endsWith('/accounts'))).toHaveLength(1);
    expect(hook.got.filter(({ path }) => path.endsWith('/receivables'))).toHaveLength(0);
    expect(await endpoint(user, id)).toMatchObject({ enabled: false, disabled_reason: 'by_request' });
    const enabled = await must(user.post(`/v1/webhook_endpoints/${id}`, { enabled: true }));
    expect(enabled).toMatchObject({ enabled: true, disabled_reason: null });
  });

  it('reaches the platform of a connected user by choice, and no other user', async () => {
    const platform = await given.platform(1);
    const [one, other] = [await platform.connectedUser(), await platform.connectedUser()];
    await eventually(
      async () => await Promise.all([one, other].map((user) => must(user.get('/v1/events?type=account.created')))),
      (lists) => lists.every(({ data }) => data.length === 1),
    );
    const hook = await receiver();
    const at = (path: string) => `${hook.url}/${path}`;
    await must(create(platform, { url: at('own'), event_types: ['account.created'] }));
    await must(create(platform, { url: at('connected'), event_types: ['account.created'], scope: 'descendants' }));
    await must(create(one, { url: at('one'), event_types: ['account.created'] }));
    await must(create(other, { url: at('other'), event_types: ['account.created'] }));
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
    const { id, secret: before } = await must(create(user, { url: hook.url }));
    const { secret: after } = await must(user.post(`/v1/webhook_endpoints/${id}/rotate_secret`));
    expect(after).not.toBe(before);
    await must(user.post(`/v1/webhook_endpoints/${id}/test`));
    const tested = () => hook.got.filter(({ body }) => JSON.parse(body).type === 'webhook_endpoint.tested');
    await eventually(
      async () => tested().length,
      (n) => n === 1,
    );
    const [{ headers, body }] = tested() as [Received];
    for (const secret of [before, after]) new Webhook(secret).verify(body, headers as Record<string, string>);
    await world.sql`update webhook_endpoint set previous_secret_until = previous_secret_until - 86401 where id = ${id}`;
    await must(user.post(`/v1/webhook_endpoints/${id}/test`));
    await eventually(
      async () => tested().length,
      (n) => n === 2,
    );
    const [, last] = tested() as [Received, Received];
    new Webhook(after).verify(last.body, last.headers as Record<string, string>);
    expect(() => new Webhook(before).verify(last.body, last.headers as Record<string, string>)).toThrow(/signature/);
  });

  it('is tried again while its secret cannot be decrypted, which is no fault of its receiver', async () => {
    const user = await settled();
    const hook = await receiver();
    const { id } = await must(create(user, { url: hook.url, event_types: ['account.created'] }));
    // The previous secret alone signs nothing: the account may not know it any more.
    await must(user.post(`/v1/webhook_endpoints/${id}/rotate_secret`));
    await world.sql`update webhook_endpoint set secret_sealed = 'v1.00000000.AAAA' where id = ${id}`;
    await partner(user);
    const [waits] = await eventually(
      () => deliveries(user, id),
      ([one]) => one?.attempts.length > 0,
    );
    const unsigned = { status: null, error: 'the service could not sign the delivery' };
    expect(waits).toMatchObject({ status: 'pending', attempts: [unsigned] });
    // The next attempt is soon enough for the alert of the operator to stay on.
    expect(waits.next_attempt - waits.attempts[0].at).toBeLessThanOrEqual(303);
    // After six days a receiver that fails would be disabled, and the delivery given up.
    await world.sql`update webhook_delivery set queued = queued - 6 * 86400 where endpoint_id = ${id}`;
    await later(id);
    const [still] = await eventually(
      () => deliveries(user, id),
      ([one]) => one.attempts.length === 2,
    );
    expect(still).toMatchObject({ status: 'pending', attempts: [unsigned, unsigned] });
    expect(await endpoint(user, id)).toMatchObject({ enabled: true, failing_since: null, disabled_reason: null });
    expect(await waitingFor(user)).toEqual([]);
    expect(hook.got).toEqual([]);
    const { secret } = await must(user.post(`/v1/webhook_endpoints/${id}/rotate_secret`));
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
    const { id } = await must(create(user, { url: hook.url, event_types: ['account.created'] }));
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
    expect(await waitingFor(user)).toEqual([{ kind: 'WEBHOOK_FAILING', object: { id } }]);
    await world.sql`update webhook_delivery set queued = queued - 3 * 86400 where endpoint_id = ${id}`;
    await later(id);
    const [ended] = await eventually(
      () => deliveries(user, id),
      ([one]) => one.status === 'failed',
    );
    expect(ended).toMatchObject({ next_attempt: null, attempts: { length: 6 } });
    expect(ended.attempts[0]).toMatchObject({ status: 500, error: 'the response has status 500', response: 'no' });
    await must(user.post(`/v1/webhook_endpoints/${id}`, { enabled: false }));
    expect(await waitingFor(user)).toEqual([]);
  });

  it('waits as long as Retry-After asks', async () => {
    const user = await settled();
    const hook = await receiver((_, response, n) =>
      n === 1 ? void response.writeHead(503, { 'retry-after': '1000' }).end() : void response.end(),
    );
    const { id } = await must(create(user, { url: hook.url, event_types: ['account.created'] }));
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
    const { id } = await must(create(user, { url: hook.url, event_types: ['account.created'] }));
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
    expect(await waitingFor(user)).toEqual([{ kind: 'WEBHOOK_FAILING', object: { id } }]);
    const events = await eventually(
      async () => (await must(user.get(`/v1/events?type=webhook_endpoint.disabled`))).data,
      (list) => list.length === 1,
    );
    expect(events[0].data.object).toEqual(disabled);
  });

  it('is sent again on request: one delivery, or all since a number that have not arrived', async () => {
    const user = await settled();
    let fails = true;
    const hook = await receiver((_, response) => void response.writeHead(fails ? 500 : 204).end());
    const { id } = await must(create(user, { url: hook.url, event_types: ['account.created'] }));
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
    await must(redeliver({ delivery_id: list[2].id }));
    await eventually(
      () => deliveries(user, id),
      (all) => all[2].status === 'succeeded',
    );
    expect((await deliveries(user, id)).map(({ status }) => status)).toEqual(['pending', 'pending', 'succeeded']);
    await must(redeliver({ delivery_id: list[2].id }));
    await eventually(counts, (all) => all[2] === before[2]! + 2);

    // Events from before the endpoint existed are events since a number, too.
    const second = await must(create(user, { url: `${hook.url}/second`, event_types: ['account.created'] }));
    await must(user.post(`/v1/webhook_endpoints/${second.id}/redeliver`, { after_number: 0 }));
    await must(redeliver({ after_number: 0 }));
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
      await must(create(user, { url: hook.url, event_types: ['account.created'] }));
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
    await must(create(user, { url: silent.url, event_types: ['account.created'] }));
    await must(create(user, { url: hook.url, event_types: ['account.created'] }));
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
      ids.push((await must(create(user, { url, event_types: ['account.created'] }))).id);
    }
    await partner(user);
    await partner(user);
    await eventually(
      async () => open.size,
      (n) => n === 8,
    );
    const hook = await receiver();
    await must(create(other, { url: hook.url, event_types: ['account.created'] }));
    await partner(other);
    await eventually(
      async () => hook.got.length,
      (n) => n === 1,
    );
    expect([open.size, most]).toEqual([8, 1]);
    for (const id of ids) await must(user.post(`/v1/webhook_endpoints/${id}`, { enabled: false }));
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
