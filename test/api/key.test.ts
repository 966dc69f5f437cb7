import { createHash, createHmac } from 'node:crypto';
import { Agent, get as httpGet } from 'node:http';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey } from '../../src/auth/tokens.js';
import { config } from '../../src/config/config.js';
import { Database } from '../../src/db/database.js';
import { gateway } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { partnerBody } from '../support/bodies.js';
import { type Edition, eventually, givenIn, type Reply, Speaker, useWorld } from '../support/world.js';
import { hastyPools } from '../support/patient.js';

const world = useWorld();
const given = givenIn(world);

let other: string;
beforeAll(async () => {
  other = await world.another();
});
const bothGateways = (me: Speaker) => [me, me.at(other)];

const create = (me: Speaker, input: object = { permission: 'FULL' }) =>
  me.graph(
    `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) {
       secret apiKey { id created livemode accountId permission prefix expiresAt revokedAt lastUsedAt account { id } } }
       }`,
    { input },
  );
const made = async (me: Speaker, input?: object): Promise<{ secret: string; apiKey: Record<string, any> }> =>
  (await create(me, input)).body.data.createApiKey;
const rotate = (me: Speaker, id: string, graceSeconds?: number) =>
  me.graph(
    'mutation ($input: RotateApiKeyInput!) { rotateApiKey(input: $input) { secret apiKey { id permission ' +
      'accountId expiresAt } } }',
    { input: { id, ...(graceSeconds !== undefined && { graceSeconds }) } },
  );
const revoke = (me: Speaker, id: string) =>
  me.graph('mutation ($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { id revokedAt } } }', {
    input: { id },
  });
const keyOf = async (me: Speaker, id: string) =>
  (await me.graph('query ($id: ID!) { apiKey(id: $id) { id permission expiresAt revokedAt lastUsedAt } }', { id })).body
    .data.apiKey;
const listed = async (me: Speaker, args = '') => {
  const reply = await me.graph(`{ apiKeys(first: 100${args}) { nodes { id } } }`);
  return reply.body.data.apiKeys.nodes.map(({ id }: { id: string }) => id).sort() as string[];
};
const ownKeyId = async (me: Speaker) =>
  (await me.graph('query ($id: ID!) { apiKeys(last: 1, accountId: $id) { nodes { id } } }', { id: me.id })).body.data
    .apiKeys.nodes[0].id as string;
const outcome = (reply: Reply) =>
  [reply.body?.errors?.[0]?.extensions?.httpStatus ?? reply.status, ...new Set(reply.codes)].join(' ');
const pause = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds));

