import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Attempts } from '../../src/limits/attempts.js';
import { eventually, givenIn, type Reply, Speaker, tenantOf, useWorld } from '../support/world.js';

const burst = 3_000;
const environment = {
  RATE_LIMIT: 'enforce',
  RATE_LIMIT_BURST: String(burst),
  RATE_LIMIT_PER_SECOND: '1',
  OPERATOR_KEY: '0123456789abcdef0123456789abcdef',
};
const world = useWorld({ worker: false, environment });
const given = givenIn(world);

const heavy = '{ __schema { __typename } accounts(first: 100) { nodes { id } } }';
const revokeKey = 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id revokedAt } } }';
const revokeSession = 'mutation ($input: RevokeSessionInput!) { revokeSession(input: $input) { session { id } } }';
const rotateKey = 'mutation ($id: ID!) { rotateApiKey(input: { id: $id }) { secret apiKey { id } } }';

/** Uses up what a sender may use of its allowance. */
async function drained(speaker: Speaker): Promise<void> {
  for (let i = 0; i < 20; i++) if ((await speaker.graph(heavy)).status === 429) break;
  await eventually(
    () => speaker.graph('{ viewer { mode } }'),
    ({ status }) => status === 429,
  );
}

/** Sets a root account's allowance to zero, so that nothing is kept for anybody. */
async function emptied(speaker: Speaker): Promise<void> {
  await drained(speaker);
  await world.sql`update allowance
    set full_at = (date_part('epoch', clock_timestamp()) * 1000000)::bigint + ${burst}::bigint * 1000000
    where tenant_id = ${tenantOf(speaker)}`;
  await eventually(
    async () => (await Promise.all([speaker, await keyOf(speaker)].map((each) => each.get('/v1/balance')))).at(-1)!,
    ({ status }) => status === 429,
  );
}

/** Keys that were made before the allowance was used up. */
const spare = new Map<string, Speaker[]>();
const keyOf = async (speaker: Speaker) => spare.get(speaker.id)!.at(-1)!;

async function keys(user: Speaker, count: number): Promise<{ id: string; secret: string }[]> {
  const made = [];
  for (let i = 0; i < count; i++) {
    const reply = await user.graph('mutation { createApiKey(input: {}) { secret apiKey { id } } }');
    const { secret, apiKey } = reply.body.data.createApiKey;
    made.push({ id: apiKey.id as string, secret: secret as string });
  }
  spare.set(
    user.id,
    made.map(({ secret }) => user.using(secret)),
  );
  return made;
}

const statusOf = ({ status, codes }: Reply) => [status, ...codes];

describe('the last tenth of an allowance', () => {
  it('is for senders that have not spent it: keys, sessions and connected users', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [other] = await keys(platform, 1);
    const made = await platform.post('/v1/sessions', { role: 'read' });
    const session = platform.using(made.body.token);
    await drained(platform);
    expect(statusOf(await platform.get('/v1/accounts'))).toEqual([429, 'rate_limit_exceeded']);
    for (const sender of [user, platform.using(other!.secret), session]) {
      expect(statusOf(await sender.get('/v1/accounts'))).toEqual([200]);
      // No sender may use more than this part either.
      expect(statusOf(await sender.graph(heavy))).toEqual([429, 'rate_limit_exceeded']);
    }
    // Acting for another account does not make another sender.
    expect((await platform.actingFor(user.id).get('/v1/accounts')).status).toBe(429);
  });

  it('is kept from a session, and from all keys of a connected user together', async () => {
    const platform = await given.platform(1);
    const [a, b] = [await platform.connectedUser(), await platform.connectedUser()];
    const [second] = await keys(a, 1);
    await drained(a);
    expect((await a.using(second!.secret).get('/v1/accounts')).status).toBe(429);
    for (const sender of [platform, b]) expect((await sender.get('/v1/accounts')).status).toBe(200);

    const user = await given.directUser(1);
    const made = await user.post('/v1/sessions', { role: 'read' });
    const session = user.using(made.body.token);
    await drained(session);
    expect((await user.get('/v1/accounts')).status).toBe(200);
  });

  it('is kept on all gateways, whichever of them the sender has used', async () => {
    const user = await given.directUser(1);
    const [other] = await keys(user, 1);
    const origin = await world.another();
    const elsewhere = async (key: string) =>
      (await fetch(`${origin}/v1/accounts`, { headers: { authorization: `Bearer ${key}` } })).status;
    await drained(user);
    for (let refused = 0; refused < 3; ) if ((await elsewhere(user.key)) === 429) refused++;
    expect(await elsewhere(other!.secret)).toBe(200);
    expect((await user.using(other!.secret).get('/v1/accounts')).status).toBe(200);
    const [row] = await world.sql`select spent from allowance where tenant_id = ${tenantOf(user)}`;
    expect(Object.values(row!.spent as Record<string, number>)[0]).toBeGreaterThan(burst / 2);
  });
});

