import { beforeAll, describe, expect, it } from 'vitest';
import { givenIn, type Reply, type Speaker, tenantOf, useWorld } from './world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const day = 86_400;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');

async function data(speaker: Speaker, query: string, variables: object = {}): Promise<any> {
  const reply = await speaker.graph(query, variables);
  expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
  return reply.body.data;
}

/** Runs the jobs that become due within the next seconds, until none is left. */
async function work(root: Speaker): Promise<void> {
  for (let done = 1; done > 0; ) {
    expect((await root.post('/v1/test_helpers/clock', { advance_seconds: 5 })).status).toBe(200);
    const [row] = await world.database.call('run_jobs', [tenantOf(root), false, 50]);
    done = Number(row!.run_jobs);
  }
}

const ids = (list: { id: string }[]) => list.map(({ id }) => id);

describe('a platform', () => {
  let platform: Speaker;
  let user: Speaker;
  let other: Speaker;
  /** The partners of each account, newest first. */
  let partners: Record<'platform' | 'user' | 'other' | 'stranger', any[]>;
  let stranger: Speaker;

  beforeAll(async () => {
    [platform, stranger] = [await given.platform(1), await given.platform(1)];
    [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const made = async (owner: Speaker, count: number) => {
      const list = [];
      for (let i = 0; i < count; i += 1) list.unshift(await owner.partner());
      return list;
    };
    partners = {
      platform: await made(platform, 2),
      user: await made(user, 3),
      other: await made(other, 4),
      stranger: await made(stranger, 2),
    };
  });

  const all = () => [
    platform.id,
    ...ids([user, other]),
    ...ids([...partners.platform, ...partners.user, ...partners.other]),
  ];
  /** All ids of a list of the graph, page by page, by the resolvers and the query compiler. */
  async function listed(speaker: Speaker, args: string): Promise<string[]> {
    const found: string[] = [];
    for (let after: string | null = null; ; ) {
      const query = `query ($after: ID) { accounts(first: 3, after: $after ${args}) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
      const { accounts } = await data(speaker, query, { after });
      found.push(...ids(accounts.nodes));
      if (!accounts.pageInfo.hasNextPage) return found;
      after = accounts.pageInfo.endCursor;
    }
  }
  async function listedV1(speaker: Speaker, query: string): Promise<string[]> {
    const found: string[] = [];
    for (let after = ''; ; ) {
      const { status, body }: Reply = await speaker.get(`/v1/accounts?limit=3${query}${after}`);
      expect(status).toBe(200);
      found.push(...ids(body.data));
      if (!body.has_next) return found;
      after = `&starting_after=${found.at(-1)}`;
    }
  }

  it('sees all accounts below it in one list, in the order of their creation, through both APIs', async () => {
    const found = await listed(platform, ', descendants: true');
    expect(found.toSorted()).toEqual(all().toSorted());
    expect(await listedV1(platform, '&descendants=true')).toEqual(found);
    expect((await listed(platform, ', descendants: true, orderBy: CREATED_ASC')).toReversed()).toEqual(found);
    const { accounts } = await data(platform, '{ accounts(descendants: true) { totalCount nodes { created } } }');
    const times = accounts.nodes.map(({ created }: any) => created);
    expect([accounts.totalCount, times]).toEqual([12, times.toSorted().toReversed()]);
    // Without the argument it is the list of the specification: the platform and its users.
    expect((await listed(platform, '')).toSorted()).toEqual([platform.id, user.id, other.id].toSorted());
    expect((await listedV1(platform, '&descendants=false')).toSorted()).toEqual(
      [platform.id, user.id, other.id].toSorted(),
    );
  });

  it('filters this list like the other one', async () => {
    const ofPartners = ids([...partners.platform, ...partners.user, ...partners.other]).toSorted();
    for (const [args, query, expected] of [
      ['type: PARTNER', 'type=partner', ofPartners],
      [
        'type: [PARTNER, USER]',
        'type=partner,user',
        all()
          .filter((id) => id !== platform.id)
          .toSorted(),
      ],
      ['type: PARTNER, status: DRAFT', 'type=partner&status=draft', ofPartners],
      ['status: ACTIVATED, type: USER', 'status=activated&type=user', []],
      ['address: REQUESTED', 'address=requested', []],
      ['capability: { multicurrencyExportsV1: PENDING }', 'capability.multicurrency_exports_v1=pending', undefined],
    ] as const) {
      const found = await listed(platform, `, descendants: true, ${args}`);
      expect([args, found]).toEqual([args, await listedV1(platform, `&descendants=true&${query}`)]);
      if (expected) expect([args, found.toSorted()]).toEqual([args, expected]);
      else expect(found.length).toBeGreaterThanOrEqual(ofPartners.length);
    }
  });

  it('sees no accounts of another platform, and a user sees its own accounts only', async () => {
    expect((await listed(stranger, ', descendants: true')).toSorted()).toEqual(
      [stranger.id, ...ids(partners.stranger)].toSorted(),
    );
    for (const speaker of [user, platform.actingFor(user.id)]) {
      const found = await listed(speaker, ', descendants: true');
      expect(found.toSorted()).toEqual([user.id, ...ids(partners.user)].toSorted());
      expect(await listed(speaker, '')).toEqual(found);
    }
    const foreign = await platform.graph(
      `{ accounts(descendants: true, after: "${partners.stranger[0].id}") { nodes { id } } }`,
    );
    expect(foreign.codes).toEqual(['parameter_invalid']);
  });

  it('sees the balance of all its accounts at a time, and which users received most', async () => {
    const now = (await platform.post('/v1/test_helpers/clock', { advance_seconds: 1 })).body.now;
    for (const [owner, amount] of [
      [user, '10.00'],
      [user, '20.00'],
      [other, '29.99'],
      [platform, '500.00'],
    ] as const) {
      // Users in draft have no receiving addresses, and their activated partners have.
      const { id } = await owner.partner();
      expect((await platform.post(`/v1/accounts/${id}/activate`)).status).toBe(200);
      await work(platform);
      const made = await owner.post('/v1/deposits', { amount, currency: 'USD', to: { account_id: id } });
      expect([made.fieldNames, made.status]).toEqual([[], 200]);
      const path = `/v1/test_helpers/deposits/${made.body.id}/complete`;
      expect((await platform.post(path)).status).toBe(200);
    }
    const later = (await platform.post('/v1/test_helpers/clock', { advance_seconds: day })).body.now;
    const range = `from: "${iso(now - day)}", to: "${iso(later)}"`;
    const query = (id: string) => `{ node(id: "${id}") { ... on Account {
      before: balance(asOf: "${iso(now - day)}", descendants: true) { pending { amount } }
      own: balance(asOf: "${iso(later)}") { pending { amount } }
      at: balance(asOf: "${iso(later)}", descendants: true) { pending { amount } }
      topUsers(${range}, limit: 2) { rank account { id } currency count amount } } } }`;
    const { node } = await data(platform, query(platform.id));
    expect(node).toEqual({
      before: { pending: [{ amount: '0.00' }] },
      own: { pending: [{ amount: '0.00' }] },
      at: { pending: [{ amount: '559.99' }] },
      topUsers: [
        { rank: 1, account: { id: user.id }, currency: 'USD', count: 2, amount: '30.00' },
        { rank: 2, account: { id: other.id }, currency: 'USD', count: 1, amount: '29.99' },
      ],
    });
    // The worker has added the deposits to the totals.
    await world.database.call('sum_deposits', [tenantOf(platform), false, 100]);
    expect((await data(platform, query(platform.id))).node).toEqual(node);
    // A user has no users, and another platform sees nothing.
    expect((await data(user, query(user.id))).node).toMatchObject({
      at: { pending: [{ amount: '30.00' }] },
      topUsers: [],
    });
    expect((await stranger.graph(query(platform.id))).body.data.node).toBeNull();
  });

  it.each([
    ['to: "2026-01-01T00:00:00Z"', 'account.to'],
    ['to: "2027-06-01T00:00:00Z"', 'account.to'],
    ['to: "2026-02-01T00:00:00Z", limit: 0', 'account.limit'],
    ['to: "2026-02-01T00:00:00Z", limit: 101', 'account.limit'],
  ])('gets no top users for %s', async (args, name) => {
    const reply = await platform.graph(
      `{ viewer { account { topUsers(from: "2026-01-01T00:00:00Z", ${args}) { amount } } } }`,
    );
    expect([reply.codes, reply.fieldNames]).toEqual([['parameter_invalid'], [name]]);
  });
});