describe('an API key', () => {
  for (const edition of [1, 2] as const)
    for (const mode of ['test', 'live'] as const)
      it(`contains its mode, its tenant, randomness and a checksum: ${mode}, Edition ${edition}`, async () => {
        const [platform, direct] = await Promise.all([given.platformBoth(edition), given.directUserBoth(edition)]);
        const user = await platform[mode].connectedUser();
        const tenant = platform[mode].id.replace('account_', '');
        const [one, two] = await Promise.all([made(platform[mode]), made(platform[mode])]);
        const form = (of: string) => new RegExp(`^sk_${mode}_${of}_[0-9A-Za-z]{38}$`);
        for (const secret of [platform[mode].key, user.key, one.secret, two.secret])
          expect(secret).toMatch(form(tenant));
        expect(direct[mode].key).toMatch(form(direct[mode].id.replace('account_', '')));
        // 128 bits are 22 characters of 62; the last six are the checksum.
        const random = [platform[mode].key, user.key, one.secret, two.secret].map((secret) => secret.slice(-38, -6));
        expect(new Set(random).size).toBe(4);
        expect(new Set(random.join('')).size).toBeGreaterThan(40);
      });

  it('is shown with its fields, and its secret once', async () => {
    const me = await given.directUser(1);
    const { secret, apiKey } = await made(me, { permission: 'READ', expiresInSeconds: 3600 });
    expect(apiKey).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      livemode: false,
      accountId: me.id,
      permission: 'READ',
      prefix: expect.stringMatching(/^sk_test_/),
      expiresAt: new Date(Date.parse(apiKey.created) + 3_600_000).toISOString().replace('.000Z', 'Z'),
      revokedAt: null,
      lastUsedAt: null,
      account: { id: me.id },
    });
    // Enough to distinguish keys on a screen, and too little to guess the rest of one.
    expect(apiKey.prefix.length).toBeLessThan(20);
    expect(secret.slice(-38, -6)).not.toContain(apiKey.prefix.slice(-4));
    const shown = await Promise.all([
      me.graph('{ apiKeys { nodes { id prefix account { id apiKeys { nodes { id prefix } } } } } }'),
      me.graph('query ($id: ID!) { apiKey(id: $id) { id prefix } node(id: $id) { ... on ApiKey { id prefix } } }', {
        id: apiKey.id,
      }),
    ]);
    for (const { text, codes } of shown) {
      expect(codes).toEqual([]);
      expect(text).toContain(apiKey.prefix);
      expect(text).not.toContain(secret.slice(-38));
    }
  });

  // Every parameter has a default: the acting account, full, never.
  it('is created from an empty input, with permission full and without an expiry', async () => {
    const me = await given.directUser(1);
    const reply = await create(me, {});
    expect(reply.codes).toEqual([]);
    const { apiKey } = reply.body.data.createApiKey;
    expect([apiKey.accountId, apiKey.permission, apiKey.expiresAt]).toEqual([me.id, 'FULL', null]);
  });

  it('cannot have an expiry or a grace period out of bounds', async () => {
    const me = await given.directUser(1);
    const id = await ownKeyId(me);
    const replies = await Promise.all([
      create(me, { expiresInSeconds: 0 }),
      create(me, { expiresInSeconds: -1 }),
      rotate(me, id, -1),
      rotate(me, id, 365 * 24 * 3600),
    ]);
    expect(replies.map((reply) => [outcome(reply), reply.fieldNames])).toEqual([
      ['400 parameter_invalid', ['api_key.expires_in_seconds']],
      ['400 parameter_invalid', ['api_key.expires_in_seconds']],
      ['400 parameter_invalid', ['api_key.grace_seconds']],
      ['400 parameter_invalid', ['api_key.grace_seconds']],
    ]);
    expect(await listed(me)).toEqual([id]);
  });

  it('creates and replaces only keys that end no later than itself', async () => {
    const me = await given.directUser(1);
    const { secret, apiKey } = await made(me, { permission: 'FULL', expiresInSeconds: 600 });
    const short = me.using(secret);
    const own = await ownKeyId(me);
    const refused = await Promise.all([create(short), create(short, { expiresInSeconds: 700 }), rotate(short, own)]);
    expect(refused.map((reply) => [outcome(reply), reply.fieldNames])).toEqual([
      ['400 parameter_invalid', ['api_key.expires_in_seconds']],
      ['400 parameter_invalid', ['api_key.expires_in_seconds']],
      ['403 permission_denied', ['api_key.id']],
    ]);
    expect(refused[0]!.body.errors[0].message).toMatch(/from 1 to (\d{3}), because the key of the request ends then/);
    expect(await listed(me)).toEqual([own, apiKey.id].sort());
    const shorter = await made(short, { expiresInSeconds: 60 });
    const turned = (await rotate(short, apiKey.id)).body.data.rotateApiKey;
    expect(Date.parse(shorter.apiKey.expiresAt)).toBeLessThan(Date.parse(apiKey.expiresAt));
    expect(turned.apiKey.expiresAt).toBe(apiKey.expiresAt);
    expect((await revoke(short, own)).codes).toEqual([]);
  });

  it('is accepted as Bearer and as the username of HTTP Basic, in any case of the scheme', async () => {
    const me = await given.directUser(1);
    const basic = (text: string) => Buffer.from(text).toString('base64');
    const ways = [
      `Bearer ${me.key}`,
      `bearer ${me.key}`,
      `Basic ${basic(`${me.key}:`)}`,
      `basic ${basic(`${me.key}:`)}`,
    ];
    const replies = await Promise.all(
      ways.flatMap((authorization) => [
        me.get('/v1/accounts', { authorization }),
        me.graph('{ viewer { edition } }', {}, { authorization }),
      ]),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const wrong = await me.get('/v1/accounts', { authorization: `Basic ${basic(`${me.key}:password`)}` });
    expect([wrong.status, wrong.codes]).toEqual([401, ['api_key_invalid']]);
  });
});

