import { randomUUID } from 'node:crypto';
import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Cost } from '../../src/limits/charge.js';
import { pointsOfBytes, weights } from '../../src/types/weights.js';
import { partnerBody, pdf } from '../support/bodies.js';
import { eventually, givenIn, type Reply, type Speaker, tenantOf, useWorld } from '../support/world.js';

const burst = 3_000;
const perSecond = 10;
const environment = {
  RATE_LIMIT: 'enforce',
  RATE_LIMIT_BURST: String(burst),
  RATE_LIMIT_PER_SECOND: String(perSecond),
  OPERATOR_KEY: '0123456789abcdef0123456789abcdef',
};
const world = useWorld({ worker: false, environment });
const given = givenIn(world);
const read = weights.request + weights.object;

/** The value of the header RateLimit. */
function left({ headers }: Pick<Reply, 'headers'>): { remaining: number; reset: number } {
  const [, remaining, reset] = /^"points";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
  return { remaining: Number(remaining), reset: Number(reset) };
}

/** The most points that may have come back since a time. */
const restoredSince = (start: number): number => Math.ceil(((performance.now() - start) / 1_000) * perSecond);

/** Uses up an allowance; returns the first refusal. */
async function exhausted(speaker: Speaker): Promise<Reply> {
  const heavy =
    '{ a: deposits(first: 100) { totalCount } b: deposits(first: 100) { totalCount } __schema { __typename } }';
  for (let i = 0; i < 50; i++) if ((await speaker.graph(heavy)).status === 429) break;
  for (;;) {
    const reply = await speaker.get('/v1/balance');
    if (reply.status !== 200) return reply;
  }
}

describe('the contract of a caller', () => {
  it('costs as much as a file of its size, and that of everyone nothing', async () => {
    const user = await given.directUser(1);
    const start = performance.now();
    const before = left(await user.get('/v1/balance')).remaining;
    const reply = await user.get('/openapi.json');
    const cost = weights.request + pointsOfBytes(Buffer.byteLength(reply.text));
    const taken = before - left(reply).remaining;
    expect(taken).toBeLessThanOrEqual(cost);
    expect(taken).toBeGreaterThanOrEqual(cost - restoredSince(start));
    expect((await fetch(`${world.origin}/openapi.json`)).headers.get('ratelimit')).toBeNull();
    const last = await exhausted(user);
    expect([last.status, (await user.get('/openapi.json')).status]).toEqual([429, 429]);
  });
});