describe('with an empty allowance', () => {
  it('keys and sessions are revoked over both APIs, and charged afterwards', async () => {
    const user = await given.directUser(1);
    const [first, , third] = await keys(user, 3);
    const sessions = [];
    for (let i = 0; i < 3; i++) sessions.push((await user.post('/v1/sessions', { role: 'read' })).body);
    await emptied(user);
    const revoked = [
      await user.graph(revokeKey, { id: first!.id }),
      await user.graph(revokeSession, { input: { id: sessions[0].id } }),
      await user.post(`/v1/sessions/${sessions[1].id}/revoke`),
      await user.graph(`mutation { a: revokeSession(input: { id: "${sessions[2].id}" }) { session { id } } }`),
    ];
    for (const reply of revoked) expect(statusOf(reply)).toEqual([200]);
    expect(revoked[0]!.cost).toMatchObject({ requested: 61, actual: 61, remaining: 0 });
    for (const key of [first!.secret, ...sessions.map(({ token }) => token)])
      await eventually(
        () => user.using(key).get('/v1/accounts'),
        ({ status }) => status === 401,
      );
    // The key that everything was drained by ends itself.
    const own = await user.graph(revokeKey, { id: await idOf(user) });
    expect(statusOf(own)).toEqual([200]);
    expect((await user.using(third!.secret).graph('{ viewer { mode } }')).status).toBe(429);
  });

  it('the cost of what was revoked is a debt of the allowance', async () => {
    const user = await given.directUser(1);
    const made = await keys(user, 5);
    const origin = await world.another();
    const elsewhere = user.at(origin);
    await emptied(user);
    for (const { id } of made) expect(statusOf(await elsewhere.graph(revokeKey, { id }))).toEqual([200]);
    await world.apps.at(-1)!.close();
    const [row] = await world.sql`
      select (full_at - extract(epoch from clock_timestamp()) * 1000000) / 1000000 as points
      from allowance where tenant_id = ${tenantOf(user)}`;
    expect(Number(row!.points)).toBeGreaterThan(burst + 5 * 61 - 250);
  });

  const mixed: [what: string, document: string][] = [
    ['a field that creates', `mutation ($id: ID!) { ${one('$id')} createApiKey(input: {}) { secret } }`],
    [
      'the objects around a key',
      `mutation ($id: ID!) { ${one('$id', 'account { apiKeys(first: 20) { nodes { id } } }')} }`,
    ],
    ['a figure', `mutation ($id: ID!) { ${one('$id', 'account { statusCounts { deposits { total } } }')} }`],
    ['the reads of a fragment', `mutation ($id: ID!) { ...F } fragment F on Mutation { ${one('$id')} }`],
    [
      'a field below a directive',
      `mutation ($id: ID!) { ${one('$id')} createApiKey(input: {}) @skip(if: true) { secret } }`,
    ],
    [
      'more than ten',
      `mutation ($id: ID!) { ${Array.from({ length: 11 }, (_, i) => `a${i}: ${one('$id')}`).join(' ')} }`,
    ],
    ['another operation', `mutation A($id: ID!) { ${one('$id')} } query B { viewer { mode } }`],
    ['a query', '{ viewer { mode } } #mutation revokeApiKey'],
    ['a field that does not exist', `mutation ($id: ID!) { ${one('$id', 'nothing')} }`],
    // The work for its fragments would double with each level.
    [
      'fragments with a directive on each of their spreads',
      `mutation ($id: ID!) { ${one('$id')} ...F0@a } ${Array.from(
        { length: 36 },
        (__, i) => `fragment F${i} on Mutation { ...F${i + 1} ...F${i + 1} }`,
      ).join(' ')}`,
    ],
    ['much text', `mutation ($id: ID!) { ${one('$id')} } #${'x'.repeat(5_000)}`],
    ['very much text', `mutation ($id: ID!) { ${one('$id')} } #${'x'.repeat(9_000)}`],
  ];
  it('a document that does more than to end keys is refused, and ends none', async () => {
    const user = await given.directUser(1);
    const [made] = await keys(user, 1);
    await emptied(user);
    for (const [what, query] of mixed) {
      const operationName = what === 'another operation' ? 'B' : undefined;
      const reply = await user.post('/graphql', { query, variables: { id: made!.id }, operationName });
      expect([what, ...statusOf(reply)]).toEqual([what, 429, 'rate_limit_exceeded']);
    }
    expect(statusOf(await user.post('/graphql', '{ no JSON'))).toEqual([429, 'rate_limit_exceeded']);
    expect(statusOf(await user.post('/v1/sessions', { role: 'read' }))).toEqual([429, 'rate_limit_exceeded']);
    const [row] = await world.sql`select revoked_at from api_key where id = ${made!.id}`;
    expect(row!.revoked_at).toBeNull();
    expect(statusOf(await user.graph(revokeKey, { id: made!.id }))).toEqual([200]);
  });

  it('a key that may not end itself has no more tries for it than for others', async () => {
    const platform = await given.platform(1);
    const connected = await platform.connectedUser();
    const made = await platform.graph(
      'mutation { createApiKey(input: { permission: READ }) { secret apiKey { id } } }',
    );
    const { secret, apiKey } = made.body.data.createApiKey;
    const own = await idOf(platform);
    await keys(platform, 1);
    await emptied(platform);
    for (const sender of [platform.using(secret), platform.actingFor(connected.id)]) {
      const id = sender.key === platform.key ? own : apiKey.id;
      let answered = 0;
      while ((await sender.graph(revokeKey, { id })).status !== 429) expect(++answered).toBeLessThan(200);
    }
  });

  it('revocations that end nothing are bounded for their sender, and keep nobody from ending a key', async () => {
    const user = await given.directUser(1);
    const [first, second, third] = await keys(user, 3);
    await emptied(user);
    const key = { 'idempotency-key': randomUUID() };
    expect(statusOf(await user.graph(revokeKey, { id: first!.id }, key))).toEqual([200]);
    const tries: (() => Promise<Reply>)[] = [
      () => user.graph(revokeKey, { id: 'key_x' }),
      () => user.graph(revokeKey, { id: first!.id }),
      () => user.graph(revokeKey, { id: first!.id }, key),
      () => user.graph(revokeKey, { id: second!.id }, key),
      () => user.post('/v1/sessions/session_x/revoke'),
      () => user.post('/dashboard/session/end'),
    ];
    const counts = { answered: 0, refused: 0 };
    for (let i = 0; counts.refused === 0; i++) {
      const { status } = await tries[i % tries.length]!();
      if (status === 429) counts.refused++;
      else counts.answered++;
      expect(i).toBeLessThan(200);
    }
    expect(counts.answered).toBeGreaterThanOrEqual(30);
    // Another sender has its own attempts, and a key can always end itself.
    expect(statusOf(await user.using(third!.secret).graph(revokeKey, { id: second!.id }))).toEqual([200]);
    const own = await idOf(user);
    expect(statusOf(await user.graph(`mutation { ${one(`"${own}"`)} }`))).toEqual([200]);
  });

  it('any number of keys can be ended, one after the other', async () => {
    const user = await given.directUser(1);
    const made = await keys(user, 35);
    await emptied(user);
    for (const { id } of made) expect(statusOf(await user.graph(revokeKey, { id }))).toEqual([200]);
  });

  it('a key is rotated ten times in a minute, on all gateways together', async () => {
    const user = await given.directUser(1);
    const [made] = await keys(user, 1);
    const origin = await world.another();
    await emptied(user);
    const speakers = [user, user.at(origin)];
    let id = made!.id;
    const replies: Reply[] = [];
    for (let i = 0; i < 12; i++) {
      const reply = await speakers[i % 2]!.graph(rotateKey, { id });
      id = reply.body.data?.rotateApiKey?.apiKey.id ?? id;
      replies.push(reply);
    }
    expect(replies.map(statusOf)).toEqual([
      ...Array.from({ length: 10 }, () => [200]),
      ...Array.from({ length: 2 }, () => [429, 'rate_limit_exceeded']),
    ]);
    expect(replies[0]!.cost).toMatchObject({ requested: 61, actual: 61 });
  });

  it('a person signs out of the dashboard', async () => {
    const user = await given.directUser(1);
    const made = await user.post('/dashboard/session');
    const [cookie] = made.headers.get('set-cookie')!.split(';');
    await keys(user, 1);
    await emptied(user);
    const ask = (method: string, path: string) =>
      fetch(`${world.origin}${path}`, {
        method,
        headers: {
          cookie: cookie!,
          'content-type': 'application/json',
          'sec-fetch-site': 'same-origin',
          origin: new URL(world.origin).origin,
          'x-tidegate-dashboard': '1',
        },
        ...(method === 'POST' && { body: '{}' }),
      });
    const ended = await ask('POST', '/dashboard/session/end');
    expect(ended.status).toBe(200);
    expect(ended.headers.get('set-cookie')).toMatch(/Max-Age=0/i);
    const [row] = await world.sql`select revoked_at from session where tenant_id = ${tenantOf(user)}`;
    expect(row!.revoked_at).not.toBeNull();
  });
});

describe('the attempts of a sender', () => {
  it('come back with time, and are those of this sender', () => {
    let now = 0;
    const attempts = new Attempts(() => now);
    const most = () => {
      let count = 0;
      while (attempts.claim('a', 1)) count++;
      return count;
    };
    expect(most()).toBe(30);
    expect(attempts.claim('b', 10)).toBe(true);
    expect(attempts.claim('b', 21)).toBe(false);
    attempts.giveBack('a');
    expect(most()).toBe(1);
    now += 6_000;
    expect(most()).toBe(3);
    now += 3_600_000;
    expect(most()).toBe(30);
  });
});

function one(id: string, selected = 'id'): string {
  return `revokeApiKey(input: { id: ${id} }) { apiKey { ${selected} } }`;
}

/** The id of the test key with which an account was made, without asking for it. */
async function idOf(user: Speaker): Promise<string> {
  const [row] =
    await world.sql`select id from api_key where tenant_id = ${tenantOf(user)} and not livemode order by id`;
  return row!.id as string;
}
