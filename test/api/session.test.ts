import { createHash, createHmac, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  details,
  eventually,
  givenIn,
  nickname,
  type Reply,
  Speaker,
  tenantOf,
  transports,
  useWorld,
} from '../support/world.js';

const origin = 'https://app.example';
const second = 'https://other.example';
const world = useWorld({ worker: false, environment: { CORS_ORIGINS: `${origin},${second}` } });
const given = givenIn(world);

let other: string;
beforeAll(async () => {
  other = await world.another();
});
const elsewhere = (me: Speaker) => new Speaker({ ...world, origin: other }, me.id, me.key, me.edition);
const pause = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds));

interface Made {
  id: string;
  token: string;
  expires_at: number;
  created: number;
  [name: string]: unknown;
}
const create = (me: Speaker, body: object = {}, headers: Record<string, string> = {}) =>
  me.post('/v1/sessions', { role: 'read', ...body }, headers);
const make = async (me: Speaker, body: object = {}): Promise<Made> => {
  const reply = await create(me, body);
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body;
};
/** A client with a session of an account. */
const sessionOf = async (me: Speaker, body: object = {}) => me.using((await make(me, body)).token);
const graphCreate = (me: Speaker, input: object, headers: Record<string, string> = {}) =>
  me.graph(
    `mutation ($input: CreateSessionInput!) { createSession(input: $input) { token session {
      id created livemode accountId apiKeyId role allowedOrigins expiresAt revokedAt account { id } apiKey { id } } }
      }`,
    { input },
    headers,
  );
const outcome = (reply: Reply) =>
  [reply.body?.errors?.[0]?.extensions?.httpStatus ?? reply.status, ...new Set(reply.codes)].join(' ');
const messageOf = (reply: Reply): string => reply.body.errors[0].message;
const partnerBody = () => ({ type: 'partner', nickname: nickname(), business_details: details() });
const keyIdOf = async (me: Speaker) =>
  (await me.graph('query ($id: ID!) { apiKeys(last: 1, accountId: $id) { nodes { id } } }', { id: me.id })).body.data
    .apiKeys.nodes[0].id as string;
const createKey = async (me: Speaker, input: object) =>
  (
    await me.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id } } }', {
      input,
    })
  ).body.data.createApiKey as { secret: string; apiKey: { id: string } };