describe('a mistyped key', () => {
  let app: Awaited<ReturnType<typeof gateway>>;
  let origin: string;
  let database: Database;
  // A gateway without a database: its responses prove that no query was needed.
  beforeAll(async () => {
    const nowhere = { host: '127.0.0.1', port: 1, username: 'nobody', database: 'nowhere' };
    database = new Database(nowhere, undefined, { pools: hastyPools });
    app = await gateway({
      config: config({ serves: true }, { PORT: '0' }),
      database,
      schema: buildGraph(),
      pepper: world.pepper,
      log: pino({ level: 'silent' }),
    });
    origin = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    await app.close();
    await database.close();
  });

  it('is refused without a database query, for a typing error at any position', async () => {
    const { key } = await given.directUser(1);
    const mistypings = [...key].flatMap((character, i) => {
      const wrong = character === 'a' ? 'b' : 'a';
      const replaced = key.slice(0, i) + wrong + key.slice(i + 1);
      const swapped = key.slice(0, i) + (key[i + 1] ?? '') + character + key.slice(i + 2);
      const cased =
        key.slice(0, i) +
        (character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase()) +
        key.slice(i + 1);
      const doubled = key.slice(0, i) + character + key.slice(i);
      const dropped = key.slice(0, i) + key.slice(i + 1);
      return [replaced, swapped, cased, doubled, dropped];
    });
    const others = [
      key.replace('sk_test_', 'sk_live_'),
      key.replace(/_[0-9a-f]{32}_/, `_${'0'.repeat(32)}_`),
      key.slice(0, -6),
      `${key}x`,
      'sk_test_',
      'nonsense',
    ];
    const mistyped = [...new Set([...mistypings, ...others])].filter((text) => text !== key);
    expect(mistyped.length).toBeGreaterThan(300);
    const me = new Speaker({ ...world, origin }, '', key, 1);
    const replies = await Promise.all(mistyped.map((text) => me.using(text).get('/v1/accounts')));
    expect(replies.map(outcome)).toEqual(mistyped.map(() => '401 api_key_invalid'));
    const graph = await me.using(mistyped[0]!).graph('{ viewer { edition } }');
    expect(outcome(graph)).toBe('401 api_key_invalid');
  });

  // Proves that the refusals above need no database: this request needs one.
  it('is the only one: a well-formed key needs the database', async () => {
    const { key } = await given.directUser(1);
    const reply = await new Speaker({ ...world, origin }, '', key, 1).get('/v1/accounts');
    expect([reply.status, reply.codes]).toEqual([503, ['service_unavailable']]);
  });

  it('cannot be distinguished from a key of another deployment', async () => {
    const { key } = await given.directUser(1);
    // The same tenant and a correct checksum, but never issued: the response is that of a mistyped key.
    const body = key.slice(0, -38) + 'A'.repeat(32);
    const forged = body + checksum(body);
    const me = await given.directUser(1);
    const [unknown, mistyped] = await Promise.all([
      me.using(forged).get('/v1/accounts'),
      me.using(`${forged.slice(0, -1)}${forged.endsWith('a') ? 'b' : 'a'}`).get('/v1/accounts'),
    ]);
    expect([unknown.status, unknown.text]).toEqual([401, mistyped.text]);
    expect(checksum(key.slice(0, -6))).toBe(key.slice(-6));
  });
});

