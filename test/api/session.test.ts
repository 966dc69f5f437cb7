import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { partnerBody, pdf } from '../support/bodies.js';
import { givenIn, nickname, type Reply, Speaker, tenantOf, useWorld } from '../support/world.js';
import {
  create,
  createKey,
  graphCreate,
  type Made,
  make,
  messageOf,
  origin,
  outcome,
  second,
  sessionOf,
  whoIs,
} from './session-fixture.js';

const world = useWorld({ worker: false, environment: { CORS_ORIGINS: `${origin},${second}` } });
const given = givenIn(world);

const keyIdOf = async (me: Speaker) =>
  (await me.graph('query ($id: ID!) { apiKeys(last: 1, accountId: $id) { nodes { id } } }', { id: me.id })).body.data
    .apiKeys.nodes[0].id as string;

describe('a session', () => {
  it('is answered by both APIs with its fields, and its token once', async () => {
    const me = await given.directUser(1);
    const reply = await create(me, { role: 'operate', expires_in: 600, allowed_origins: [origin] });
    const { token, ...rest } = reply.body;
    expect([reply.status, rest]).toEqual([
      200,
      {
        id: expect.stringMatching(/^session_[0-9a-f]{32}$/),
        object: 'session',
        created: expect.any(Number),
        livemode: false,
        account_id: me.id,
        api_key_id: await keyIdOf(me),
        role: 'operate',
        allowed_origins: [origin],
        expires_at: rest.created + 600,
        revoked_at: null,
      },
    ]);
    expect(token).toMatch(new RegExp(`^ses_test_${tenantOf(me)}_[0-9A-Za-z]{38}$`));
    const made = (await graphCreate(me, { role: 'READ' })).body.data.createSession;
    expect(made.token).toMatch(/^ses_test_/);
    expect(made.session).toEqual({
      id: expect.stringMatching(/^session_/),
      created: expect.any(String),
      livemode: false,
      accountId: me.id,
      apiKeyId: rest.api_key_id,
      role: 'READ',
      allowedOrigins: [],
      expiresAt: new Date(Date.parse(made.session.created) + 900_000).toISOString().replace('.000Z', 'Z'),
      revokedAt: null,
      account: { id: me.id },
      apiKey: { id: rest.api_key_id },
    });
    const shown = await Promise.all([
      me.get('/v1/sessions'),
      me.get(`/v1/sessions/${rest.id}`),
      me.graph('{ sessions { nodes { id role } } viewer { account { sessions { nodes { id allowedOrigins } } } } }'),
      me.graph('query ($id: ID!) { session(id: $id) { id } node(id: $id) { id } }', { id: rest.id }),
      me.get('/v1/events'),
    ]);
    for (const each of shown) {
      expect(each.codes).toEqual([]);
      expect(each.text).not.toContain(token.slice(-38));
      expect(each.text).not.toContain(made.token.slice(-38));
    }
    expect(shown[0]!.body.data.map(({ id }: Made) => id)).toEqual([made.session.id, rest.id]);
    expect(shown[1]!.body).toEqual(rest);
    expect(shown[2]!.body.data.sessions.nodes).toHaveLength(2);
    expect(shown[3]!.body.data).toEqual({ session: { id: rest.id }, node: { id: rest.id } });
  });

  it('has no token in the answer to a repeated request', async () => {
    const me = await given.directUser(1);
    const headers = { 'idempotency-key': 'session-1' };
    const first = await create(me, {}, headers);
    const again = await create(me, {}, headers);
    expect([again.headers.get('idempotent-replayed'), again.body]).toEqual(['true', { ...first.body, token: null }]);
    const graph = await graphCreate(me, { role: 'READ' }, headers);
    expect(graph.body.data.createSession).toMatchObject({ token: null, session: { id: first.body.id } });
    expect((await me.get('/v1/sessions')).body.data).toHaveLength(1);
  });

  for (const [mode, edition] of [
    ['test', 1],
    ['test', 2],
    ['live', 1],
    ['live', 2],
  ] as const)
    it(`has the mode and edition of the key that made it: ${mode} mode, Edition ${edition}`, async () => {
      const platform = (await given.platformBoth(edition))[mode];
      const session = await sessionOf(platform);
      expect(session.key).toMatch(new RegExp(`^ses_${mode}_`));
      const viewer = await session.graph('{ viewer { mode edition permission sessionRole onBehalf account { id } } }');
      expect(viewer.body.data.viewer).toEqual({
        mode: mode.toUpperCase(),
        edition,
        permission: 'READ',
        sessionRole: 'READ',
        onBehalf: false,
        account: { id: platform.id },
      });
      expect((await platform.graph('{ viewer { sessionRole } }')).body.data.viewer.sessionRole).toBeNull();
      expect((await session.get('/v1/checkouts')).status).toBe(edition === 1 ? 404 : 200);
      expect((await session.get('/v1/accounts')).text).toBe((await platform.get('/v1/accounts')).text);
    });

  it('needs a role, and a lifetime and origins within bounds', async () => {
    const me = await given.directUser(1);
    const faulty: [object, string[], string[]][] = [
      [{ role: undefined }, ['parameter_missing'], ['session.role']],
      [{ role: 'full' }, ['parameter_invalid'], ['session.role']],
      [{ role: '' }, ['parameter_invalid_empty'], ['session.role']],
      [{ expires_in: 0 }, ['parameter_invalid'], ['session.expires_in']],
      [{ expires_in: 43_201 }, ['parameter_invalid'], ['session.expires_in']],
      [{ expires_in: -5 }, ['parameter_invalid'], ['session.expires_in']],
      [{ allowed_origins: [] }, ['parameter_invalid_empty'], ['session.allowed_origins']],
      [{ allowed_origins: ['*'] }, ['parameter_invalid'], ['session.allowed_origins[0]']],
      [{ allowed_origins: [origin, `${origin}/`] }, ['parameter_invalid'], ['session.allowed_origins[1]']],
      [{ allowed_origins: ['http://app.example'] }, ['parameter_invalid'], ['session.allowed_origins[0]']],
      [{ allowed_origins: ['null'] }, ['parameter_invalid'], ['session.allowed_origins[0]']],
      [{ allowed_origins: Array(21).fill(origin) }, ['parameter_invalid'], ['session.allowed_origins']],
      [{ colour: 'red' }, ['parameter_unknown'], ['session.colour']],
    ];
    for (const [body, codes, fields] of faulty) {
      const reply = await create(me, body);
      expect([body, reply.status, reply.codes, reply.fieldNames]).toEqual([body, 400, codes, fields]);
    }
    const outside = await create(me, { allowed_origins: [origin, 'https://elsewhere.example'] });
    expect([outside.status, outside.fieldNames]).toEqual([400, ['session.allowed_origins[1]']]);
    expect(messageOf(outside)).toContain('CORS_ORIGINS');
    const own = await create(me, { allowed_origins: [world.origin] });
    expect(own.status).toBe(200);
    expect((await make(me, { expires_in: 43_200 })).expires_at).toBeGreaterThan(Date.now() / 1_000 + 43_000);
    expect((await me.get('/v1/sessions')).body.data).toHaveLength(2);
  });

  it('has its lifetime under the name of each API, and the graph repeats a key of /v1 with its answer', async () => {
    const me = await given.directUser(1);
    const key = { 'idempotency-key': randomUUID() };
    const made = await create(me, { expires_in: 60 }, key);
    expect(made.body.expires_at - made.body.created).toBe(60);
    const again = await graphCreate(me, { role: 'READ', expiresInSeconds: 60 }, key);
    expect(again.body.data.createSession.session.id).toBe(made.body.id);
    const other = await create(me, { expires_in: 61 }, key);
    expect([other.codes, other.fieldNames]).toEqual([['idempotency_key_reused'], ['session.expires_in']]);
    const refused = await graphCreate(me, { role: 'READ', expiresInSeconds: 0 });
    const [{ message, extensions }] = refused.body.errors;
    expect([refused.fieldNames, extensions.argumentPath, message]).toEqual([
      ...[['session.expires_in'], ['input', 'expiresInSeconds']],
      expect.stringMatching(/^expiresInSeconds must be from 1 to/),
    ]);
    const older = await create(me, { expires_in_seconds: 60 });
    expect([older.status, older.fieldNames]).toEqual([400, ['session.expires_in_seconds']]);
  });
});

