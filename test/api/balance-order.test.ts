import { beforeAll, describe, expect, it } from 'vitest';
import { advanceAndRun } from '../support/jobs.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { givenIn, Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;

let platform: Speaker;
let user: Speaker;
let outsider: Speaker;
/** The partners of the user, with what each has received in USD. */
const partners: string[] = [];
const amounts = [20, 5, 20, 90, 0, 45];

/** Pays an account, through a deposit that the sandbox completes. */
async function pay(to: string, amount: number, by = user): Promise<void> {
  const body = { amount: `${amount}.00`, currency: 'USD', to: { account_id: to } };
  const made = await by.post('/v1/deposits', body);
  if (made.status !== 200) throw new Error(made.text);
  const { id } = made.body;
  expect((await by.post(`/v1/test_helpers/deposits/${id}/complete`)).status).toBe(200);
}

/** Seals the postings of a tenant, as the worker does. */
const seal = (of: { id: string }) => world.database.call('seal_postings', [tenantOf(of), false, 1_000]);

/** A connected user that may receive. */
async function activeUser(): Promise<Speaker> {
  const id = await assemble(platform, complete(1, 'individual'));
  expect((await platform.post(`/v1/accounts/${id}/activate`)).status).toBe(200);
  await advanceAndRun(platform, 61);
  return new Speaker(world, id, platform.key, 1, { 'on-behalf-of': id });
}

/** A partner that may receive. */
async function activePartner(of: Speaker): Promise<string> {
  const { id } = await of.partner();
  expect((await of.post(`/v1/accounts/${id}/activate`)).status).toBe(200);
  await advanceAndRun(platform, 61);
  return id;
}

/** The ids on all pages of a list of /v1. */
async function walk(speaker: Speaker, path: string): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ; ) {
    const { status, body, text } = await speaker.get(`${path}&limit=2${after}`);
    if (status !== 200) throw new Error(text);
    found.push(...body.data.map(({ id }: Json) => id));
    if (!body.has_next) return found;
    after = `&starting_after=${found.at(-1)}`;
  }
}

