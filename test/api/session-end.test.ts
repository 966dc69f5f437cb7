import { createHash, createHmac } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { partnerBody } from '../support/bodies.js';
import { eventually, givenIn, Speaker, tenantOf, transports, useWorld } from '../support/world.js';
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

let other: string;
beforeAll(async () => {
  other = await world.another();
});
const pause = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds));

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
    const both = [session, session.at(other)];
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
    const session = await sessionOf(me, { expires_in: 12 });
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