/** The account that a client is, or why it is none. */
const whoIs = async (me: Speaker, headers: Record<string, string> = {}) => {
  const [rest, graph] = await Promise.all([
    me.get('/v1/balance', headers),
    me.graph('{ viewer { account { id } } }', {}, headers),
  ]);
  const id = graph.body.data?.viewer?.account.id ?? outcome(graph);
  return [rest.status === 200 ? rest.body.account_id : outcome(rest), id];
};

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
      session.upload('invoice', new TextEncoder().encode('%PDF-1.4\n%%EOF\n')),
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
    const pdf = new TextEncoder().encode('%PDF-1.4\n%%EOF\n');
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
    const [user, stranger] = [await platform.connectedUser(), await (await given.platform(1)).connectedUser()];
    const session = await sessionOf(platform, { role: 'read' });
    // What the key may do for the user is cached; the session must not get it.
    expect((await platform.actingFor(user.id).post('/v1/accounts', partnerBody())).status).toBe(200);
    expect((await session.actingFor(user.id).get('/v1/accounts')).text).toBe((await user.get('/v1/accounts')).text);
    expect(outcome(await session.actingFor(user.id).post('/v1/accounts', partnerBody()))).toBe('403 permission_denied');
    expect(outcome(await session.actingFor(user.id).graph('mutation { createApiKey(input: {}) { secret } }'))).toBe(
      '403 permission_denied',
    );
    expect(outcome(await session.actingFor(stranger.id).get('/v1/accounts'))).toBe('404 resource_missing');
    const viewer = await session.actingFor(user.id).graph('{ viewer { onBehalf sessionRole } }');
    expect(viewer.body.data.viewer).toEqual({ onBehalf: true, sessionRole: 'READ' });
  });

  it('is visible to the key, and no partner', async () => {
    const platform = await given.platform(1);
    const [user, sibling] = [await platform.connectedUser(), await platform.connectedUser()];
    const stranger = await given.platform(1);
    const refused = await Promise.all([
      create(platform, { account_id: stranger.id }),
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
    for (const me of [stranger, sibling]) {
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

describe('the allowed origins of a session', () => {
  for (const transport of transports)
    it(`are compared with the header Origin of each request, through ${transport}`, async () => {
      const me = await given.directUser(1);
      const bound = await sessionOf(me, { allowed_origins: [origin] });
      const free = await sessionOf(me);
      const ask = (speaker: Speaker, from?: string) => {
        const headers: Record<string, string> = from === undefined ? {} : { origin: from };
        return transport === 'REST'
          ? speaker.get('/v1/accounts', headers)
          : speaker.graph('{ viewer { edition } }', {}, headers);
      };
      const refused = [second, 'https://evil.example', world.origin, `${origin}:443`, `${origin}, ${second}`, 'null'];
      for (let round = 0; round < 2; round++) {
        expect((await ask(bound, origin)).status).toBe(200);
        for (const from of refused) {
          const reply = await ask(bound, from);
          expect([from, outcome(reply)]).toEqual([from, '403 permission_denied']);
          expect(messageOf(reply)).toContain(transport === 'REST' ? 'allowed_origins' : 'allowedOrigins');
        }
        const without = await ask(bound);
        expect([outcome(without), messageOf(without)]).toEqual([
          '403 permission_denied',
          'This session is for pages of its allowed origins, and the request ' +
            'has no header Origin. Send it from such a page.',
        ]);
        // A session without origins is for all that the gateway admits, and for clients that are no browser.
        for (const from of [undefined, origin, second, world.origin])
          expect([from, (await ask(free, from)).status]).toEqual([from, 200]);
        for (const from of ['https://evil.example', 'null'])
          expect([from, outcome(await ask(free, from))]).toEqual([from, '403 permission_denied']);
      }
    });

  it('are not those of an API key, which is for servers', async () => {
    const me = await given.directUser(1);
    expect((await me.get('/v1/accounts', { origin: 'https://evil.example' })).status).toBe(200);
  });

  it('are checked before the path, the body and the account acted for', async () => {
    const platform = await given.platform(1);
    const bound = await sessionOf(platform, { allowed_origins: [origin], role: 'operate' });
    const replies = await Promise.all([
      bound.get('/v1/nothing'),
      bound.post('/v1/accounts', '{'),
      bound.actingFor('account_0').get('/v1/accounts'),
      bound.get('/v1/%ZZ'),
    ]);
    expect(replies.map(outcome)).toEqual(replies.map(() => '403 permission_denied'));
  });
});

describe('the end of a session', () => {
  const ended = async (clients: Speaker[], message: string) => {
    const replies = await Promise.all(
      clients.flatMap((me) => [
        me.get('/v1/accounts'),
        me.graph('{ viewer { edition } }'),
        me.post('/v1/accounts', partnerBody()),
      ]),
    );
    expect(replies.map(outcome)).toEqual(replies.map(() => '401 api_key_invalid'));
    expect(new Set(replies.map(messageOf))).toEqual(new Set([message]));
  };
  const invalid = 'The session is not valid. Make another one, by an API key on your server.';
  /** Keeps a session in use at both gateways, so that what they know of it is as new as possible. */
  const used = async (session: Speaker) => {
    const both = [session, elsewhere(session)];
    for (const me of both) expect((await me.get('/v1/accounts')).status).toBe(200);
    return both;
  };
  /** A request after a second is refused, though the session was in use all the time. */
  const endsWithinASecond = async (both: Speaker[]) => {
    const until = Date.now() + 1_000;
    while (Date.now() < until) {
      await Promise.all(both.map((me) => me.get('/v1/accounts')));
      await pause(20);
    }
    await ended(both, invalid);
  };

  it('comes at its time', async () => {
    const me = await given.directUser(1);
    const session = await sessionOf(me, { expires_in: 5 });
    const both = await used(session);
    await eventually(
      () => both[1]!.get('/v1/accounts'),
      (reply) => reply.status === 401,
    );
    await ended(both, 'The session has expired. Make another one, by an API key on your server.');
  });

  it('comes within a second of its revocation, in every gateway', async () => {
    const me = await given.directUser(1);
    const [one, two] = [await make(me, { role: 'operate' }), await make(me)];
    const both = await used(me.using(one.token));
    const revoked = await me.post(`/v1/sessions/${one.id}/revoke`);
    expect(revoked.body).toMatchObject({ id: one.id, revoked_at: expect.any(Number) });
    await endsWithinASecond(both);
    expect(await whoIs(me.using(two.token))).toEqual(await whoIs(me));
    const again = await me.graph(`mutation { revokeSession(input: { id: "${one.id}" }) { session { id revokedAt } } }`);
    expect(Date.parse(again.body.data.revokeSession.session.revokedAt) / 1_000).toBe(revoked.body.revoked_at);
  });

  it('comes with the revocation of the key that made it, also for the session of another account', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const key = await createKey(platform, {});
    const maker = platform.using(key.secret);
    const session = user.using((await make(maker, { account_id: user.id })).token);
    const both = await used(session);
    await platform.graph(`mutation { revokeApiKey(input: { id: "${key.apiKey.id}" }) { apiKey { id } } }`);
    await endsWithinASecond(both);
    expect(outcome(await create(maker))).toBe('401 api_key_invalid');
  });

  it('comes with the expiry of the key that made it, and of one that was rotated', async () => {
    const me = await given.directUser(1);
    const key = await createKey(me, { expiresInSeconds: 60 });
    const made = await make(me.using(key.secret), { expires_in: 3_600 });
    expect(made.expires_at).toBeLessThanOrEqual(made.created + 60);
    const lasting = await createKey(me, {});
    const session = await sessionOf(me.using(lasting.secret), { expires_in: 3_600 });
    const both = await used(session);
    await me.graph(`mutation { rotateApiKey(input: { id: "${lasting.apiKey.id}", graceSeconds: 0 }) { secret } }`);
    await eventually(
      () => both[0]!.get('/v1/accounts'),
      (reply) => reply.status === 401,
    );
    await pause(1_000);
    await ended(both, 'The session has expired. Make another one, by an API key on your server.');
  });

  // The gateway may still know the key as valid for a moment.
  it('is there from the start for one that a revoked key asks for', async () => {
    const me = await given.directUser(1);
    const key = await createKey(me, {});
    const maker = me.using(key.secret);
    expect((await maker.get('/v1/accounts')).status).toBe(200);
    await world.sql`update api_key set revoked_at = 1 where id = ${key.apiKey.id}`;
    expect(outcome(await create(maker))).toBe('401 api_key_invalid');
    expect(await world.sql`select id from session where api_key_id = ${key.apiKey.id}`).toEqual([]);
  });

  it('is followed by its deletion with the stored responses of its time', async () => {
    const me = await given.directUser(1);
    const [old, young] = [await make(me), await make(me)];
    await world.sql`update session set created = created - 200000 where id = ${old.id}`;
    await world.database.call('delete_old_responses', [tenantOf(me), false, 172_800, 10]);
    expect((await me.get('/v1/sessions')).body.data.map(({ id }: Made) => id)).toEqual([young.id]);
  });
});

describe('the token of a session', () => {
  it('is stored nowhere, in any form that the database alone could derive', async () => {
    const me = await given.directUser(1);
    const tokens = [(await make(me)).token, (await graphCreate(me, { role: 'READ' })).body.data.createSession.token];
    for (const token of tokens) expect((await me.using(token).get('/v1/accounts')).status).toBe(200);
    const forms = tokens.flatMap((token: string) => [
      token,
      ...Array.from({ length: 25 }, (_, i) => token.slice(-38 + i, -38 + i + 8)),
      ...(['hex', 'base64', 'base64url'] as const).flatMap((encoding) => [
        Buffer.from(token).toString(encoding),
        ...['sha256', 'sha512', 'sha1', 'md5'].map((name) => createHash(name).update(token).digest(encoding)),
      ]),
    ]);
    const tables =
      await world.sql`select table_name as name from information_schema.tables where table_schema = 'public'`;
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['session', 'event', 'idempotency']));
    for (const { name } of tables) {
      const found = await world.sql.unsafe(
        `select form from "${name}" t, unnest($1::text[]) as form where strpos(to_jsonb(t)::text, form) > 0`,
        [forms],
      );
      expect([name, found.map(({ form }) => form)]).toEqual([name, []]);
    }
    const stored = await world.sql`select digest from session where account_id = ${me.id}`;
    expect(stored.map(({ digest }) => digest).sort()).toEqual(
      tokens.map((token) => createHmac('sha256', world.pepper).update(token).digest('hex')).sort(),
    );
    // Neither does an event, a stored answer or the object itself have the hash.
    await world.database.call('number_events', [tenantOf(me), false, 500]);
    const events = (await me.get('/v1/events')).text;
    expect(events).toContain('session.created');
    for (const { digest } of stored) expect(events).not.toContain(digest);
  });

  it('is refused with one sentence when it is mistyped or was never issued', async () => {
    const me = await given.directUser(1);
    const { token } = await make(me);
    const replies = await Promise.all(
      [
        `${token}x`,
        token.slice(0, -1),
        token.slice(0, -38),
        `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`,
        'ses_',
      ]
        .map((each) => me.using(each))
        .map((each) => each.get('/v1/accounts')),
    );
    expect(replies.map(outcome)).toEqual(replies.map(() => '401 api_key_invalid'));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });

  it('is accepted as Bearer alone, since a browser may send Basic of its own accord', async () => {
    const me = await given.directUser(1);
    const { token } = await make(me);
    const basic = `Basic ${Buffer.from(`${token}:`).toString('base64')}`;
    const reply = await me.get('/v1/accounts', { authorization: basic });
    expect([outcome(reply), messageOf(reply)]).toEqual([
      '401 api_key_invalid',
      'Send a session token as Authorization: Bearer <token>.',
    ]);
  });

  it('is no credential of the operator', async () => {
    const me = await given.directUser(1);
    const { token } = await make(me);
    expect((await me.using(token).post('/operator/graphql', { query: '{ __typename }' })).status).toBe(401);
  });

  it('is looked up once for requests that come together', async () => {
    const me = await given.directUser(1);
    const { token } = await make(me);
    const read = world.database.read.bind(world.database);
    let looks = 0;
    world.database.read = ((name: string, ...rest: never[]) => {
      if (name === 'session_owner') looks++;
      return (read as (...all: unknown[]) => unknown)(name, ...rest);
    }) as typeof world.database.read;
    try {
      const replies = await Promise.all(Array.from({ length: 20 }, () => me.using(token).get('/v1/balance')));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    } finally {
      world.database.read = read;
    }
    expect(looks).toBe(1);
  });
});

describe('the allowance of a session', () => {
  it('is that of the root account', async () => {
    const me = await given.directUser(1);
    const session = await sessionOf(me);
    const reply = await session.get('/v1/accounts');
    expect(reply.headers.get('ratelimit-policy')).toContain('"points"');
  });
});