/** A page of the partners of the user in the graph. */
async function page(args: string, speaker = user): Promise<Json> {
  const { body, text } = await speaker.graph(
    `{ partners(orderCurrency: "USD", ${args}) { nodes { id balance { pending { amount currency } } } edges { cursor }
       pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
  );
  if (body.errors) throw new Error(text);
  return body.data.partners;
}
const idsOf = ({ nodes }: Json): string[] => nodes.map(({ id }: Json) => id);

/** The partners that have received something, in the order of the amounts and then of the ids. */
const ordered = (direction: 1 | -1) =>
  amounts
    .map((amount, i) => ({ amount, id: partners[i]! }))
    .filter(({ amount }) => amount > 0)
    .toSorted((a, b) => direction * (a.amount - b.amount || (a.id < b.id ? -1 : 1)))
    .map(({ id }) => id);

beforeAll(async () => {
  platform = await given.platform(1);
  [user, outsider] = [await activeUser(), await given.directUser(1)];
  for (const amount of amounts) {
    const id = await activePartner(user);
    partners.push(id);
    if (amount > 0) await pay(id, amount);
  }
  await seal(platform);
});

describe('partners ordered by balance', () => {
  it('are the same through both APIs, in both directions and page by page', async () => {
    const both = async (order: string, direction: 1 | -1) => {
      const list = ordered(direction);
      expect(list).toHaveLength(5);
      expect(await walk(user, `/v1/accounts/${user.id}/partners?order_by=${order}&order_currency=USD`)).toEqual(list);
      expect(await walk(user, `/v1/accounts?order_by=${order}&order_currency=USD&type=partner`)).toEqual(list);
      const orderBy = `orderBy: ${order.toUpperCase()}`;
      const pages = [await page(`first: 2, ${orderBy}`)];
      while (pages.at(-1).pageInfo.hasNextPage)
        pages.push(await page(`first: 2, ${orderBy}, after: "${pages.at(-1).pageInfo.endCursor}"`));
      expect(pages.flatMap(idsOf)).toEqual(list);
      expect(pages.map(({ totalCount }) => totalCount)).toEqual([5, 5, 5]);
      const back = [await page(`last: 2, ${orderBy}`)];
      while (back[0].pageInfo.hasPreviousPage)
        back.unshift(await page(`last: 2, ${orderBy}, before: "${back[0].pageInfo.startCursor}"`));
      expect(back.flatMap(idsOf)).toEqual(list);
      // A cursor may be the id alone.
      expect(idsOf(await page(`first: 2, ${orderBy}, after: "${list[1]}"`))).toEqual(list.slice(2, 4));
      for (const query of [
        `accounts(first: 9, type: [PARTNER], orderCurrency: "USD", ${orderBy})`,
        `account(id: "${user.id}") { partners(first: 9, orderCurrency: "USD", ${orderBy})`,
      ]) {
        const { data } = (await user.graph(`{ ${query} { nodes { id } } ${'}'.repeat(query.split('{').length)}`)).body;
        expect(idsOf(data.accounts ?? data.account.partners)).toEqual(list);
      }
    };
    await both('balance_desc', -1);
    await both('balance_asc', 1);
  });

  it('are exported in that order', async () => {
    const kind = 'connected_user' as const;
    const caller = {
      ...{ tenantId: tenantOf(platform), livemode: false, edition: 1 as const, kind, permission: 'full' as const },
      ...{ keyId: null, accountId: user.id, actingAccountId: user.id, actingAccountKind: kind },
    };
    const list = `/v1/accounts/${user.id}/partners`;
    const asked = { list, filters: 'order_by=balance_desc&order_currency=USD', format: 'jsonl' as const };
    const { statement, lines } = await world.app.bulk.list(asked, caller);
    let text = '';
    await world.database.lists.read(statement, async (rows) => void (text += lines(rows)));
    const exported = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exported.map(({ id }) => id)).toEqual(ordered(-1));
    expect(exported).toEqual((await user.get(`${list}?order_by=balance_desc&order_currency=USD`)).body.data);
  });

  it('show the users of a platform, and with their scope the partners of all of them', async () => {
    const other = await activeUser();
    await pay(user.id, 7);
    await pay(other.id, 70, other);
    const id = await activePartner(other);
    await pay(id, 60, other);
    await seal(platform);
    const listOf = (search: string) => walk(platform, `/v1/accounts?order_by=balance_desc&order_currency=USD${search}`);
    expect(await listOf('&type=user')).toEqual([other.id, user.id]);
    expect(await listOf('')).toEqual([other.id, user.id]);
    expect(await listOf('&type=platform')).toEqual([]);
    const all = await listOf('&scope=descendants&type=partner');
    expect(all.slice(0, 2)).toEqual([ordered(-1)[0], id]);
    expect(all).toHaveLength(6);
    const below =
      `{ account(id: "${platform.id}") { ` +
      'connectedUsers(orderBy: BALANCE_DESC, orderCurrency: "USD") { nodes { id } } ' +
      '} }';
    expect(idsOf((await platform.graph(below)).body.data.account.connectedUsers)).toEqual([other.id, user.id]);
    for (const currency of ['EUR', 'XAF'])
      expect(await walk(platform, `/v1/accounts?order_by=balance_desc&order_currency=${currency}`)).toEqual([]);
  });

  it('show the balance of now in the place of the last seal, and go on where a page ended', async () => {
    const { pageInfo, nodes } = await page('first: 2, orderBy: BALANCE_DESC');
    const [top, second] = idsOf({ nodes }) as [string, string];
    // The last one of the page gets more than all others, and the first of the next page moves to its end.
    await pay(second, 1_000);
    const [unsealed] = (await page('first: 2, orderBy: BALANCE_DESC')).nodes.slice(1);
    expect(unsealed).toEqual({ id: second, balance: { pending: [{ amount: '1045.00', currency: 'USD' }] } });
    await seal(platform);
    expect(idsOf(await page('first: 2, orderBy: BALANCE_DESC'))).toEqual([second, top]);
    const next = await page(`first: 9, orderBy: BALANCE_DESC, after: "${pageInfo.endCursor}"`);
    expect(idsOf(next)).toEqual(ordered(-1).slice(2));
    const search = `order_by=balance_desc&order_currency=USD&type=partner&starting_after=${pageInfo.endCursor}`;
    const rested = await user.get(`/v1/accounts?${search}`);
    expect(idsOf({ nodes: rested.body.data })).toEqual(ordered(-1).slice(2));
    // The id alone is the place of now.
    expect(idsOf(await page(`first: 9, orderBy: BALANCE_DESC, after: "${second}"`))).toEqual([
      top,
      ...ordered(-1).slice(2),
    ]);
  });

  it.each([
    ['order_by=balance_desc', 'orderBy: BALANCE_DESC', 'account.order_currency', /must be given with/],
    [
      'order_currency=USD',
      'orderCurrency: "USD"',
      'account.order_currency',
      /needs (order_by=balance_desc|orderBy: BALANCE_DESC)/,
    ],
    [
      'order_by=balance_asc&order_currency=USD&status=draft',
      'orderBy: BALANCE_ASC, orderCurrency: "USD", status: [DRAFT]',
      'account.status',
      /cannot be combined with/,
    ],
    [
      'order_by=balance_asc&order_currency=USD&created.gt=5',
      'orderBy: BALANCE_ASC, orderCurrency: "USD", created: { gt: "2026-01-31T12:00:00Z" }',
      'account.created',
      /cannot be combined with/,
    ],
    [
      'order_by=balance_asc&order_currency=USD&search=a',
      'orderBy: BALANCE_ASC, orderCurrency: "USD", search: "a"',
      'account.',
      /cannot be combined with/,
    ],
  ])('refuse what no index serves: %s', async (search, args, field, message) => {
    const replies = [
      await user.get(`/v1/accounts?${search}`),
      await user.get(`/v1/accounts/${user.id}/partners?${search}`),
      await user.graph(`{ accounts(${args}) { nodes { id } } }`),
      await user.graph(`{ partners(${args}) { nodes { id } } }`),
    ];
    for (const reply of replies) {
      expect(reply.codes).toContain('parameter_invalid');
      expect(reply.fieldNames.some((name) => name?.startsWith(field))).toBe(true);
      expect(reply.text).toMatch(message);
    }
  });

  it('refuse the cursor of an account that is not in the list, and of another tenant', async () => {
    const { id: foreign } = await outsider.partner();
    const without = partners[amounts.indexOf(0)]!;
    for (const cursor of [
      foreign,
      without,
      `${foreign}@-5`,
      'account_0@5',
      `${without}@x`,
      'a@b@2',
      '@',
      '@5',
      `${without}@5@`,
    ])
      for (const reply of [
        await user.get(
          `/v1/accounts?order_by=balance_desc&order_currency=USD&starting_after=${encodeURIComponent(cursor)}`,
        ),
        await user.graph(
          `{ partners(orderBy: BALANCE_DESC, orderCurrency: "USD", after: ${JSON.stringify(cursor)}) {
               nodes { id } } }`,
        ),
      ]) {
        // A place between two others needs no object there.
        if (cursor.startsWith(foreign) && cursor.includes('@'))
          expect(reply.text).not.toMatch(/"nodes":\[\{|"data":\[\{/);
        expect(reply.fieldNames).toEqual(['account.starting_after']);
      }
    expect(await walk(outsider, '/v1/accounts?order_by=balance_desc&order_currency=USD')).toEqual([]);
  });
});

describe('the ranks', () => {
  const tenant = () => tenantOf(platform);
  const broken = () =>
    world.sql`select rule from balance_rank_violations where tenant_id = ${tenant()} order by 1`.then((rows) =>
      rows.map(({ rule }) => rule),
    );
  /** Breaks something, looks, and undoes it. */
  const whileBroken = (statement: string) =>
    world.sql
      .begin(async (tx) => {
        await tx.unsafe(statement);
        const rows = await tx`select rule from balance_rank_violations where tenant_id = ${tenant()}`;
        throw Object.assign(new Error('undo'), { rules: rows.map(({ rule }) => rule) });
      })
      .catch((error: Json) => error.rules ?? error);

  it('are held by the audit of the ledger', async () => {
    expect(await broken()).toEqual([]);
    const rank = `update balance_rank set %s where tenant_id = '${tenant()}' and account_id = '${partners[0]}'`;
    expect(await whileBroken(rank.replace('%s', 'amount = amount + 1'))).toEqual([
      'rank is not the sum of its entries',
    ]);
    expect(await whileBroken(rank.replace('%s', "ranked_as = 'user USD'"))).toEqual(['rank differs from its balance']);
    expect(await whileBroken(rank.replace('%s', 'version = version + 1'))).toEqual(['rank differs from its balance']);
    expect(
      await whileBroken(`delete from balance_rank where tenant_id = '${tenant()}' and account_id = '${partners[0]}'`),
    ).toEqual(['rank is older than the sealed postings']);
  });

  it('may be older than a balance only while its posting is not sealed', async () => {
    await pay(partners[1]!, 3);
    expect(await broken()).toEqual([]);
    const seals = `delete from unsealed where tenant_id = '${tenant()}'`;
    expect(await whileBroken(seals)).toEqual(['rank is older than the sealed postings']);
    await seal(platform);
    expect(await broken()).toEqual([]);
  });

  it('of balances from before an upgrade are made by a job, in steps', async () => {
    const ranks =
      () => world.sql`select account_id, currency, ranked_as, amount, version, owner_id, context_id, on_root_list
      from balance_rank where tenant_id = ${tenant()} order by 1, 2`;
    const before = await ranks();
    await world.sql`delete from balance_rank where tenant_id = ${tenant()}`;
    const run = async (args: object) => {
      await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
        values (${tenant()}, false, 'job_rank', 1, 'rank_balances', ${platform.id}, ${world.sql.json(args as Json)},
        1)`;
      expect(await broken()).toEqual([]);
      await world.sql`select job_rank_balances(tenant_id, livemode, j) from job j where id = 'job_rank'`;
      await world.sql`delete from job where id = 'job_rank'`;
      return world.sql`delete from job where kind = 'rank_balances' and tenant_id = ${tenant()} returning args`;
    };
    const soon = Math.floor(Date.now() / 1000) + 600;
    expect(await run({ notBefore: soon })).toEqual([{ args: { notBefore: soon } }]);
    expect(await ranks()).toEqual([]);
    const [next] = await run({ notBefore: 1 });
    expect(await ranks()).toEqual(before);
    expect(await run(next!.args)).toEqual([]);
  });
});