describe('an answer', () => {
  const balance = 'query Balance($id: ID!) { account(id: $id) { balance { available { amount } } owner { id } } }';
  const cases: [what: string, ask: (user: Speaker) => Promise<Reply>, status: number, requested: number][] = [
    ['a query', (user) => user.graph(balance, { id: user.id }), 200, 10 + 1 + 1 + 1],
    ['a query that finds nothing', (user) => user.graph(balance, { id: 'account_x' }), 200, 10 + 3],
    ['introspection', (user) => user.graph(getIntrospectionQuery()), 200, 10 + 500],
    ['a mutation', (user) => user.graph('mutation { createApiKey(input: {}) { secret } }'), 200, 60],
    ['no document', (user) => user.post('/graphql', {}), 400, 10],
    ['a document that cannot be parsed', (user) => user.graph('{'), 400, 10],
    ['a document that is not valid', (user) => user.graph('{ nothing }'), 400, 10],
    ['too many nodes', (user) => user.graph(tooLarge), 400, 10],
    ['an operation that does not exist', (user) => user.post('/graphql', { query: two, operationName: 'C' }), 400, 10],
    ['a body that is no JSON', (user) => user.post('/graphql', '{'), 400, 10],
    ['a media type that is not ours', (user) => user.graph('{ viewer { mode } }', {}, { accept: 'text/css' }), 406, 10],
  ];
  const two = 'query A { viewer { mode } } query B { viewer { mode } }';
  const page = (inner: string) => `deposits(first: 100) { nodes { toAccount { ${inner} } } }`;
  const inner = 'fromAccount { depositsIn(first: 100) { nodes { id } } }';
  const tooLarge = `{ ${page(`depositsIn(first: 100) { nodes { ${inner} } }`)} }`;
  it.each(cases)('of GraphQL reports its cost, the first time and later: %s', async (_, ask, status, requested) => {
    const user = await given.directUser(1);
    const costs: Cost[] = [];
    for (let i = 0; i < 4; i++) {
      const reply = await ask(user);
      expect([reply.status, reply.cost?.requested]).toEqual([status, requested]);
      const { remaining, reset } = left(reply);
      expect(reply.cost).toMatchObject({ limit: burst, restoreRate: perSecond, remaining, resetSeconds: reset });
      expect(reply.headers.get('ratelimit-policy')).toBe(`"points";q=${burst};w=${burst / perSecond}`);
      costs.push(reply.cost!);
    }
    // A document is executed by Apollo, by the cache and by one statement in turn: each counts the same.
    expect(new Set(costs.map(({ actual }) => actual)).size).toBe(1);
    expect(costs[0]!.actual).toBeLessThanOrEqual(costs[0]!.requested);
  });

  it('costs what it has, and the rest is given back', async () => {
    const user = await given.directUser(1);
    const query = '{ accounts(first: 100) { nodes { id owner { id } } totalCount } }';
    await user.partner();
    await user.partner();
    const start = performance.now();
    const before = left(await user.get(`/v1/accounts/${user.id}`)).remaining;
    const { cost } = await user.graph(query);
    expect(cost).toMatchObject({ requested: 10 + 100 + 100 + 100, actual: 10 + 3 + 2 + 1 });
    expect(before - cost!.remaining).toBeLessThanOrEqual(cost!.actual);
    expect(before - cost!.remaining).toBeGreaterThanOrEqual(cost!.actual - restoredSince(start));
  });

  it('of /v1 has the headers, and costs its request, its objects and its write', async () => {
    const user = await given.directUser(1);
    const start = performance.now();
    const first = await user.get(`/v1/accounts/${user.id}`);
    const { remaining, reset } = left(first);
    expect(first.status).toBe(200);
    expect(burst - remaining).toBeLessThanOrEqual(read);
    expect(burst - remaining).toBeGreaterThanOrEqual(read - restoredSince(start));
    expect(reset).toBe(Math.ceil((burst - remaining) / perSecond));
    expect(first.headers.get('ratelimit-policy')).toBe(`"points";q=${burst};w=${burst / perSecond}`);
    const made = await user.post('/v1/accounts', partnerBody());
    expect(made.status).toBe(200);
    expect(burst - left(made).remaining).toBeGreaterThanOrEqual(read + 61 - restoredSince(start));
    const missing = await user.get('/v1/accounts/account_x');
    const unknown = await user.get('/v1/accounts?limit=x');
    expect([missing.status, unknown.status]).toEqual([404, 400]);
    for (const reply of [missing, unknown]) expect(left(reply).remaining).toBeGreaterThan(0);
  });

  it('of /v1 with the bytes of a file costs a point for each 2 KiB', async () => {
    const user = await given.directUser(1);
    const content = new Uint8Array(Buffer.concat([pdf, Buffer.alloc(1_000_000)]));
    const bytes = weights.figure + Math.floor(content.length / 2_048);
    const start = performance.now();
    const before = await user.get(`/v1/accounts/${user.id}`);
    const made = await user.upload('invoice', content);
    const path = `/v1/files/${made.body.id}/content`;
    const authorization = `Bearer ${user.key}`;
    const head = await fetch(`${world.origin}${path}`, { method: 'HEAD', headers: { authorization } });
    const replies = [before, made, head, await user.get(path)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const prices = [read + weights.write + bytes, read, read + bytes];
    for (const [i, price] of prices.entries()) {
      const taken = left(replies[i]!).remaining - left(replies[i + 1]!).remaining;
      expect(taken).toBeLessThanOrEqual(price);
      // Points come back meanwhile, also on a busy machine.
      expect(taken).toBeGreaterThanOrEqual(price - restoredSince(start));
    }
  });

  it.each([
    ['the operator', '/operator/graphql', { authorization: `Bearer ${environment.OPERATOR_KEY}` }],
    ['a probe', '/healthz', {}],
    ['the explorer', '/graphiql', {}],
    ['a payment page', '/checkout/x', {}],
    ['a wrong key', '/v1/accounts', { authorization: 'Bearer sk_test_x' }],
  ])('to %s is not charged', async (_, path, headers) => {
    const post = path.startsWith('/operator');
    const reply = await fetch(`${world.origin}${path}`, {
      headers: { 'content-type': 'application/json', ...headers } as Record<string, string>,
      ...(post && { method: 'POST', body: JSON.stringify({ query: '{ __typename }' }) }),
    });
    expect(reply.headers.get('ratelimit')).toBeNull();
    expect((await reply.text()).includes('"cost":{')).toBe(false);
  });
});

describe('an account that has used its allowance', () => {
  it('is refused with the time to wait, in the form of each API, before its body is read', async () => {
    const user = await given.directUser(1);
    const refused = await exhausted(user);
    expect([refused.status, refused.codes]).toEqual([429, ['rate_limit_exceeded']]);
    expect(refused.body).toMatchObject({ object: 'error', http_status_code: 429 });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(2);
    for (const reply of [
      await user.graph('{ deposits(first: 100) { nodes { id } } }'),
      await user.post('/graphql', '{ no JSON'),
      await user.post('/v1/accounts', '{ no JSON'),
    ]) {
      expect([reply.status, reply.codes]).toEqual([429, ['rate_limit_exceeded']]);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      // The last tenth is for other senders.
      expect(left(reply).remaining).toBeLessThan(burst / 10 + read + weights.write);
    }
  });

  it('is refused after the document is known, in the shape of GraphQL, in both ways of execution', async () => {
    const user = await given.directUser(1);
    const query = '{ accounts(first: 100) { nodes { id depositsIn(first: 20) { totalCount } } } }';
    for (let i = 0; i < 4; i++) {
      const reply = await user.graph(query);
      // 100 accounts with a page of 20 and a count each are more than any allowance holds.
      expect([reply.status, reply.codes]).toEqual([400, ['request_too_expensive']]);
      expect(reply.body.errors[0].extensions).toMatchObject({ code: 'REQUEST_TOO_EXPENSIVE', httpStatus: 400 });
    }
    const half = '{ accounts(first: 100) { nodes { partners(first: 10) { nodes { id } } } } }';
    expect((await user.graph(half)).cost).toMatchObject({ requested: 10 + 100 + 1_000, actual: 10 + 1 });
    for (let i = 0; i < 4; i++) expect((await user.graph(getIntrospectionQuery())).status).toBe(200);
    for (let i = 0; i < 4; i++) {
      const reply = await user.graph(half);
      expect([reply.status, reply.codes]).toEqual([429, ['rate_limit_exceeded']]);
      expect(reply.body.data ?? null).toBeNull();
      expect(reply.body.errors[0].extensions).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', httpStatus: 429 });
      expect(reply.cost).toMatchObject({ requested: 1_110, actual: 10 });
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(5);
    }
  });

  it('gets most of its refusals later when it does not wait, and other accounts do not', async () => {
    const [user, other] = [await given.directUser(1), await given.directUser(1)];
    await exhausted(user);
    const timed = async () => {
      const begun = performance.now();
      const { status } = await user.get('/v1/deposits');
      return { status, milliseconds: performance.now() - begun };
    };
    const began = performance.now();
    const all = Promise.all(Array.from({ length: 80 }, timed));
    expect((await other.get('/v1/deposits')).status).toBe(200);
    const refused = (await all).filter(({ status }) => status === 429);
    // Twenty are answered at once in each second: a busy machine takes several for all of them.
    const seconds = Math.ceil((performance.now() - began) / 1_000) + 1;
    const later = refused.filter(({ milliseconds }) => milliseconds >= 740);
    expect(later.length).toBeGreaterThanOrEqual(refused.length - 20 * seconds);
  });

  it('has stored nothing, and the same request with the same key succeeds later', async () => {
    const user = await given.directUser(1);
    await exhausted(user);
    const key = randomUUID();
    const body = partnerBody();
    const ask = () => user.post('/v1/accounts', body, { 'idempotency-key': key });
    expect((await ask()).status).toBe(429);
    const rows = () => world.sql`select id from account where nickname = ${body.nickname}`;
    const keys = () => world.sql`select key from idempotency where key = ${key}`;
    expect([(await rows()).length, (await keys()).length]).toEqual([0, 0]);
    const made = await eventually(ask, ({ status }) => status === 200);
    expect(made.headers.get('idempotent-replayed')).toBeNull();
    expect([(await rows()).length, (await keys()).length]).toEqual([1, 1]);
  });

  // The last tenth is kept for other senders: test/api/exempt.test.ts.
  it('is shared by its keys, its connected users and both APIs, and not by other accounts or modes', async () => {
    const both = await given.platformBoth(1);
    const platform = both.test;
    const user = await platform.connectedUser();
    const other = await given.platform(1);
    await exhausted(platform);
    const large = '{ accounts(first: 100) { nodes { partners(first: 4) { nodes { id } } } } }';
    expect((await user.graph(large)).status).toBe(429);
    expect((await platform.graph('{ deposits(first: 100) { nodes { id } } }')).status).toBe(429);
    expect((await platform.actingFor(user.id).get('/v1/accounts')).status).toBe(429);
    expect((await both.live.get('/v1/balance')).status).toBe(200);
    expect((await other.get('/v1/balance')).status).toBe(200);
  });
});

describe('several gateways', () => {
  it('admit together no more than the allowance, and all of it but what they hold as leases', async () => {
    const user = await given.directUser(1);
    const origins = [world.origin, await world.another(), await world.another()];
    const started = performance.now();
    let spent = 0;
    let lost = 0;
    for (const origin of origins) {
      const speaker = { ...world, origin };
      for (let refused = 0; refused < 3; ) {
        const replies = await Promise.all(
          Array.from({ length: 8 }, () =>
            fetch(`${speaker.origin}/v1/accounts/${user.id}`, { headers: { authorization: `Bearer ${user.key}` } }),
          ),
        );
        spent += read * replies.filter(({ status }) => status === 200).length;
        refused += replies.filter(({ status }) => status === 429).length;
      }
      lost += read;
    }
    const seconds = (performance.now() - started) / 1_000;
    expect(spent).toBeLessThanOrEqual(burst + seconds * perSecond);
    // One sender leaves the last tenth.
    expect(spent).toBeGreaterThan(burst - burst / 10 - lost - (origins.length * burst) / 16);
  });

  it('give back what they hold when they stop', async () => {
    const user = await given.directUser(1);
    const origin = await world.another();
    const stopping = world.apps.at(-1)!;
    const ask = () => fetch(`${origin}/v1/balance`, { headers: { authorization: `Bearer ${user.key}` } });
    expect((await ask()).status).toBe(200);
    const used = async () => {
      const [row] = await world.sql`
        select (full_at - extract(epoch from clock_timestamp()) * 1000000) * ${perSecond} / 1000000 as points
        from allowance where tenant_id = ${tenantOf(user)}`;
      return Number(row!.points);
    };
    expect(await used()).toBeGreaterThan(100);
    await stopping.close();
    // A balance is two objects: the account and its funds.
    expect(await used()).toBeLessThan(read + 2);
  });

  it('give back what a quiet account has left of a large lease', async () => {
    const user = await given.directUser(1);
    expect(
      (await user.graph('{ deposits(first: 100) { nodes { fromAccount { id } toAccount { id } } } }')).status,
    ).toBe(200);
    const used = async () => {
      const [row] = await world.sql`
        select (full_at - extract(epoch from clock_timestamp()) * 1000000) * ${perSecond} / 1000000 as points
        from allowance where tenant_id = ${tenantOf(user)}`;
      return Number(row!.points);
    };
    expect(await used()).toBeGreaterThan(300);
    await eventually(used, (points) => points < 220);
  });
});

describe('the shared row', () => {
  const take = async (tenant: string, back: number, need: number, want: number) => {
    const [row] = await world.database.call('take_allowance', [tenant, true, back, need, want, 1_000, 100]);
    return [Number(row!.granted), Number(row!.remaining)];
  };

  it('grants what there is, refuses what there is not, and is refilled by time up to its maximum', async () => {
    const tenant = randomUUID().replaceAll('-', '');
    const age = (seconds: number) =>
      world.sql`update allowance set full_at = full_at - ${seconds * 1_000_000} where tenant_id = ${tenant}`;
    expect(await take(tenant, 0, 1, 600)).toEqual([600, 400]);
    expect(await take(tenant, -3_000, 1, 1)).toEqual([0, -1_000]);
    // No debt is that long: the clock was ahead.
    await age(-1_000);
    expect(await take(tenant, 0, 1, 1)).toEqual([0, 0]);
    await age(2_000);
    expect(await take(tenant, 0, 1, 1_000)).toEqual([1_000, 0]);
    await age(5);
    const [granted, remaining] = await take(tenant, 0, 400, 450);
    expect([granted, remaining! >= 50 && remaining! < 80]).toEqual([450, true]);
    expect((await take(tenant, 0, 200, 300))[0]).toBe(0);
    expect((await take(tenant, 450, 0, 0))[1]).toBeGreaterThanOrEqual(500);
    expect((await take(tenant, -2_000, 1, 1))[0]).toBe(0);
  });

  it('never grants more than the burst and the rate allow, to callers at once', async () => {
    const tenant = randomUUID().replaceAll('-', '');
    const started = performance.now();
    const grants = await Promise.all(Array.from({ length: 60 }, () => take(tenant, 0, 1, 37)));
    const seconds = (performance.now() - started) / 1_000;
    const sum = grants.reduce((total, [granted]) => total + granted!, 0);
    expect(sum).toBeGreaterThanOrEqual(1_000);
    expect(sum).toBeLessThanOrEqual(1_000 + seconds * 100);
  });

  it('is changed in place, without a new entry in its index', async () => {
    const tenant = randomUUID().replaceAll('-', '');
    const session = await world.sql.reserve();
    const counted = async () => {
      await session`select pg_stat_force_next_flush()`;
      const [row] = await session<[{ changed: number; inPlace: number }]>`
        select n_tup_upd::int as changed, n_tup_hot_upd::int as "inPlace" from pg_stat_user_tables
        where relname = 'allowance'`;
      return row;
    };
    await take(tenant, 0, 1, 1);
    const before = await counted();
    for (let i = 0; i < 100; i++) await session`select take_allowance(${tenant}, true, 0, 1, 1, 1000, 100)`;
    const after = await counted();
    session.release();
    const changed = after.changed - before.changed;
    expect(changed).toBeGreaterThanOrEqual(100);
    // Not where a page is full of versions that an old snapshot of another session still sees.
    expect((after.inPlace - before.inPlace) / changed).toBeGreaterThan(0.9);
  });
});

describe('rateLimit', () => {
  const ask =
    'query Limit($dryRun: DryRunInput) { rateLimit(dryRun: $dryRun) { limit remaining restoreRate resetSeconds ' +
    'dryRun { requested nodes problems { code message path column } paths { path times weight cost } } } }';
  const run = async (user: Speaker, dryRun: object | null) => {
    const reply = await user.graph(ask, { dryRun });
    expect([reply.status, reply.codes]).toEqual([200, []]);
    return { ...reply.body.data.rateLimit, cost: reply.cost! };
  };

  it('reports the allowance', async () => {
    const user = await given.directUser(1);
    const sent = performance.now();
    const { cost, ...limit } = await run(user, null);
    const restored = restoredSince(sent);
    expect(limit).toMatchObject({ limit: burst, restoreRate: perSecond, dryRun: null });
    expect([cost.requested, cost.actual]).toEqual([10, 10]);
    expect(limit.remaining).toBeGreaterThanOrEqual(burst - 10);
    expect(limit.remaining).toBeLessThanOrEqual(burst - 10 + restored);
  });

  it('reports what a document would cost and why, charges nothing for it, and runs nothing', async () => {
    const user = await given.directUser(1);
    const query = `query A($n: Int) {
      accounts(first: $n) { totalCount nodes { ...F again: balance { accountId } } }
      node(id: "x") { ... on Account { id } ... on Deposit { toAccount { id } fromAccount { id } } }
    } fragment F on Account { depositsIn(first: 5) { edges { node { id } } } }
    mutation B { createApiKey(input: { accountId: "x" }) { secret apiKey { id } } }`;
    const asked = await run(user, { query, variables: { n: 7 }, operationName: 'A' });
    expect(asked.dryRun).toEqual({
      requested: 10 + 100 + 7 + 35 + 7 + 1 + 2,
      nodes: 7 + 35 + 1 + 2,
      problems: [],
      paths: [
        { path: 'accounts.totalCount', times: 1, weight: 100, cost: 100 },
        { path: 'accounts.nodes', times: 7, weight: 1, cost: 7 },
        { path: 'accounts.nodes.depositsIn.edges.node', times: 35, weight: 1, cost: 35 },
        { path: 'accounts.nodes.balance', times: 7, weight: 1, cost: 7 },
        { path: 'node', times: 1, weight: 1, cost: 1 },
        { path: 'node.toAccount', times: 1, weight: 1, cost: 1 },
        { path: 'node.fromAccount', times: 1, weight: 1, cost: 1 },
      ],
    });
    expect([asked.cost.requested, asked.cost.actual]).toEqual([20, 20]);
    const written = await run(user, { query, operationName: 'B' });
    expect(written.dryRun).toMatchObject({ requested: 10 + 50 + 1, problems: [] });
    expect(await world.sql`select id from api_key where account_id = ${user.id}`).toHaveLength(2);
    // What was foretold is what the request is charged.
    const real = await user.post('/graphql', { query, variables: { n: 7 }, operationName: 'A' });
    expect(real.cost!.requested).toBe(asked.dryRun.requested);
  });

  const page = (inner: string) => `deposits(first: 100) { nodes { toAccount { ${inner} } } }`;
  it.each([
    ['no document', { query: '' }, 'GRAPHQL_PARSE_FAILED', /Syntax Error/],
    ['a document that cannot be parsed', { query: '{' }, 'GRAPHQL_PARSE_FAILED', /Syntax Error/],
    ['too many tokens', { query: `{ ${'id '.repeat(2_000)} }` }, 'GRAPHQL_PARSE_FAILED', /1000 tokens/],
    ['an unknown field', { query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED', /Cannot query field/],
    [
      'a variable of the wrong type',
      { query: 'query ($n: Int) { deposits(first: $n) { totalCount } }', variables: { n: 'x' } },
      'BAD_USER_INPUT',
      /\$n/,
    ],
    [
      'several operations',
      { query: 'query A { viewer { mode } } query B { viewer { mode } }' },
      'OPERATION_RESOLUTION_FAILURE',
      /operationName/,
    ],
    [
      'an operation that is not there',
      { query: '{ viewer { mode } }', operationName: 'Z' },
      'OPERATION_RESOLUTION_FAILURE',
      /no operation of this name/,
    ],
    [
      'aliases beyond the limit',
      { query: `{ ${Array.from({ length: 31 }, (_, i) => `a${i}: __typename`).join(' ')} }` },
      'QUERY_TOO_MANY_ALIASES',
      /more than 30 aliased/,
    ],
    [
      'too many nodes',
      { query: `{ ${page('depositsIn(first: 100) { nodes { fromAccount { id } } }')} }` },
      'QUERY_TOO_LARGE',
      /could touch/,
    ],
    [
      'fragments that multiply',
      {
        query:
          '{ viewer { account { ...F0 } } } ' +
          `${Array.from(
            { length: 12 },
            (_, i) =>
              `fragment F${i} on Account { owner { ` +
              `${i < 11 ? `...F${i + 1} partners { nodes { ...F${i + 1} } }` : 'id'} } }`,
          ).join(' ')}`,
      },
      'GRAPHQL_VALIDATION_FAILED',
      /more than 1000 fields/,
    ],
  ])('answers why a document would be refused: %s', async (_, dryRun, code, message) => {
    const user = await given.directUser(1);
    const asked = await run(user, dryRun);
    expect(asked.dryRun).toMatchObject({ requested: null, nodes: null, paths: [] });
    const text = expect.stringMatching(message);
    expect(asked.dryRun.problems[0]).toEqual({ code, message: text, path: null, column: null });
    expect(asked.cost.actual).toBe(20);
  });
});

describe('the setting measure', () => {
  const measuring = useWorld({ worker: false, environment: { ...environment, RATE_LIMIT: 'measure' } });
  it('reports the cost and refuses nothing', async () => {
    const user = await givenIn(measuring).directUser(1);
    let last!: Reply;
    for (let i = 0; i < 12; i++) {
      last = await user.graph(getIntrospectionQuery());
      expect([last.status, last.cost?.requested]).toEqual([200, 510]);
    }
    expect(last.cost).toMatchObject({ remaining: 0, limit: burst });
    expect((await user.get('/v1/balance')).status).toBe(200);
  });
});

describe('the setting off', () => {
  const free = useWorld({ worker: false, environment: { RATE_LIMIT: 'off' } });
  it('reports no cost, and rateLimit has no limit', async () => {
    const user = await givenIn(free).directUser(1);
    const reply = await user.graph(
      '{ rateLimit(dryRun: { query: "{ viewer { mode } }" }) { limit dryRun { requested } } }',
    );
    expect(reply.body.data.rateLimit).toEqual({ limit: null, dryRun: { requested: 10 } });
    expect([reply.cost, reply.headers.get('ratelimit')]).toEqual([undefined, null]);
    expect((await user.get('/v1/balance')).headers.get('ratelimit-policy')).toBeNull();
    expect(await free.sql`select * from allowance`).toEqual([]);
  });
});