describe('the role of a session', () => {
  it('is for no account named by nothing, which would be the platform with all its users; nor is a key', async () => {
    const platform = await given.platform(1);
    for (const empty of ['', null]) {
      for (const [reply, name] of [
        [await create(platform, { account_id: empty }), 'session.account_id'],
        [await graphCreate(platform, { role: 'READ', accountId: empty }), 'session.account_id'],
        [
          await platform.graph(
            'mutation ($id: ID) { createApiKey(input: { permission: READ, accountId: $id }) { secret } }',
            { id: empty },
          ),
          'api_key.account_id',
        ],
      ] as const)
        expect([outcome(reply), reply.fieldNames]).toEqual(['400 parameter_invalid_empty', [name]]);
    }
    const [{ count } = { count: -1 }] = await world.sql`
      select (select count(*)::int from session where tenant_id = ${tenantOf(platform)})
        + (select count(*)::int - 2 from api_key where tenant_id = ${tenantOf(platform)}) as count`;
    expect(count).toBe(0);
  });

  it('read reads what the key reads, and writes nothing', async () => {
    const platform = await given.platform(2);
    const session = await sessionOf(platform, { role: 'read' });
    for (const path of ['/v1/accounts', '/v1/addresses', '/v1/account_settings', '/v1/balance', '/v1/deposits'])
      expect((await session.get(path)).text).toBe((await platform.get(path)).text);
    const before = (await platform.get('/v1/accounts')).text;
    const refused = await Promise.all([
      session.post('/v1/accounts', partnerBody()),
      session.graph('mutation { createConnectedUser(input: { nickname: "x" }) { account { id } } }'),
      session.upload('invoice', pdf),
      session.post('/v1/test_helpers/clock', { advance_seconds: 1 }),
    ]);
    expect(refused.map(outcome)).toEqual(refused.map(() => '403 permission_denied'));
    for (const reply of refused)
      expect(messageOf(reply)).toBe(
        'A session with the role read may only read. Use a session with the role operate, or an API key.',
      );
    expect((await platform.get('/v1/accounts')).text).toBe(before);
  });

  it('operate also writes, but no keys, sessions, addresses or settings; the refusal names the way out', async () => {
    const platform = await given.platform(1);
    const session = await sessionOf(platform, { role: 'operate' });
    expect((await session.post('/v1/accounts', partnerBody())).status).toBe(200);
    const keyId = await keyIdOf(platform);
    const [setting] = (await platform.get('/v1/account_settings')).body.data;
    const own = (await make(platform)).id;
    const refused: [Promise<Reply>, string][] = [
      [session.graph('mutation { createApiKey(input: {}) { secret } }'), 'create API keys'],
      [session.graph(`mutation { rotateApiKey(input: { id: "${keyId}" }) { secret } }`), 'rotate API keys'],
      [session.graph(`mutation { revokeApiKey(input: { id: "${keyId}" }) { apiKey { id } } }`), 'revoke API keys'],
      [session.graph('{ apiKeys { nodes { id } } }'), 'read API keys'],
      [session.graph(`{ apiKey(id: "${keyId}") { id } }`), 'read API keys'],
      [session.graph('{ viewer { account { apiKeys { nodes { id } } } } }'), 'read API keys'],
      [create(session), 'make sessions'],
      [create(session, { role: 'operate' }), 'make sessions'],
      [graphCreate(session, { role: 'READ' }), 'make sessions'],
      [session.post(`/v1/sessions/${own}/revoke`), 'revoke sessions'],
      [session.get('/v1/sessions'), 'read sessions'],
      [session.get(`/v1/sessions/${own}`), 'read sessions'],
      [session.graph('{ viewer { account { sessions { nodes { id } } } } }'), 'read sessions'],
      [session.post('/v1/addresses', {}), 'create addresses'],
      [session.post('/v1/addresses/address_0', {}), 'update addresses'],
      [session.post(`/v1/account_settings/${setting.id}`, { payouts: { enabled: true } }), 'update account settings'],
      [session.post('/v1/test_helpers/addresses/address_0/expire'), 'update addresses'],
    ];
    for (const [promise, what] of refused) {
      const reply = await promise;
      expect([what, outcome(reply)]).toEqual([what, '403 permission_denied']);
      expect(messageOf(reply)).toBe(`A session cannot ${what}; use an API key.`);
    }
    const nodes = await session.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [keyId, own] });
    expect(nodes.body.data.nodes).toEqual([null, null]);
    // The third request for the same document would be a compiled query.
    for (let i = 0; i < 3; i++) {
      const edge = await session.graph('{ accounts(first: 1) { nodes { id apiKeys { nodes { id } } } } }');
      expect([edge.text.includes('key_'), edge.codes]).toEqual([false, ['permission_denied']]);
    }
  });

  it('is not more than the key may do: a key with permission read makes no session', async () => {
    const me = await given.directUser(1);
    const reader = me.using((await createKey(me, { permission: 'READ' })).secret);
    expect(outcome(await create(reader))).toBe('403 permission_denied');
    expect(outcome(await graphCreate(reader, { role: 'READ' }))).toBe('403 permission_denied');
  });
});

