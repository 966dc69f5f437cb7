import { beforeAll, describe, expect, it } from 'vitest';
import { details, givenIn, inTurns, must, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { receivableBody } from '../support/bodies.js';
import { advanceAndRun } from '../support/jobs.js';
import { seedTrade } from './trade.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;
/** The lists with a scope, with the object of each, and its table. */
const lists = [
  ['accounts', 'account'],
  ['checkouts', 'checkout'],
  ['deposits', 'deposit'],
  ['events', 'event'],
  ['payouts', 'payout'],
  ['receivables', 'receivable'],
] as const;
type List = (typeof lists)[number][0];

const ids = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

/** All ids of a list of the graph, page by page from one end. */
async function listed(speaker: Speaker, list: List, args = 'scope: DESCENDANTS', forward = true): Promise<string[]> {
  const found: string[] = [];
  const [page, from] = forward ? ['first: 7', 'after'] : ['last: 7', 'before'];
  for (let cursor: string | null = null; ; ) {
    const { body } = await speaker.graph(
      `query ($cursor: ID) { list: ${list}(${page}, ${from}: $cursor, ${args}) { nodes { id } pageInfo { hasNextPage
        hasPreviousPage startCursor endCursor } } }`,
      { cursor },
    );
    expect(body.errors).toBeUndefined();
    const { nodes, pageInfo } = body.data.list;
    if (forward) found.push(...ids(nodes));
    else found.unshift(...ids(nodes));
    if (!(forward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return found;
    cursor = forward ? pageInfo.endCursor : pageInfo.startCursor;
  }
}

async function listedV1(speaker: Speaker, list: List, query = 'scope=descendants'): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ; after = `&starting_after=${found.at(-1)}`) {
    const { status, body } = await speaker.get(`/v1/${list}?${query}${after}`);
    expect(status).toBe(200);
    found.push(...ids(body.data));
    if (!body.has_next) return found;
  }
}

/** The objects of a kind, of all tenants and modes, that a caller reaches by their ids. */
async function reached(speaker: Speaker, object: string): Promise<string[]> {
  const rows = await world.sql.unsafe<{ id: string }[]>(`select distinct id from ${object} order by id`);
  const found = await inTurns(rows, 20, async ({ id }) => {
    const { body } = await speaker.graph(`query ($id: ID!) { one: ${object}(id: $id) { id } }`, { id });
    return body.data.one ? [id] : [];
  });
  return found.flat();
}

describe.each([1, 2] as const)('a list with the scope DESCENDANTS, in edition %i', (edition) => {
  let platform: Speaker;
  let user: Speaker;
  let outsider: Speaker;
  let callers: [name: string, speaker: Speaker][];

  beforeAll(async () => {
    [platform, outsider] = await Promise.all([given.platform(edition), given.platform(edition)]);
    for (const speaker of [platform, outsider])
      await seedTrade(world.sql, {
        ...{ platform: speaker.id, edition, livemode: false, users: 3, trades: 12, others: 1 },
      });
    // Some objects of each kind are on no list of the platform, as if partners had them.
    for (const [, table] of lists)
      await world.sql.unsafe(
        `update ${table} set on_root_list = false where not livemode and hashtext(id) % 3 = 0
         and id not like 'account\\_________________________________'`,
      );
    await world.sql`update deposit set pending_rest = 500 where not livemode and hashtext(id) % 4 = 0`;
    await world.sql`update payout set currency = 'INR' where not livemode and hashtext(id) % 4 = 0`;
    user = await platform.connectedUser();
    await user.partner();
    await platform.partner();
    // An event about a key, which sessions do not see.
    await must(user.post('/v1/sessions', { role: 'read' }));
    await world.database.call('number_events', [tenantOf(platform.id), false, 500]);
    const session = async (input: object) =>
      platform.using((await must(platform.post('/v1/sessions', { role: 'operate', ...input }))).token);
    const seeded = 'account_user_00000001';
    callers = [
      ['the platform', platform],
      ['a session of the platform', await session({})],
      ['a user', user],
      ['the platform that acts for a user', platform.actingFor(seeded)],
      ['a session for a user', await session({ account_id: seeded })],
      ['a session that acts for a user', (await session({})).actingFor(seeded)],
      ['another platform', outsider],
    ];
    await world.database.call('number_events', [tenantOf(platform.id), false, 500]);
  });

  const inEdition = lists.filter(([list]) => edition === 2 || list !== 'checkouts');

  it.each(inEdition)('%s has exactly what the caller reaches by its id, on both APIs', async (list, object) => {
    for (const [name, speaker] of callers) {
      const expected = await reached(speaker, object);
      const found = await listed(speaker, list);
      expect([name, found.toSorted()]).toEqual([name, expected]);
      expect(await listed(speaker, list, 'scope: DESCENDANTS', false)).toEqual(found);
      expect((await listed(speaker, list, 'scope: DESCENDANTS, orderBy: CREATED_ASC')).toReversed()).toEqual(found);
      const counted = await speaker.graph(`{ list: ${list}(scope: DESCENDANTS) { totalCount } }`);
      expect(counted.body.data.list.totalCount).toBe(found.length);
      expect(await listedV1(speaker, list)).toEqual(found);
      const own = await listedV1(speaker, list, '');
      expect(found).toEqual(expect.arrayContaining(own));
      expect(await listedV1(speaker, list, 'scope=self')).toEqual(own);
      if (name === 'the platform') expect(found.length).toBeGreaterThan(own.length);
      if (name.includes('user')) expect(own).toEqual(found);
    }
  });

  it('has the filters of the list, each of which finds what it finds among all', async () => {
    const rows: Json = {};
    for (const [, table] of lists)
      rows[table] = await world.sql.unsafe(
        `select * from ${table} where tenant_id = '${tenantOf(platform.id)}' and not livemode`,
      );
    const asked: [List, string, string, string, (row: Json) => boolean][] = [
      ['deposits', 'deposit', 'status: [FAILED]', 'status=failed', ({ status }) => status === 'failed'],
      ['deposits', 'deposit', 'currency: ["EUR"]', 'currency=EUR', ({ currency }) => currency === 'EUR'],
      [
        ...([
          'deposits',
          'deposit',
          'currency: ["USD"], orderBy: AMOUNT_DESC',
          'currency=USD&order_by=amount_desc',
        ] as const),
        ({ currency }) => currency === 'USD',
      ],
      ['receivables', 'receivable', 'status: [VOID]', 'status=void', ({ status }) => status === 'void'],
      [
        ...([
          'receivables',
          'receivable',
          'orderBy: DUE_DATE_ASC, status: [OPEN]',
          'order_by=due_date_asc&status=open',
        ] as const),
        ({ status }) => status === 'open',
      ],
      [
        ...(['deposits', 'deposit', 'filter: { method: [DOMESTIC_WIRE] }', 'payment_method=domestic_wire'] as const),
        ({ payment_method }) => payment_method === 'domestic_wire',
      ],
      [
        ...(['deposits', 'deposit', 'filter: { unreconciled: true }', 'unreconciled=true'] as const),
        ({ pending_rest }) => Number(pending_rest) > 0,
      ],
      [
        ...(['receivables', 'receivable', 'filter: { currency: ["EUR"] }', 'currency=EUR'] as const),
        ({ currency }) => currency === 'EUR',
      ],
      // All of them were due months ago.
      [
        ...(['receivables', 'receivable', 'filter: { overdue: true }', 'overdue=true'] as const),
        ({ status }) => status === 'open',
      ],
      [
        ...(['payouts', 'payout', 'filter: { currency: ["INR"] }', 'currency=INR'] as const),
        ({ currency }) => currency === 'INR',
      ],
      ...(edition === 2
        ? ([
            [
              ...(['checkouts', 'checkout', 'filter: { status: [CANCELLED] }', 'status=cancelled'] as const),
              ({ status }: Json) => status === 'cancelled',
            ],
          ] as typeof asked)
        : []),
      ['payouts', 'payout', 'status: [COMPLETED]', 'status=completed', ({ status }) => status === 'completed'],
      ['events', 'event', 'types: ["deposit.failed"]', 'types=deposit.failed', ({ type }) => type === 'deposit.failed'],
      ['accounts', 'account', 'type: [PARTNER]', 'type=partner', ({ type }) => type === 'partner'],
    ];
    for (const [list, object, args, query, matches] of asked) {
      const expected = ids(rows[object].filter(matches)).toSorted();
      expect([args, expected.length > 0]).toEqual([args, true]);
      const found = await listed(platform, list, `scope: DESCENDANTS, ${args}`);
      expect([args, found.toSorted()]).toEqual([args, expected]);
      expect(await listed(platform, list, `scope: DESCENDANTS, ${args}`, false)).toEqual(found);
      expect(await listedV1(platform, list, `scope=descendants&${query}`)).toEqual(found);
    }
    // A filter that names an account finds what the caller sees of it, with and without the scope.
    const named = await listed(platform, 'deposits', 'accountId: "account_user_00000002", scope: DESCENDANTS');
    expect(named).toEqual(await listed(platform, 'deposits', 'accountId: "account_user_00000002"'));
    expect(named.length).toBeGreaterThan(0);
  });

  it('refuses another value, and a cursor outside of it, as for an object that does not exist', async () => {
    const reply = await platform.get('/v1/deposits?scope=everything');
    expect([reply.status, reply.fieldNames]).toEqual([400, ['deposit.scope']]);
    const [theirs] =
      await world.sql`select id from event where tenant_id = ${tenantOf(outsider.id)} and number is not null
      and id not in (select id from event where tenant_id = ${tenantOf(platform.id)}) limit 1`;
    for (const id of [theirs?.id ?? 'event_00000000000000000000000000000000', 'event_x'])
      for (const speaker of [platform, user]) {
        const { status, fieldNames } = await speaker.get(`/v1/events?scope=descendants&starting_after=${id}`);
        expect([status, fieldNames]).toEqual([400, ['event.starting_after']]);
      }
  });
});

describe('a search with the scope DESCENDANTS', () => {
  let platform: Speaker;
  let users: Speaker[];
  let outsider: Speaker;
  const made: Record<string, { id: string; name: string }[]> = { accounts: [], deposits: [], receivables: [] };

  beforeAll(async () => {
    [platform, outsider] = await Promise.all([given.platform(1), given.platform(1)]);
    users = [await platform.connectedUser(), await platform.connectedUser()];
    let n = 0;
    const nameOf = () => `Rhein ${String(((n += 1) * 7) % 23).padStart(2, '0')}`;
    for (const owner of [platform, ...users, outsider])
      for (let i = 0; i < 2; i++) {
        const name = nameOf();
        const partner = await owner.partner({ nickname: name, business_details: details(name) });
        const root = owner === outsider ? outsider : platform;
        await must(root.post(`/v1/accounts/${partner.id}/activate`));
        await advanceAndRun(root, 5);
        const body = { amount: '10.00', currency: 'USD', statement_descriptor: name.toUpperCase() };
        const paid = [await must(owner.post('/v1/deposits', { ...body, to: { account_id: partner.id } }))];
        const billed = await must(
          owner.post('/v1/receivables', receivableBody({ amount: '5.00', reference_number: name })),
        );
        if (owner === outsider) continue;
        made.accounts!.push({ id: partner.id, name });
        made.deposits!.push(...ids(paid).map((id) => ({ id, name })));
        made.receivables!.push({ id: billed.id, name });
      }
  });

  it.each(['accounts', 'deposits', 'receivables'] as const)(
    '%s finds what a platform reaches, in the order of what was found',
    async (list) => {
      for (const [search, matches] of [
        ['rhein', () => true],
        ['Rhein 0', ({ name }: { name: string }) => name.startsWith('Rhein 0')],
        ['nothing', () => false],
      ] as const) {
        const expected = made[list]!.filter(matches);
        const found = await listed(platform, list, `scope: DESCENDANTS, search: "${search}"`);
        expect(found.toSorted()).toEqual(ids(expected).toSorted());
        const nameIn = new Map(expected.map(({ id, name }) => [id, name]));
        const order = found.map((id) => nameIn.get(id)!);
        expect(order).toEqual(order.toSorted());
        expect(await listed(platform, list, `scope: DESCENDANTS, search: "${search}"`, false)).toEqual(found);
        expect(await listedV1(platform, list, `scope=descendants&search=${search}`)).toEqual(found);
        const { body } = await platform.graph(
          `{ list: ${list}(scope: DESCENDANTS, search: "${search}") { totalCount } }`,
        );
        expect(body.data.list.totalCount).toBe(found.length);
        // A user finds what it finds without the scope.
        for (const speaker of [users[0]!, platform.actingFor(users[1]!.id)])
          expect(await listed(speaker, list, `scope: DESCENDANTS, search: "${search}"`)).toEqual(
            await listed(speaker, list, `search: "${search}"`),
          );
      }
    },
  );

  it('finds by metadata what is on no list of the platform', async () => {
    const [user] = users;
    const partner = await user!.partner({ metadata: { order: 'O-17' } });
    const other = await user!.partner({ metadata: { order: 'O-18' } });
    expect(await listedV1(platform, 'accounts', 'metadata.key=order')).toEqual([]);
    expect(await listedV1(platform, 'accounts', 'scope=descendants&metadata.key=order')).toEqual([
      ...ids([partner, other]),
    ]);
    expect(await listed(platform, 'accounts', 'scope: DESCENDANTS, metadata: { key: "order", value: "O-18" }')).toEqual(
      [other.id],
    );
    expect(await listedV1(outsider, 'accounts', 'scope=descendants&metadata.key=order')).toEqual([]);
  });
});