/** The CRC-32 of the preceding characters, in six digits of base 62. A client may check it before it sends a key. */
function checksum(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let out = '';
  for (let i = 0; i < 6; i++) {
    out = digits[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

describe('the secret of a key', () => {
  it('is nowhere in the database, in any form that the database alone could derive', async () => {
    const both = await given.platformBoth(1);
    const user = await both.test.connectedUser();
    const { secret, apiKey } = await made(both.live, { permission: 'READ' });
    const turned = (await rotate(both.live, apiKey.id, 60)).body.data.rotateApiKey.secret as string;
    const secrets = [both.test.key, both.live.key, user.key, secret, turned];
    await Promise.all(secrets.map((key) => both.test.using(key).get('/v1/accounts')));
    await both.live.using(turned).post('/v1/accounts', partnerBody());

    const tables =
      await world.sql`select table_name as name from information_schema.tables where table_schema = 'public'
        order by 1`;
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['account', 'api_key', 'event', 'idempotency', 'job']),
    );
    const forms = secrets.flatMap((key) => [
      key,
      // Any eight consecutive characters of the random part would help an attacker.
      ...Array.from({ length: 25 }, (_, i) => key.slice(-38 + i, -38 + i + 8)),
      ...(['hex', 'base64', 'base64url'] as const).flatMap((encoding) => [
        Buffer.from(key).toString(encoding),
        ...['sha256', 'sha512', 'sha1', 'md5'].map((name) => createHash(name).update(key).digest(encoding)),
      ]),
    ]);
    for (const { name } of tables) {
      const found = await world.sql.unsafe(
        `select form from "${name}" t, unnest($1::text[]) as form where strpos(to_jsonb(t)::text, form) > 0`,
        [forms],
      );
      expect([name, found.map(({ form }) => form)]).toEqual([name, []]);
    }
    // The database has the hash under a pepper that it does not have.
    const stored = await world.sql`select digest from api_key where account_id = any(${[both.test.id, user.id]})`;
    expect(stored.map(({ digest }) => digest).sort()).toEqual(
      secrets.map((key) => createHmac('sha256', world.pepper).update(key).digest('hex')).sort(),
    );
  });
});

describe('a key with permission read', () => {
  it('reads what a full key reads, and writes nothing', async () => {
    const both = await given.platformBoth(1);
    for (const me of [both.test, both.live]) {
      const reader = me.using((await made(me, { permission: 'READ' })).secret);
      expect((await reader.get('/v1/accounts')).text).toBe((await me.get('/v1/accounts')).text);
      const viewer = await reader.graph('{ viewer { permission account { id } } }');
      expect(viewer.body.data.viewer).toEqual({ permission: 'READ', account: { id: me.id } });
      const refused = await Promise.all([
        reader.post('/v1/accounts', partnerBody()),
        create(reader),
        create(reader, { permission: 'READ' }),
        rotate(reader, await ownKeyId(me)),
        revoke(reader, await ownKeyId(me)),
      ]);
      expect(refused.map(outcome)).toEqual(refused.map(() => '403 permission_denied'));
    }
  });

  it('keeps its permission through a rotation', async () => {
    const me = await given.directUser(1);
    const { apiKey } = await made(me, { permission: 'READ' });
    const turned = (await rotate(me, apiKey.id)).body.data.rotateApiKey;
    expect([turned.apiKey.permission, turned.apiKey.accountId]).toEqual(['READ', me.id]);
    expect(outcome(await me.using(turned.secret).post('/v1/accounts', partnerBody()))).toBe('403 permission_denied');
  });
});

describe('a key with an expiry', () => {
  it('works until then, and is refused by every gateway afterwards', async () => {
    const me = await given.directUser(1);
    const { secret, apiKey } = await made(me, { permission: 'FULL', expiresInSeconds: 12 });
    const mine = bothGateways(me.using(secret));
    expect((await mine[0]!.get('/v1/accounts')).status).toBe(200);
    // The key is used all the time, so that a gateway that caches it for too long fails the test.
    const until = Date.parse(apiKey.expiresAt) + 1_000;
    while (Date.now() < until) await Promise.all([...mine.map((key) => key.get('/v1/accounts')), pause(100)]);
    const replies = await Promise.all(mine.map((key) => key.get('/v1/accounts')));
    expect(replies.map(outcome)).toEqual(['401 api_key_invalid', '401 api_key_invalid']);
    const expired = /^The API key has expired\./;
    for (const { body } of replies) expect(body.errors[0].message).toMatch(expired);
    const graph = await mine[0]!.graph('{ viewer { mode } }');
    expect([graph.status, graph.body.errors[0].message]).toEqual([401, expect.stringMatching(expired)]);
    // A key with a wrong secret gets the error for an invalid key, and not the one for an expired key.
    const unknown = newKey('another pepper', me.id.replace('account_', ''), false).secret;
    expect((await me.using(unknown).get('/v1/accounts')).body.errors[0].message).not.toMatch(expired);
    expect((await rotate(me, apiKey.id)).codes).toEqual(['status_invalid']);
    // After it is also revoked, the error does not mention the expiry any more.
    await revoke(me, apiKey.id);
    const revoked = await me.using(secret).get('/v1/accounts');
    expect([revoked.status, revoked.body.errors[0].message]).toEqual([401, expect.not.stringMatching(expired)]);
  });
});

describe('rotating a key', () => {
  it('creates a new one at once, and keeps the old one valid for exactly the grace period', async () => {
    const me = await given.directUser(1);
    const { secret, apiKey } = await made(me);
    const old = bothGateways(me.using(secret));
    await Promise.all(old.map((key) => key.get('/v1/accounts')));
    const turned = (await rotate(me, apiKey.id, 4)).body.data.rotateApiKey;
    expect(turned.secret).not.toBe(secret);
    const fresh = bothGateways(me.using(turned.secret));
    const now = await Promise.all([...old, ...fresh].map((key) => key.post('/v1/accounts', partnerBody())));
    expect(now.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect([turned.apiKey.id === apiKey.id, turned.apiKey.expiresAt]).toEqual([false, null]);

    const { expiresAt, revokedAt } = await keyOf(me, apiKey.id);
    expect(revokedAt).toBe(null);
    const until = Date.parse(expiresAt) + 1_000;
    while (Date.now() < until) await Promise.all([...old.map((key) => key.get('/v1/accounts')), pause(40)]);
    const later = await Promise.all([...old, ...fresh].map((key) => key.get('/v1/accounts')));
    expect(later.map(({ status }) => status)).toEqual([401, 401, 200, 200]);
  });

  it('gives the new one the expiry of the old one', async () => {
    const me = await given.directUser(1);
    const { apiKey } = await made(me, { permission: 'READ', expiresInSeconds: 3_600 });
    const turned = (await rotate(me, apiKey.id, 60)).body.data.rotateApiKey.apiKey;
    expect([turned.expiresAt, turned.permission]).toEqual([apiKey.expiresAt, 'READ']);
  });

  it('keeps the old one valid for a day by default, and never beyond its expiry', async () => {
    const me = await given.directUser(1);
    const [endless, short] = await Promise.all([made(me), made(me, { expiresInSeconds: 600 })]);
    const [first] = await Promise.all([rotate(me, endless.apiKey.id), rotate(me, short.apiKey.id)]);
    const { created } = (
      await me.graph('query ($id: ID!) { apiKey(id: $id) { created } }', {
        id: first.body.data.rotateApiKey.apiKey.id,
      })
    ).body.data.apiKey;
    expect(Date.parse((await keyOf(me, endless.apiKey.id)).expiresAt) - Date.parse(created)).toBe(24 * 3_600_000);
    expect((await keyOf(me, short.apiKey.id)).expiresAt).toBe(short.apiKey.expiresAt);
  });

  it('refuses a revoked key', async () => {
    const me = await given.directUser(1);
    const { apiKey } = await made(me);
    await revoke(me, apiKey.id);
    const reply = await rotate(me, apiKey.id);
    expect([outcome(reply), reply.fieldNames]).toEqual(['400 status_invalid', ['api_key.id']]);
  });
});

describe('revoking a key', () => {
  it('takes effect within a second in every gateway, if revoked through any, under constant use', async () => {
    for (const position of [0, 1]) {
      const me = await given.directUser(1);
      const { secret, apiKey } = await made(me);
      const mine = bothGateways(me.using(secret));
      const before = await Promise.all(mine.map((key) => key.get('/v1/accounts')));
      expect(before.map(({ status }) => status)).toEqual([200, 200]);
      const reply = await revoke(bothGateways(me)[position]!, apiKey.id);
      const until = Date.now() + 1_000;
      expect(reply.codes).toEqual([]);
      // Constant requests, so that a cache entry that is extended by use would be noticed.
      while (Date.now() < until) await Promise.all([...mine.map((key) => key.get('/v1/accounts')), pause(20)]);
      const after = await Promise.all(
        mine.flatMap((key) => [
          key.get('/v1/accounts'),
          key.post('/v1/accounts', partnerBody()),
          key.graph('{ viewer { edition } }'),
        ]),
      );
      expect(after.map(outcome)).toEqual(after.map(() => '401 api_key_invalid'));
      expect((await me.get('/v1/accounts')).status).toBe(200);
    }
  });

  it('takes effect within a second on an open connection, where each key is checked separately', async () => {
    const [me, friend] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const { secret, apiKey } = await made(me);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connections = new Set<number | undefined>();
    const asked = (key: string) =>
      new Promise<string>((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}`, 'x-forwarded-proto': 'https' };
        httpGet(`${world.origin}/v1/balance`, { agent, headers }, (reply) => {
          connections.add(reply.socket.localPort);
          let text = '';
          reply.on('data', (part) => (text += part));
          reply.on('end', () => resolve(JSON.parse(text).account_id ?? JSON.parse(text).errors[0].code));
        }).on('error', reject);
      });
    try {
      for (let i = 0; i < 2; i++) {
        expect([await asked(secret), await asked(friend.key)]).toEqual([me.id, friend.id]);
        expect(await asked(`${secret.slice(0, -1)}-`)).toBe('api_key_invalid');
      }
      expect((await revoke(me, apiKey.id)).codes).toEqual([]);
      const until = Date.now() + 1_000;
      while (Date.now() < until) await Promise.all([asked(secret), pause(20)]);
      expect([await asked(secret), await asked(friend.key)]).toEqual(['api_key_invalid', friend.id]);
      expect(connections.size).toBe(1);
    } finally {
      agent.destroy();
    }
  });

  it("returns the same when it is repeated, and may revoke the caller's own key", async () => {
    const me = await given.directUser(1);
    const { secret, apiKey } = await made(me);
    const mine = me.using(secret);
    const first = (await revoke(mine, apiKey.id)).body.data.revokeApiKey.apiKey;
    expect([first.id, Date.parse(first.revokedAt) > 0]).toEqual([apiKey.id, true]);
    await eventually(
      () => mine.get('/v1/accounts'),
      (reply) => reply.status === 401,
    );
    expect((await revoke(me, apiKey.id)).body.data.revokeApiKey.apiKey).toEqual(first);
  });
});

describe('the keys that an account can manage', () => {
  const roots: [Edition, 'test' | 'live'][] = [
    [1, 'test'],
    [1, 'live'],
    [2, 'test'],
    [2, 'live'],
  ];
  for (const [edition, mode] of roots)
    it(`are a platform's own and those of its connected users, in its mode: ${mode}, Edition ${edition}`, async () => {
      const both = await given.platformBoth(edition);
      const me = both[mode];
      const away = both[mode === 'test' ? 'live' : 'test'];
      const [user, sibling, outsider] = await Promise.all([
        me.connectedUser(),
        me.connectedUser(),
        given.platformBoth(edition),
      ]);
      const strange = await outsider[mode].connectedUser();
      const theirs = await made(me, { accountId: user.id, permission: 'READ' });
      expect([theirs.apiKey.accountId, theirs.apiKey.livemode]).toEqual([user.id, mode === 'live']);
      expect(theirs.secret).toMatch(new RegExp(`^sk_${mode}_`));
      // The key belongs to the user, so its acting account is the user and not the platform.
      const reader = user.using(theirs.secret);
      expect((await reader.get('/v1/accounts')).body.data.map(({ id }: { id: string }) => id)).toEqual([user.id]);
      expect(outcome(await reader.get(`/v1/accounts/${me.id}`))).toBe('404 resource_missing');

      const [first, siblings, own] = await Promise.all([ownKeyId(user), ownKeyId(sibling), ownKeyId(me)]);
      expect(await listed(me)).toEqual([own, first, siblings, theirs.apiKey.id].sort());
      expect(await listed(me, `, accountId: "${user.id}"`)).toEqual([first, theirs.apiKey.id].sort());
      expect(await listed(me.actingFor(user.id))).toEqual([first, theirs.apiKey.id].sort());
      expect(await listed(user)).toEqual([first, theirs.apiKey.id].sort());
      expect(await listed(away)).toEqual([await ownKeyId(away)]);

      const turned = (await rotate(me, first, 3600)).body.data.rotateApiKey;
      expect(turned.apiKey.accountId).toBe(user.id);
      expect((await user.using(turned.secret).get('/v1/accounts')).status).toBe(200);
      expect((await revoke(me, theirs.apiKey.id)).codes).toEqual([]);

      // Keys of other tenants, of siblings, of the platform and of the other mode do not exist for the caller.
      const [outsiders, awayKey] = await Promise.all([ownKeyId(strange), ownKeyId(away)]);
      const missing = await Promise.all([
        create(me, { accountId: strange.id }),
        create(me, { accountId: outsider[mode].id }),
        rotate(me, outsiders),
        revoke(me, outsiders),
        rotate(me, awayKey),
        revoke(me, awayKey),
        rotate(away, first),
        revoke(away, first),
        create(away, { accountId: user.id }),
        create(user, { accountId: me.id }),
        create(user, { accountId: sibling.id }),
        rotate(user, siblings),
        revoke(user, siblings),
        rotate(user, own),
        revoke(user, own),
        revoke(me.actingFor(user.id), siblings),
        revoke(me.actingFor(user.id), own),
      ]);
      expect(missing.map(outcome)).toEqual(missing.map(() => '404 resource_missing'));
      for (const [owner, id] of [
        [strange, outsiders],
        [away, awayKey],
        [sibling, siblings],
        [me, own],
      ] as const)
        expect(await keyOf(owner, id)).toMatchObject({ id, expiresAt: null, revokedAt: null });
    });

  it('are never those of a partner, for every caller', async () => {
    const [platform, direct] = await Promise.all([given.platform(1), given.directUser(1)]);
    const user = await platform.connectedUser();
    const [ofPlatform, ofUser, ofDirect] = await Promise.all([platform, user, direct].map((owner) => owner.partner()));
    const replies = await Promise.all([
      create(platform, { accountId: ofPlatform.id }),
      create(platform, { accountId: ofUser.id }),
      create(user, { accountId: ofUser.id }),
      create(direct, { accountId: ofDirect.id }),
      create(platform.actingFor(user.id), { accountId: ofUser.id }),
    ]);
    expect(replies.map((reply) => [outcome(reply), reply.fieldNames])).toEqual(
      replies.map(() => ['400 account_type_invalid', ['api_key.account_id']]),
    );
    const rows =
      await world.sql`select id from api_key where account_id = any(${[ofPlatform.id, ofUser.id, ofDirect.id]})`;
    expect(rows).toEqual([]);
  });

  it('are those of the acting account by default, when a platform acts for it', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const { apiKey, secret } = await made(platform.actingFor(user.id));
    expect(apiKey.accountId).toBe(user.id);
    // A key of the user has the user's permissions, not those of the platform that created it.
    const viewer = await user.using(secret).graph('{ viewer { onBehalf account { id } } }');
    expect(viewer.body.data.viewer).toEqual({ onBehalf: false, account: { id: user.id } });
    expect(
      outcome(
        await user.using(secret).graph('mutation { createConnectedUser(input: { nickname: "x" }) { account { id } } }'),
      ),
    ).toBe('403 permission_denied');
  });

  it('have the time of their last use, if they were used', async () => {
    const me = await given.directUser(1);
    const [used, idle] = await Promise.all([made(me), made(me)]);
    const before = Math.floor(Date.now() / 1000) * 1000;
    expect((await me.using(used.secret).get('/v1/accounts')).status).toBe(200);
    const { lastUsedAt } = await eventually(
      () => keyOf(me, used.apiKey.id),
      (key) => key.lastUsedAt !== null,
    );
    expect(Date.parse(lastUsedAt)).toBeGreaterThanOrEqual(before - 1_000);
    expect(Date.parse(lastUsedAt)).toBeLessThanOrEqual(Date.now() + 1_000);
    expect((await keyOf(me, idle.apiKey.id)).lastUsedAt).toBe(null);
  });

  it('belong to the account that each was created for, also under concurrent use', async () => {
    const me = await given.directUser(1);
    const keys = await Promise.all(Array.from({ length: 8 }, () => made(me)));
    const viewers = await Promise.all(
      keys.flatMap(({ secret }) =>
        bothGateways(me.using(secret)).map((key) => key.graph('{ viewer { account { id } } }')),
      ),
    );
    expect(viewers.map(({ body }) => body.data.viewer.account.id)).toEqual(viewers.map(() => me.id));
    expect(new Set(keys.map(({ secret }) => secret)).size).toBe(8);
  });
});