describe('what a session does not see', () => {
  it.each(['read', 'operate'])('with the role %s is what happens to keys and sessions', async (role) => {
    const platform = await given.platform(1);
    const session = await sessionOf(platform, { role });
    await createKey(platform, { accountId: platform.id });
    const hook = { url: 'https://hooks.example/', event_types: ['*'] };
    expect((await platform.post('/v1/webhook_endpoints', hook)).status).toBe(200);
    expect((await platform.post('/v1/accounts', partnerBody())).status).toBe(200);
    await world.database.call('number_events', [tenantOf(platform), false, 500]);
    const listOfTypes = async (me: Speaker, filter = 'limit=10') =>
      (await me.get(`/v1/events?${filter}`)).body.data.map(({ type }: { type: string }) => type);
    const all: string[] = await listOfTypes(platform);
    expect(all).toEqual(expect.arrayContaining(['api_key.created', 'session.created', 'account.created']));
    const others = all.filter((type) => !/^(api_key|session)\./.test(type));
    expect(await listOfTypes(session)).toEqual(others);
    expect(await listOfTypes(session, 'type=api_key.created,account.created')).toEqual(
      others.filter((type) => type === 'account.created'),
    );
    const edge = `query ($id: ID!) { account(id: $id) { events(first: 50) { nodes { type } totalCount } } }`;
    const edgeOf = async (me: Speaker) => {
      const { events } = (await me.graph(edge, { id: platform.id })).body.data.account;
      return { total: events.totalCount, types: events.nodes.map(({ type }: { type: string }) => type) as string[] };
    };
    const seen = (await edgeOf(platform)).types.filter((type) => !/^(api_key|session)\./.test(type));
    expect(await edgeOf(session)).toEqual({ total: seen.length, types: seen });

    const [about] = (await platform.get('/v1/events?type=api_key.created')).body.data;
    expect(about.data.object.object).toBe('api_key');
    expect(outcome(await session.get(`/v1/events/${about.id}`))).toBe('404 resource_missing');
    const byId = 'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }';
    expect((await session.graph(byId, { id: about.id })).body.data).toEqual({ node: null, nodes: [null] });
    const ended = new AbortController();
    const stream = await fetch(`${world.origin}/v1/events/stream?after=0`, {
      headers: { authorization: `Bearer ${session.key}` },
      signal: ended.signal,
    });
    let text = '';
    const typesIn = () => [...text.matchAll(/^data: .*"type":"([a-z_]+\.[a-z_]+)"/gm)].map(([, type]) => type);
    for await (const piece of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (typesIn().length >= others.length) break;
    }
    ended.abort();
    expect(text).not.toMatch(/"type":"(api_key|session)\./);
    expect(typesIn().toSorted()).toEqual(others.toSorted());
    const sent = '{ webhookDeliveries(first: 50) { nodes { eventType event { type } } } }';
    const deliveries = (await session.graph(sent)).body.data.webhookDeliveries.nodes;
    expect(deliveries.length).toBeGreaterThanOrEqual(all.length);
    for (const { eventType, event } of deliveries)
      expect([eventType, event?.type]).toEqual([
        eventType,
        /^(api_key|session)\./.test(eventType) ? undefined : eventType,
      ]);
  });

  it('is the content of identity documents', async () => {
    const user = await given.directUser(1);
    const [identity, invoice] = [await user.upload('identity_document', pdf), await user.upload('invoice', pdf)];
    for (const role of ['read', 'operate']) {
      const session = await sessionOf(user, { role });
      const refused = await session.get(`/v1/files/${identity.body.id}/content`);
      expect([outcome(refused), messageOf(refused)]).toEqual([
        '403 permission_denied',
        'A session cannot download identity documents; use an API key.',
      ]);
      expect((await session.get(`/v1/files/${identity.body.id}`)).status).toBe(200);
      expect((await session.get(`/v1/files/${invoice.body.id}/content`)).status).toBe(200);
    }
    expect((await user.get(`/v1/files/${identity.body.id}/content`)).status).toBe(200);
  });
});

describe('the account of a session', () => {
  for (const edition of [1, 2] as const)
    it(`is one of a platform's users, of whom it sees what that user sees, Edition ${edition}`, async () => {
      const platform = await given.platform(edition);
      const [user, sibling] = [await platform.connectedUser(), await platform.connectedUser()];
      const partner = await user.partner();
      const session = await sessionOf(platform, { account_id: user.id, role: 'operate' });
      expect(await whoIs(session)).toEqual([(await user.get('/v1/balance')).body.account_id, user.id]);
      for (const path of ['/v1/accounts', '/v1/addresses', `/v1/accounts/${partner.id}`])
        expect((await session.get(path)).text).toBe((await user.get(path)).text);
      const outside = await Promise.all([
        session.get(`/v1/accounts/${platform.id}`),
        session.get(`/v1/accounts/${sibling.id}`),
        session.post(`/v1/accounts/${sibling.id}`, { nickname: nickname() }),
      ]);
      expect(outside.map(outcome)).toEqual(outside.map(() => '404 resource_missing'));
      // A user cannot act for anyone, and a session of the user neither, although a platform made it.
      for (const id of [user.id, sibling.id, platform.id])
        expect(outcome(await session.actingFor(id).get('/v1/accounts'))).toBe('403 permission_denied');
      const onlyPlatforms = 'mutation { createConnectedUser(input: { nickname: "x" }) { account { id } } }';
      expect(outcome(await session.graph(onlyPlatforms))).toBe('403 permission_denied');
    });

  it('is the one that the platform acts for by default', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const made = await make(platform.actingFor(user.id));
    expect(made.account_id).toBe(user.id);
    // The user sees the session, and may revoke it.
    expect((await user.get('/v1/sessions')).body.data.map(({ id }: Made) => id)).toEqual([made.id]);
    expect((await user.post(`/v1/sessions/${made.id}/revoke`)).status).toBe(200);
  });

  it('may be a platform, whose session acts for its users with its own role', async () => {
    const platform = await given.platform(1);
    const [user, outsider] = [await platform.connectedUser(), await (await given.platform(1)).connectedUser()];
    const session = await sessionOf(platform, { role: 'read' });
    // What the key may do for the user is cached; the session must not get it.
    expect((await platform.actingFor(user.id).post('/v1/accounts', partnerBody())).status).toBe(200);
    expect((await session.actingFor(user.id).get('/v1/accounts')).text).toBe((await user.get('/v1/accounts')).text);
    expect(outcome(await session.actingFor(user.id).post('/v1/accounts', partnerBody()))).toBe('403 permission_denied');
    expect(outcome(await session.actingFor(user.id).graph('mutation { createApiKey(input: {}) { secret } }'))).toBe(
      '403 permission_denied',
    );
    expect(outcome(await session.actingFor(outsider.id).get('/v1/accounts'))).toBe('404 resource_missing');
    const viewer = await session.actingFor(user.id).graph('{ viewer { onBehalf sessionRole } }');
    expect(viewer.body.data.viewer).toEqual({ onBehalf: true, sessionRole: 'READ' });
  });

  it('is visible to the key, and no partner', async () => {
    const platform = await given.platform(1);
    const [user, sibling] = [await platform.connectedUser(), await platform.connectedUser()];
    const outsider = await given.platform(1);
    const refused = await Promise.all([
      create(platform, { account_id: outsider.id }),
      create(platform, { account_id: 'account_0' }),
      create(user, { account_id: platform.id }),
      create(user, { account_id: sibling.id }),
      create(platform, { account_id: (await user.partner()).id }),
      create(user, { account_id: (await user.partner()).id }),
    ]);
    expect(refused.map((reply) => [outcome(reply), reply.fieldNames[0]])).toEqual([
      ...Array(4).fill(['404 resource_missing', 'session.account_id']),
      ...Array(2).fill(['400 account_type_invalid', 'session.account_id']),
    ]);
    const own = await make(user);
    for (const me of [outsider, sibling]) {
      expect(outcome(await me.get(`/v1/sessions/${own.id}`))).toBe('404 resource_missing');
      expect(outcome(await me.post(`/v1/sessions/${own.id}/revoke`))).toBe('404 resource_missing');
    }
    expect(await whoIs(user.using(own.token))).toEqual(await whoIs(user));
  });

  it('is not reached by a token whose tenant or mode was replaced', async () => {
    const [mine, theirs] = [await given.platformBoth(1), await given.platformBoth(1)];
    const { token } = await make(mine.test);
    for (const forged of [
      token.replace('ses_test_', 'ses_live_'),
      token.replace('ses_test_', 'sk_test_'),
      token.replace(tenantOf(mine.test), tenantOf(theirs.test)),
      mine.test.key.replace('sk_test_', 'ses_test_'),
    ])
      for (const reply of [await mine.test.using(forged).get('/v1/accounts')])
        expect(outcome(reply)).toBe('401 api_key_invalid');
  });
});
