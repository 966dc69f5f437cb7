import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { recordChanges, seenChanges } from './changes.js';
import { eventually, givenIn, must, nickname, useWorld } from '../support/world.js';
import { create, deliveries, endpoint, partner, type Received, webhooksIn } from './webhook-fixture.js';

const world = useWorld();
const given = givenIn(world);
const { receiver, later, settled } = webhooksIn(world);

beforeAll(() => recordChanges(world.sql));

auditLedger(world);

describe('a webhook endpoint', () => {
  it('has exactly these keys, and shows its secret only in the answer that makes it', async () => {
    const user = await given.directUser(1);
    const { url } = await receiver();
    const made = await must(
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
    expect(await must(user.get('/v1/webhook_endpoints'))).toEqual({ object: 'list', data: [shown], has_next: false });
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
    expect((await must(platform.post(`/v1/webhook_endpoints/${id}`, { description: 'all' }))).scope).toBe(
      'descendants',
    );
    expect((await must(platform.post(`/v1/webhook_endpoints/${id}`, { scope: 'self' }))).scope).toBe('self');
    const { body } = await platform.graph(`{ webhookEndpoint(id: "${id}") { scope } }`);
    expect(body.data.webhookEndpoint).toEqual({ scope: 'SELF' });
  });

  it('is answered unchanged, without an event, for an update that says nothing', async () => {
    const user = await settled();
    const { url } = await receiver();
    const { secret, ...made } = await must(create(user, { url, event_types: ['payout.failed'] }));
    const row = () => world.sql`
      select w.*, (select count(*) from event e where e.object_id = w.id)
      from webhook_endpoint w where id = ${made.id}`;
    const [before] = await row();

    expect(await must(user.post(`/v1/webhook_endpoints/${made.id}`, {}))).toEqual(made);
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
    expect((await must(user.get('/v1/webhook_endpoints'))).data).toHaveLength(1);
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
    expect((await must(user.get('/v1/webhook_endpoints'))).data).toEqual([]);
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
    expect((await must(user.get('/v1/webhook_endpoints'))).data).toEqual([]);
  });

  it('is one of at most 16 that are enabled, also when they are created at once', async () => {
    const user = await given.directUser(1);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => create(user, { url: `https://example.com/${n}` })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(16).fill(200), ...Array(4).fill(400)]);
    const [first] = replies.filter(({ status }) => status === 200);
    await must(user.post(`/v1/webhook_endpoints/${first!.body.id}`, { enabled: false }));
    const added = await must(create(user, { url: 'https://example.com/more' }));
    const { status, fieldNames } = await user.post(`/v1/webhook_endpoints/${first!.body.id}`, { enabled: true });
    expect([status, fieldNames]).toEqual([400, ['webhook_endpoint.url']]);
    expect(added.enabled).toBe(true);
  });

  it('is managed by its account and its platform, and seen by no other', async () => {
    const platform = await given.platform(1);
    const [one, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const outsider = await given.directUser(1);
    const { id } = await must(create(platform, { url: 'https://example.com/', account_id: one.id }));
    const { id: own } = await must(create(platform, { url: 'https://example.com/own' }));
    for (const path of ['', '/rotate_secret', '/test']) {
      // An update without a change moves the time all the same, which the last test of this file takes for a fault.
      for (const [speaker, description] of [[one, 'by the user'] as const, [platform, 'by the platform'] as const])
        expect(
          (await speaker.post(`/v1/webhook_endpoints/${id}${path}`, path === '' ? { description } : undefined)).status,
        ).toBe(200);
      for (const speaker of [other, outsider])
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

describe('a query of a webhook endpoint', () => {
  const query = `query Arrived($eventId: ID!) {
    event(id: $eventId) { number eventType accountId subject { id ... on Account { nickname status } } }
  }`;

  it('makes the body of each delivery, with what its account sees, on both APIs', async () => {
    const user = await settled();
    const hook = await receiver();
    const made = await must(create(user, { url: hook.url, event_types: ['account.created'], query }));
    expect(made).toMatchObject({ query, query_cost: expect.any(Number) });
    const object = await partner(user);
    await eventually(
      async () => hook.got.length,
      (n) => n === 1,
    );
    const [{ headers, body }] = hook.got as [Received];
    const event = (await must(user.get(`/v1/events/${headers['webhook-id']}`))) as any;
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
    expect(await must(user.post(`/v1/webhook_endpoints/${made.id}`, { description: 'x' }))).toMatchObject({
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
    const { id } = await must(
      create(user, {
        url: hook.url,
        event_types: ['receivable.created'],
        query:
          'query ($eventId: ID!) { event(id: $eventId) { number object subject { ' +
          '... on WebhookEndpoint { description } } } }',
      }),
    );
    await must(user.post(`/v1/webhook_endpoints/${id}/test`));
    const [tested] = await eventually(
      async () => hook.events(),
      (list) => list.length === 1,
    );
    expect(tested.data.event).toMatchObject({ number: expect.any(Number), object: { id } });
    fails = true;
    await must(user.post(`/v1/webhook_endpoints/${id}`, { event_types: ['webhook_endpoint.created'] }));
    const other = await must(create(user, { url: 'https://example.com/', description: 'then' }));
    const seen = () =>
      hook
        .events()
        .filter(({ data }) => data.event.object.id === other.id)
        .map(({ data }) => [data.event.object.description, data.event.subject.description]);
    await eventually(
      async () => seen().length,
      (n) => n === 1,
    );
    await must(user.post(`/v1/webhook_endpoints/${other.id}`, { description: 'now' }));
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
    await must(create(platform, { url: hook.url, event_types: ['account.created'], account_id: one.id, query }));
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
    await must(create(user, { url: hook.url, event_types: ['account.created'], query }));
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
      await user.post(`/v1/webhook_endpoints/${(await must(create(user, { url: 'https://example.com/' }))).id}`, {
        query: refused,
      }),
    ]) {
      expect([reply.status, new Set(reply.fieldNames)]).toEqual([400, new Set(['webhook_endpoint.query'])]);
      expect(reply.body.errors[0].message).toContain(message);
    }
    expect((await must(user.get('/v1/webhook_endpoints'))).data).toMatchObject([{ query: null, query_cost: null }]);
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
    const { secret } = await must(create(user, { url, event_types: ['account.created'] }));
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

describe('the time of the last change', () => {
  it('moves with each attempt of a delivery, and where an endpoint fails or works again', async () => {
    const { tables, faults } = await seenChanges(world.sql);
    expect(faults).toEqual([]);
    expect(tables).toEqual(expect.arrayContaining(['webhook_delivery', 'webhook_endpoint']));
  });
});
