import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import {
  type Edition,
  givenIn,
  must,
  nickname,
  type Speaker,
  tenantOf,
  useWorld,
  payoutAddress,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const day = 86_400;
const currencyOf = { 1: 'USD', 2: 'INR' } as const;
const money = (amount: string, currency = 'USD') => [{ amount, currency }];
const unknown = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');

/** Advances a root's test clock; returns its new time. */
async function advance(root: Speaker, seconds: number): Promise<number> {
  const reply = await root.post('/v1/test_helpers/clock', { advance_seconds: seconds });
  expect(reply.status).toBe(200);
  return reply.body.now;
}

/** Runs one round of a worker. */
async function once(root: Speaker): Promise<number> {
  const [row] = await world.database.call('run_jobs', [root.id.replace('account_', ''), false, 50]);
  return Number(row!.run_jobs);
}

async function work(root: Speaker): Promise<void> {
  do await advance(root, 5);
  while ((await once(root)) > 0);
}

/** Creates a partner that is activated and can receive money. */
async function activatedPartner(root: Speaker, owner: Speaker): Promise<{ id: string }> {
  const partner = await owner.partner();
  expect((await root.post(`/v1/accounts/${partner.id}/activate`)).status).toBe(200);
  await work(root);
  return partner;
}

async function deposited(speaker: Speaker, amount: string, more: object = {}): Promise<any> {
  const second = speaker.edition === 2 && { to: { account_id: speaker.id }, payment_method: 'upi' };
  const currency = currencyOf[speaker.edition];
  const made = await speaker.post('/v1/deposits', { amount, currency, ...second, ...more });
  expect([made.fieldNames, made.status]).toEqual([[], 200]);
  return made.body;
}

async function completed(speaker: Speaker, amount: string, more: object = {}): Promise<any> {
  const { id } = await deposited(speaker, amount, more);
  const reply = await speaker.post(`/v1/test_helpers/deposits/${id}/complete`);
  expect([reply.status, reply.body.status]).toEqual([200, 'completed']);
  return reply.body;
}

/** Reconciles a deposit with a new receivable. */
async function reconciled(speaker: Speaker, deposit: { id: string; currency: string }, amount: string): Promise<void> {
  const { currency } = deposit;
  const made = await speaker.post('/v1/receivables', {
    currency,
    invoice: {
      ...{ amount, currency, creation_date: '2026-10-01', due_date: '2026-12-01', reference_number: nickname() },
    },
    purpose_code: 'P0802',
    transaction_type: 'services',
  });
  const receivables = [{ id: made.body.id, amount }];
  const reply = await speaker.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
}

const compartments = ['available', 'pending', 'processing', 'payout_processing', 'fee_advance'] as const;

/** All balance transactions of an account, page by page. */
async function transactionsOf(speaker: Speaker, path = '/v1/balance_transactions'): Promise<any[]> {
  const all: any[] = [];
  for (let cursor = ''; ; cursor = `&starting_after=${all.at(-1).id}`) {
    const { status, body } = await speaker.get(`${path}?limit=10${cursor}`);
    expect(status).toBe(200);
    all.push(...body.data);
    if (!body.has_next) return all;
  }
}

/** The sums of balance transactions per category and currency, in cents, without zeros. */
function sums(transactions: { category: string; currency: string; amount: string }[]): Record<string, bigint> {
  const out: Record<string, bigint> = {};
  for (const { category, currency, amount } of transactions) {
    const name = `${category} ${currency}`;
    out[name] = (out[name] ?? 0n) + BigInt(amount.replace('.', ''));
  }
  return Object.fromEntries(Object.entries(out).filter(([, cents]) => cents !== 0n));
}

const sumsOf = (balance: any) =>
  sums(compartments.flatMap((category) => balance[category].map((m: object) => ({ category, ...m }))));

describe('the balance of an account without any movement', () => {
  it.each([1, 2] as const)('has its five compartments at zero in the currency of Edition %i', async (edition) => {
    const currency = currencyOf[edition];
    const platform = await given.platform(edition);
    const user = await platform.connectedUser();
    const partner = await user.partner();
    const direct = await given.directUser(edition);
    const zero = money('0.00', currency);
    const shape = (id: string, feeAdvance: object[]) => ({
      ...{ object: 'balance', account_id: id, livemode: false, available: zero, pending: zero },
      ...{ processing: zero, payout_processing: zero, fee_advance: feeAdvance },
    });

    const own = await platform.get('/v1/balance');
    expect([own.status, own.body]).toEqual([200, shape(platform.id, zero)]);
    expect(Object.keys(own.body)).toEqual([
      ...['object', 'account_id', 'livemode', 'available', 'pending', 'processing', 'payout_processing', 'fee_advance'],
    ]);
    // "Empty array for non-platform users."
    expect((await user.get('/v1/balance')).body).toEqual(shape(user.id, []));
    expect((await direct.get('/v1/balance')).body).toEqual(shape(direct.id, []));
    expect((await user.get(`/v1/balance?account_id=${partner.id}`)).body).toEqual(shape(partner.id, []));
    expect((await platform.get(`/v1/balance?account_id=${partner.id}`)).body).toEqual(shape(partner.id, []));
    expect((await platform.actingFor(user.id).get('/v1/balance')).body).toEqual(shape(user.id, []));
  });

  it('has a fee advance for an aggregator, too, and shows livemode in live mode', async () => {
    const { test, live } = await given.platformBoth(2, { subType: 'aggregator' });
    expect((await test.get('/v1/balance')).body.fee_advance).toEqual(money('0.00', 'INR'));
    expect((await live.get('/v1/balance')).body).toMatchObject({ account_id: live.id, livemode: true });
    expect((await live.get('/v1/balance/aggregate')).body).toEqual({
      object: 'balance_aggregate',
      account_id: live.id,
      livemode: true,
      pending: money('0.00', 'INR'),
    });
  });
});

// Spec: Balance. "Edition 1 lists one entry per currency; Edition 2 shows INR."
describe('a balance with movements in another currency alone', () => {
  const fields = '{ pending { amount currency } processing { currency } feeAdvance { amount currency } }';

  it('shows INR beside it in Edition 2, through both APIs and both ways of execution', async () => {
    const user = await given.directUser(2);
    await completed(user, '5.00', { currency: 'USD' });
    const both = [...money('0.00', 'INR'), ...money('5.00', 'USD')];
    const nothing = [...money('0.00', 'INR'), ...money('0.00', 'USD')];
    expect((await user.get('/v1/balance')).body).toMatchObject({
      ...{ pending: both, available: nothing, processing: nothing, payout_processing: nothing, fee_advance: [] },
    });
    const shown = { pending: both, processing: nothing.map(({ currency }) => ({ currency })), feeAdvance: [] };
    // From the third time on, the compiled statement answers.
    for (let times = 0; times < 5; times++) {
      const { body } = await user.graph(
        `{ account(id: "${user.id}") { balance ${fields} }
           nodes(ids: ["${user.id}"]) { ... on Account { balance ${fields} } } }`,
      );
      expect(body.data).toEqual({ account: { balance: shown }, nodes: [{ balance: shown }] });
    }
    const { body } = await user.graph(
      `{ account(id: "${user.id}") { sum: balance(scope: DESCENDANTS) ${fields}
           before: balance(asOf: "2001-01-01T00:00:00Z") ${fields} } }`,
    );
    expect(body.data.account.sum).toEqual(shown);
    expect(body.data.account.before.pending).toEqual(money('0.00', 'INR'));
  });

  it('shows its own currencies alone in Edition 1', async () => {
    const user = await given.directUser(1);
    await completed(user, '5.00');
    expect((await user.get('/v1/balance')).body.pending).toEqual(money('5.00', 'USD'));
  });

  it('shows INR in the fee advance of a platform, too', async () => {
    const { account, live } = await given.platformBoth(2);
    const row = await world.operator.verify(await world.operator.account(account.id, true), 'activated');
    const { id: addressId } = await world.operator.issueAddress(row, {
      ...{ category: 'service_fee_advance', currency: 'USD', bankAccount: { number: '123456789' } },
    });
    const notice = { reference: nickname(), event: 'received', addressId, amount: 500n, currency: 'USD' } as const;
    await world.operator.bankNotice(notice);
    expect((await live.get('/v1/balance')).body).toMatchObject({
      fee_advance: [...money('0.00', 'INR'), ...money('5.00', 'USD')],
      pending: [...money('0.00', 'INR'), ...money('0.00', 'USD')],
    });
  });
});

describe('a currency without any posting', () => {
  it('is not shown with the others, in both APIs, now, as of a time and over time', async () => {
    const user = await given.directUser(2);
    const partner = await activatedPartner(user, user);
    const inr = await completed(user, '10.00');
    await completed(user, '4.00', { to: { account_id: partner.id } });
    // The user has a USD row because of a deposit that only its partner holds; the partner has a EUR row because of a
    // write that moved no money.
    await completed(user, '5.00', { currency: 'USD', to: { account_id: partner.id } });
    await world.sql`select lock_balance(${user.id.replace('account_', '')}, false, ${partner.id}, 'EUR')`;
    const rows = await world.sql`select account_id, currency from balance where version = 0
        and tenant_id = ${user.id.replace('account_', '')} order by 2`;
    expect(rows.map((row) => [row.account_id, row.currency])).toEqual([
      [partner.id, 'EUR'],
      [user.id, 'USD'],
    ]);
    const shown = (pending: object[]) => {
      const nothing = pending.map((one) => ({ ...one, amount: '0.00' }));
      return { pending, available: nothing, processing: nothing };
    };
    const own = shown(money('10.00', 'INR'));
    const held = [...money('4.00', 'INR'), ...money('5.00', 'USD')];

    expect((await user.get('/v1/balance')).body).toMatchObject({ ...own, payout_processing: own.available });
    expect((await user.get(`/v1/balance?account_id=${partner.id}`)).body).toMatchObject(shown(held));
    expect((await user.get('/v1/balance/aggregate')).body.pending).toEqual(held);
    const fields = '{ pending { amount currency } available { amount currency } processing { amount currency } }';
    const { created } = (await user.get('/v1/balance_transactions')).body.data.at(-1);
    const graph = await user.graph(
      `query ($now: DateTime!, $before: DateTime!, $after: DateTime!) {
        balance ${fields} balanceAggregate { pending { amount currency } }
        account(id: "${user.id}") {
          balance ${fields} now: balance(asOf: $now) ${fields} before: balance(asOf: $before) ${fields}
          balanceHistory(from: $before, to: $after, interval: DAY) { currency }
        }
        nodes(ids: ["${user.id}", "${partner.id}"]) { ... on Account { balance ${fields} } } }`,
      { now: iso(4_000_000_000), before: iso(Number(created) - 1), after: iso(Number(created) + 1) },
    );
    const { account, ...rest } = graph.body.data;
    const { balanceHistory, ...balances } = account;
    expect(balances).toEqual({ balance: own, now: own, before: shown(money('0.00', 'INR')) });
    expect(new Set(balanceHistory.map((point: any) => point.currency))).toEqual(new Set(['INR']));
    expect(rest).toEqual({
      balance: own,
      balanceAggregate: { pending: held },
      nodes: [{ balance: own }, { balance: shown(held) }],
    });
    // A currency with postings stays when its balance is zero again.
    await must(user.post(`/v1/test_helpers/deposits/${inr.id}/reverse`));
    expect((await user.get('/v1/balance')).body).toMatchObject(shown(money('0.00', 'INR')));
  });
});

describe('the visibility of a balance', () => {
  it('includes visible accounts; all others are missing', async () => {
    const platform = await given.platform(1);
    const [user, other, stranger] = await Promise.all([
      platform.connectedUser(),
      platform.connectedUser(),
      given.directUser(1),
    ]);
    const [partner, own] = [await user.partner(), await platform.partner()];
    const paths = (id: string) => [
      `/v1/balance?account_id=${id}`,
      `/v1/balance/aggregate?account_id=${id}`,
      `/v1/accounts/${id}/balance_transactions`,
    ];
    const visible: [Speaker, string[]][] = [
      [platform, [platform.id, user.id, other.id, partner.id, own.id]],
      [user, [user.id, partner.id]],
      [platform.actingFor(user.id), [user.id, partner.id]],
      [other, [other.id]],
      [stranger, [stranger.id]],
    ];
    const everybody = [platform, user, other, partner, own, stranger, { id: unknown('account') }].map(({ id }) => id);

    for (const [speaker, seen] of visible) {
      for (const id of everybody) {
        const replies = await Promise.all(paths(id).map((path) => speaker.get(path)));
        const graph = await speaker.graph(`{ balance(accountId: "${id}") { accountId } account(id: "${id}") { id } }`);
        expect([speaker.id, id, ...replies.map((r) => r.status), graph.body.data.balance !== null]).toEqual(
          seen.includes(id) ? [speaker.id, id, 200, 200, 200, true] : [speaker.id, id, 404, 404, 404, false],
        );
        if (!seen.includes(id))
          expect(replies.slice(0, 2).map((r) => [r.codes, r.fieldNames])).toEqual([
            [['resource_missing'], ['balance.account_id']],
            [['resource_missing'], ['balance.account_id']],
          ]);
      }
    }
  });

  it('allows no unknown parameters', async () => {
    const user = await given.directUser(1);
    for (const path of ['/v1/balance', '/v1/balance/aggregate']) {
      const reply = await user.get(`${path}?currency=USD&limit=3`);
      expect([reply.status, new Set(reply.codes), reply.fieldNames.toSorted()]).toEqual([
        400,
        new Set(['parameter_unknown']),
        ['balance.currency', 'balance.limit'],
      ]);
    }
  });
});

describe('the aggregate of pending balances', () => {
  it('is the sum of an account’s own partners, and for a platform of all partners below it', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [own, first, second] = [
      await activatedPartner(platform, platform),
      await activatedPartner(platform, user),
      await activatedPartner(platform, user),
    ];
    await completed(platform, '100.00');
    await completed(platform, '1.00', { to: { account_id: own.id } });
    await completed(user, '2.00', { to: { account_id: first.id } });
    await completed(user, '4.00', { to: { account_id: second.id } });
    const aggregate = (pending: object[], id: string) => ({
      ...{ object: 'balance_aggregate', account_id: id, livemode: false, pending },
    });

    const reply = await platform.get('/v1/balance/aggregate');
    expect([reply.status, Object.keys(reply.body)]).toEqual([200, ['object', 'account_id', 'livemode', 'pending']]);
    expect(reply.body).toEqual(aggregate(money('7.00'), platform.id));
    expect((await user.get('/v1/balance/aggregate')).body).toEqual(aggregate(money('6.00'), user.id));
    for (const speaker of [platform, user]) {
      const named = await speaker.get(`/v1/balance/aggregate?account_id=${user.id}`);
      expect(named.body).toEqual(aggregate(money('6.00'), user.id));
      // A partner owns no partners.
      const ofPartner = await speaker.get(`/v1/balance/aggregate?account_id=${first.id}`);
      expect(ofPartner.body).toEqual(aggregate(money('0.00'), first.id));
    }
    const graph = await platform.graph(
      '{ balanceAggregate { accountId pending { amount currency } } ofUser: balanceAggregate(accountId: ' +
        `"${user.id}") { pending { amount } } }`,
    );
    expect(graph.body.data).toEqual({
      balanceAggregate: { accountId: platform.id, pending: money('7.00') },
      ofUser: { pending: [{ amount: '6.00' }] },
    });
    expect((await (await given.platform(1)).get('/v1/balance/aggregate')).body.pending).toEqual(money('0.00'));
  });

  it('has an entry per currency', async () => {
    const user = await given.directUser(2);
    const partner = await activatedPartner(user, user);
    await completed(user, '10.00', { to: { account_id: partner.id } });
    await completed(user, '20.00', { to: { account_id: partner.id }, currency: 'USD' });
    expect((await user.get('/v1/balance/aggregate')).body.pending).toEqual([
      { amount: '10.00', currency: 'INR' },
      { amount: '20.00', currency: 'USD' },
    ]);
  });
});

describe('balance transactions', () => {
  it('have exactly the keys of the specification, with created as a string', async () => {
    const user = await given.directUser(1);
    const deposit = await completed(user, '12.34');
    const [payment] = (await user.get('/v1/payments')).body.data;

    const { status, body } = await user.get('/v1/balance_transactions');

    expect([status, body]).toEqual([
      200,
      {
        object: 'list',
        data: [
          {
            id: expect.stringMatching(/^bt_[0-9a-f]{32}$/),
            object: 'balance_transaction',
            amount: '12.34',
            currency: 'USD',
            category: 'pending',
            created: expect.stringMatching(/^\d{10}$/),
            livemode: false,
            payment_id: payment.id,
          },
        ],
        has_next: false,
      },
    ]);
    expect(Object.keys(body.data[0])).toEqual(
      'id object amount currency category created livemode payment_id'.split(' '),
    );
    expect((await user.get(`/v1/balance_transactions/${body.data[0].id}`)).body).toEqual(body.data[0]);
    expect([payment.type, payment.deposit_id, payment.amount]).toEqual(['deposit', deposit.id, '12.34']);
  });

  it('of other accounts are not visible, by id or in a list', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const partner = await activatedPartner(platform, user);
    await completed(user, '5.00', { to: { account_id: partner.id } });
    const [bt] = (await user.get(`/v1/accounts/${partner.id}/balance_transactions`)).body.data;
    const stranger = await given.directUser(1);

    expect((await platform.get(`/v1/balance_transactions/${bt.id}`)).body).toEqual(bt);
    expect((await user.get(`/v1/balance_transactions/${bt.id}`)).body).toEqual(bt);
    for (const id of [bt.id, unknown('bt')]) {
      const reply = await stranger.get(`/v1/balance_transactions/${id}`);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        404,
        ['resource_missing'],
        ['balance_transaction.id'],
      ]);
    }
    // The list has only those of the acting account: those of a partner are on the partner's list.
    for (const speaker of [platform, user, stranger])
      expect((await speaker.get('/v1/balance_transactions')).body.data).toEqual([]);
    expect((await platform.get(`/v1/accounts/${partner.id}/balance_transactions`)).body.data).toEqual([bt]);
    const named = await platform.get(`/v1/balance_transactions?account_id=${partner.id}`);
    expect([named.status, named.codes, named.fieldNames]).toEqual([
      400,
      ['parameter_unknown'],
      ['balance_transaction.account_id'],
    ]);
  });

  describe('of a busy user', () => {
    let user: Speaker;
    let all: any[];
    beforeAll(async () => {
      user = await given.directUser(2);
      await payoutAddress(user);
      for (const amount of ['80.00', '40.00']) await reconciled(user, await completed(user, amount), '30.00');
      await completed(user, '7.00', { currency: 'USD' });
      await advance(user, day);
      await once(user);
      await reconciled(user, await completed(user, '1.00'), '1.00');
      all = await transactionsOf(user);
    });

    it('are newest first', () => {
      // 3 deposits and then another one, all but the one in dollars reconciled: two entries each; the payout has two.
      expect(all).toHaveLength(4 + 3 * 2 + 2);
      const sorted = [...all].sort((a, b) => Number(b.created) - Number(a.created) || (a.id < b.id ? 1 : -1));
      expect(all.map((t) => t.id)).toEqual(sorted.map((t) => t.id));
      expect(Number(all[0].created)).toBeGreaterThanOrEqual(Number(all.at(-1).created) + day);
    });

    const filters: [query: string, keep: (t: any) => boolean][] = [
      ['category=pending', (t) => t.category === 'pending'],
      ['category=available&category=payout_processing', (t) => ['available', 'payout_processing'].includes(t.category)],
      ['category=available,payout_processing', (t) => ['available', 'payout_processing'].includes(t.category)],
      ['category[]=processing', (t) => t.category === 'processing'],
      ['category=fee_advance', (t) => t.category === 'fee_advance'],
      ['currency=USD', (t) => t.currency === 'USD'],
      ['currency=USD,INR&category=pending', (t) => t.category === 'pending'],
      ['currency=EUR', () => false],
    ];
    it.each(filters)('are filtered by %s', async (query, keep) => {
      for (const path of ['/v1/balance_transactions', `/v1/accounts/${user.id}/balance_transactions`]) {
        const { status, body } = await user.get(`${path}?${query}`);
        const expected = all.filter(keep);
        expect([status, body.data, body.has_next]).toEqual([200, expected.slice(0, 10), expected.length > 10]);
      }
    });

    it('are filtered by payment and by time', async () => {
      const [payout] = (await user.get('/v1/payouts')).body.data;
      const { payment_id } = payout;
      const of = (await user.get(`/v1/balance_transactions?payment_id=${payment_id}`)).body.data;
      expect(of.map((t: any) => [t.category, t.amount]).toSorted()).toEqual([
        ['available', '-60.00'],
        ['payout_processing', '60.00'],
      ]);
      const two = [payment_id, all.at(-1).payment_id];
      const both = (await user.get(`/v1/balance_transactions?payment_id=${two.join(',')}`)).body.data;
      expect(both).toEqual(all.filter((t) => two.includes(t.payment_id)));
      const time = Number(all[0].created);
      for (const [bound, keep] of [
        ['eq', (t: any) => Number(t.created) === time],
        ['gte', (t: any) => Number(t.created) >= time],
        ['gt', (t: any) => Number(t.created) > time],
        ['lt', (t: any) => Number(t.created) < time],
        ['lte', (t: any) => Number(t.created) <= time],
      ] as const) {
        const { data } = (await user.get(`/v1/balance_transactions?created.${bound}=${time}`)).body;
        expect([bound, data]).toEqual([bound, all.filter(keep).slice(0, 10)]);
      }
    });

    it('are refused with an unknown filter', async () => {
      for (const [query, field] of [
        ['category=spent', 'category'],
        ['currency=rupees', 'currency'],
        ['limit=0', 'limit'],
        ['created.gte=yesterday', 'created.gte'],
        ['type=deposit', 'type'],
        [`ending_before=${unknown('bt')}`, 'ending_before'],
      ] as const) {
        const reply = await user.get(`/v1/balance_transactions?${query}`);
        expect([query, reply.status, reply.fieldNames]).toEqual([query, 400, [`balance_transaction.${field}`]]);
      }
    });

    it('show in GraphQL the balance of each compartment afterwards', async () => {
      const { body } = await user.graph(
        '{ balanceTransactions(first: 50, category: [PENDING], currency: ["INR"]) { totalCount nodes { amount ' +
          'balanceAfter account { id } payment { type } } } }',
      );
      const page = body.data.balanceTransactions;
      expect(page.totalCount).toBe(6);
      // Within a second the order is by id: each must follow from some other one, in any order.
      const after = page.nodes.map((t: any) => t.balanceAfter).toSorted();
      expect(after).toEqual(['50.00', '60.00', '60.00', '61.00', '80.00', '90.00']);
      expect(page.nodes[0].account.id).toBe(user.id);
    });
  });
});

describe('the sum of balance transactions', () => {
  // One tenant with every kind of movement.
  it.each([1, 2] as const)(
    'is the balance, for every account, category and currency, in Edition %i',
    async (edition) => {
      const user = await given.directUser(edition);
      const partner = await activatedPartner(user, user);
      await payoutAddress(user);
      const [one, two, three] = [
        await completed(user, '100.00', { from: { account_id: partner.id } }),
        await completed(user, '50.00', { to: { account_id: partner.id } }),
        await completed(user, '33.33'),
      ];
      await reconciled(user, one, '60.00');
      await reconciled(user, two, '20.00');
      await must(user.post(`/v1/test_helpers/deposits/${one.id}/dispute`, { amount: '15.00' }));
      await advance(user, day);
      await once(user);
      const [payout] = (await user.get('/v1/payouts')).body.data;
      await must(user.post(`/v1/test_helpers/payouts/${payout.id}/fail`));
      await reconciled(user, three, '3.33');
      await advance(user, day);
      await work(user);
      await must(user.post(`/v1/test_helpers/deposits/${three.id}/reverse`));
      await must(user.post(`/v1/test_helpers/deposits/${two.id}/dispute`, { amount: '40.00' }));
      await deposited(user, '9.99');

      for (const id of [user.id, partner.id]) {
        const transactions = await transactionsOf(user, `/v1/accounts/${id}/balance_transactions`);
        const balance = (await user.get(`/v1/balance?account_id=${id}`)).body;
        expect([id, sums(transactions)]).toEqual([id, sumsOf(balance)]);
        if (id === partner.id)
          expect(transactions.map((t) => t.amount).toSorted()).toEqual(['-20.00', '-30.00', '50.00']);
      }
      expect(await transactionsOf(user)).toEqual(
        await transactionsOf(user, `/v1/accounts/${user.id}/balance_transactions`),
      );
      // 60.00 + 20.00 + 3.33 became available and were paid out. The user owes what was then reversed and disputed:
      // 3.33, and of the dispute of 40.00 the part that is not pending, 10.00.
      const currency = currencyOf[edition];
      const balance = (await user.get('/v1/balance')).body;
      expect(balance.available.find((m: any) => m.currency === currency)).toEqual({ amount: '-13.33', currency });
      expect(balance.pending.find((m: any) => m.currency === currency)).toEqual({ amount: '25.00', currency });
    },
  );

  it('is the balance of an aggregator and of its users', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const { status, advanceAddress } = await feeAdvance(platform);
    expect(status).toBe(200);
    await completed(platform, '500.00', { to: { address_id: advanceAddress } });
    const transactions = await transactionsOf(platform);
    expect(transactions.map((t) => [t.category, t.amount])).toEqual([['fee_advance', '500.00']]);
    expect(sums(transactions)).toEqual(sumsOf((await platform.get('/v1/balance')).body));
  });

  async function feeAdvance(platform: Speaker) {
    const { status, body } = await platform.get('/v1/addresses?category=service_fee_advance');
    return { status, advanceAddress: body.data[0].id };
  }
});

/** The balance of an account as of a time, and its figures over a range. */
const asOf = async (user: Speaker, seconds: number, id = user.id) => {
  const { body } = await user.graph(
    `{ account(id: "${id}") { balance(asOf: "${iso(seconds)}") {
      accountId livemode available { amount currency } pending { amount currency } processing { amount }
      payoutProcessing { amount } feeAdvance { amount }
    } } }`,
  );
  return body.data.account.balance;
};

const ranged = (user: Speaker, field: string, from: number, to: number, interval: string, fields: string) =>
  user.graph(
    `query ($from: DateTime!, $to: DateTime!) { account(id: "${user.id}") { ${field}(from: $from, to: $to, ` +
      `interval: ${interval}) { ${fields} } } }`,
    { from: iso(from), to: iso(to) },
  );

describe('a balance as of a time', () => {
  it('shows the compartments at the end of that second', async () => {
    const user = await given.directUser(1);
    const first = await completed(user, '10.00');
    const [{ created }] = (await user.get('/v1/balance_transactions')).body.data;
    const then = Number(created);
    await advance(user, day);
    await reconciled(user, first, '4.00');
    const [later] = (await user.get('/v1/balance_transactions')).body.data;
    const shape = (available: string, pending: string) => ({
      ...{ accountId: user.id, livemode: false, available: money(available), pending: money(pending) },
      ...{ processing: [{ amount: '0.00' }], payoutProcessing: [{ amount: '0.00' }], feeAdvance: [] },
    });

    expect(await asOf(user, then - 1)).toEqual(shape('0.00', '0.00'));
    expect(await asOf(user, then)).toEqual(shape('0.00', '10.00'));
    expect(await asOf(user, Number(later.created) - 1)).toEqual(shape('0.00', '10.00'));
    expect(await asOf(user, Number(later.created))).toEqual(shape('4.00', '6.00'));
    expect(await asOf(user, 4_000_000_000)).toEqual(shape('4.00', '6.00'));
    expect(await asOf(user, 0)).toEqual(shape('0.00', '0.00'));
  });

  it('is not shown for accounts that are not visible, nor for an invalid time', async () => {
    const [user, stranger] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const reply = await stranger.graph(
      `{ account(id: "${user.id}") { balance(asOf: "2026-01-01T00:00:00Z") { accountId } } }`,
    );
    expect([reply.codes, reply.body.data]).toEqual([['resource_missing'], { account: null }]);
    const bad = await user.graph(`{ account(id: "${user.id}") { balance(asOf: "yesterday") { accountId } } }`);
    expect([bad.status, bad.body.data]).toEqual([400, undefined]);
  });
});

describe('figures over time', () => {
  const fields = 'start currency available pending processing payoutProcessing feeAdvance';

  it('show the balance at the end of each day, week or month, in UTC', async () => {
    const user = await given.directUser(1);
    // The clock advances to the first of the next month.
    const now = await advance(user, 1);
    const month = new Date(now * 1000);
    const first = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1) / 1000;
    await advance(user, first - now + 43_200);
    const deposit = await completed(user, '10.00');
    await advance(user, day);
    await reconciled(user, deposit, '4.00');
    await advance(user, 30 * day);
    await completed(user, '1.00');
    const point = (start: number, available: string, pending: string) => ({
      ...{ start: iso(start), currency: 'USD', available, pending },
      ...{ processing: '0.00', payoutProcessing: '0.00', feeAdvance: '0.00' },
    });

    const days = await ranged(user, 'balanceHistory', first - day, first + 3 * day, 'DAY', fields);
    expect(days.body.data.account.balanceHistory).toEqual([
      point(first - day, '0.00', '0.00'),
      point(first, '0.00', '10.00'),
      point(first + day, '4.00', '6.00'),
      point(first + 2 * day, '4.00', '6.00'),
    ]);
    // A range within a day has one step, from the start of the day to the end of the range.
    for (const [to, pending] of [
      [first + 7200, '0.00'],
      [first + day - 1, '10.00'],
    ] as const) {
      const within = await ranged(user, 'balanceHistory', first + 3600, to, 'DAY', fields);
      expect(within.body.data.account.balanceHistory).toEqual([point(first, '0.00', pending)]);
    }
    // Monday is day 1 of the week.
    const monday = first - ((new Date(first * 1000).getUTCDay() + 6) % 7) * day;
    const weeks = await ranged(user, 'balanceHistory', first, first + 7 * day, 'WEEK', 'start');
    expect(weeks.body.data.account.balanceHistory.map((p: any) => p.start)).toEqual(
      [monday, monday + 7 * day].filter((start) => start < first + 7 * day).map(iso),
    );
    const next = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 2, 1) / 1000;
    const months = await ranged(user, 'balanceHistory', first, next, 'MONTH', fields);
    // Later movements are not in the month.
    expect(months.body.data.account.balanceHistory).toEqual([point(first, '4.00', '6.00')]);
  });

  it('count the completed deposits by day, method and currency, disputes as negative, and no others', async () => {
    const user = await given.directUser(2);
    const now = await advance(user, 1);
    const midnight = now - (now % day) + day;
    await advance(user, midnight - now + 43_200);
    const disputed = await completed(user, '10.00');
    await completed(user, '5.00');
    await completed(user, '2.00', { payment_method: 'card' });
    await completed(user, '3.00', { currency: 'USD' });
    const [failing, reversing] = [await deposited(user, '100.00'), await completed(user, '200.00')];
    await deposited(user, '400.00');
    await must(user.post(`/v1/test_helpers/deposits/${failing.id}/fail`));
    await must(user.post(`/v1/test_helpers/deposits/${reversing.id}/reverse`));
    await advance(user, day);
    await must(user.post(`/v1/test_helpers/deposits/${disputed.id}/dispute`, { amount: '1.00' }));
    const total = (start: number, paymentMethod: string, currency: string, count: number, amount: string) => ({
      ...{ start: iso(start), paymentMethod, currency, count, amount },
    });

    const all = 'start paymentMethod currency count amount';
    const { body } = await ranged(user, 'depositTotals', midnight, midnight + 2 * day, 'DAY', all);
    expect(body.data.account.depositTotals).toEqual([
      total(midnight, 'CARD', 'INR', 1, '2.00'),
      total(midnight, 'UPI', 'INR', 2, '15.00'),
      total(midnight, 'UPI', 'USD', 1, '3.00'),
      total(midnight + day, 'UPI', 'INR', 1, '-1.00'),
    ]);
    // A reversed deposit does not count, nor do its disputes, which are a part of it.
    await must(user.post(`/v1/test_helpers/deposits/${disputed.id}/reverse`));
    const after = await ranged(user, 'depositTotals', midnight, midnight + 2 * day, 'DAY', all);
    expect(after.body.data.account.depositTotals).toEqual([
      total(midnight, 'CARD', 'INR', 1, '2.00'),
      total(midnight, 'UPI', 'INR', 1, '5.00'),
      total(midnight, 'UPI', 'USD', 1, '3.00'),
    ]);
    // The end is excluded.
    const before = await ranged(user, 'depositTotals', midnight, midnight + 43_199, 'DAY', all);
    expect(before.body.data.account.depositTotals).toEqual([]);
  });

  it('include what the accounts below received where that is asked for, and of no other account', async () => {
    const [platform, stranger] = [await given.platform(1), await given.platform(1)];
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const direct = await given.directUser(1);
    const amounts: [Speaker, Speaker, string, { id: string }?][] = [
      [platform, platform, '1.00'],
      [platform, platform, '2.00', await activatedPartner(platform, platform)],
      [platform, user, '10.00', await activatedPartner(platform, user)],
      [platform, other, '40.00', await activatedPartner(platform, other)],
      [stranger, stranger, '100.00', await activatedPartner(stranger, stranger)],
      [direct, direct, '1000.00'],
      [direct, direct, '2000.00', await activatedPartner(direct, direct)],
    ];
    for (const [root, owner, amount, partner] of amounts)
      await completed(owner, amount, { to: { account_id: partner?.id ?? root.id } });
    const sumOf = (amountsOf: { amount: string }[]) => amountsOf.map(({ amount }) => amount).join();
    const at = (offset: number) => new Date(Date.now() + offset * 1000).toISOString();
    const partnerOf = (owner: Speaker) => amounts.find(([, each, , partner]) => each === owner && partner)![3]!.id;
    const totalOf = async (speaker: Speaker, id: string, descendants: string) => {
      const { body } = await speaker.graph(
        `{ node(id: "${id}") { ... on Account { depositTotals(from: "${at(-day)}", to: "${at(day)}", interval: MONTH
          ${descendants}) { amount }
           balance${descendants && `(${descendants.slice(2)})`} { pending { amount } } } } }`,
      );
      const cents = body.data.node?.depositTotals.map((total: any) => Number(total.amount.replace('.', '')));
      const total = cents?.reduce((a: number, b: number) => a + b, 0);
      // Nothing is reconciled, so what was received is pending.
      if (total !== undefined) expect(sumOf(body.data.node.balance.pending)).toBe((total / 100).toFixed(2));
      return total;
    };
    // Before and after the worker has added the changes to the totals.
    for (const sums of [false, true]) {
      for (const root of sums ? [platform, stranger, direct] : [])
        await world.database.call('sum_deposits', [tenantOf(root), false, 100]);
      for (const [speaker, id, own, all] of [
        [platform, platform.id, 100, 5300],
        [platform, user.id, 0, 1000],
        [platform, partnerOf(other), 4000, 4000],
        [platform.actingFor(user.id), user.id, 0, 1000],
        [user, user.id, 0, 1000],
        [user, partnerOf(user), 1000, 1000],
        [stranger, stranger.id, 0, 10_000],
        [direct, direct.id, 100_000, 300_000],
        [user, platform.id, undefined, undefined],
        [user, partnerOf(other), undefined, undefined],
        [stranger, user.id, undefined, undefined],
      ] as const)
        expect([
          id,
          await totalOf(speaker, id, ''),
          await totalOf(speaker, id, ', scope: SELF'),
          await totalOf(speaker, id, ', scope: DESCENDANTS'),
        ]).toEqual([id, own, own, all]);
    }
  });

  it('of receivables are by status and currency, of an account or with the accounts below it', async () => {
    const [platform, stranger] = [await given.platform(1), await given.platform(1)];
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    for (const [owner, amount] of [
      [platform, '1.00'],
      [user, '10.00'],
      [user, '20.00'],
      [other, '400.00'],
      [stranger, '5000.00'],
    ] as const) {
      const reply = await owner.post('/v1/receivables', {
        ...{ purpose_code: 'P0802', transaction_type: 'services', currency: 'USD' },
        invoice: {
          ...{ amount, currency: 'USD', reference_number: nickname() },
          ...{ creation_date: '2026-01-01', due_date: '2030-01-01' },
        },
      });
      expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
      if (amount === '20.00') expect((await owner.post(`/v1/receivables/${reply.body.id}/void`)).status).toBe(200);
    }
    const money = '{ amount currency }';
    const sums = `count amountMaximumReconcilable ${money} amountReconcilable ${money} amountLocked ${money}
      amountSettledPayouts ${money}`;
    const totalsOf = async (speaker: Speaker, id: string, descendants: boolean) => {
      const { body } = await speaker.graph(
        `{ node(id: "${id}") { ... on Account { receivableTotals(scope: ${descendants ? 'DESCENDANTS' : 'SELF'}) {
           currencies { currency total { ${sums} } statuses { status ${sums} } } } } } }`,
      );
      return body.data.node?.receivableTotals.currencies.flatMap(({ currency, total, statuses }: any) => {
        expect([currency, statuses.map(({ status }: any) => status)]).toEqual([
          'USD',
          ['OPEN', 'LOCKED', 'SETTLED', 'VOID'],
        ]);
        return [{ status: 'all', ...total }, ...statuses].flatMap((t: any) => {
          for (const money of [t.amountLocked, t.amountSettledPayouts])
            expect(money).toEqual({ amount: '0.00', currency: 'USD' });
          const [open, most] = [t.amountReconcilable.amount, t.amountMaximumReconcilable.amount];
          return t.count > 0 ? [`${t.status} ${t.count}: ${open} of ${most}`] : [];
        });
      });
    };
    const ofUser = ['all 1: 10.00 of 10.00', 'OPEN 1: 10.00 of 10.00', 'VOID 1: 0.00 of 20.00'];
    const ofPlatform = ['all 1: 1.00 of 1.00', 'OPEN 1: 1.00 of 1.00'];
    const ofAll = ['all 3: 411.00 of 411.00', 'OPEN 3: 411.00 of 411.00', 'VOID 1: 0.00 of 20.00'];
    for (const [speaker, id, own, all] of [
      [platform, platform.id, ofPlatform, ofAll],
      [platform, user.id, ofUser, ofUser],
      [platform.actingFor(user.id), user.id, ofUser, ofUser],
      [user, user.id, ofUser, ofUser],
      [user, other.id, undefined, undefined],
      [user, platform.id, undefined, undefined],
      [stranger, platform.id, undefined, undefined],
    ] as const)
      expect([id, await totalsOf(speaker, id, false), await totalsOf(speaker, id, true)]).toEqual([id, own, all]);
  });

  it.each(['balanceHistory', 'depositTotals'])(
    'of %s have at most 400 steps, and an end after their beginning',
    async (field) => {
      const user = await given.directUser(1);
      const from = 1_700_006_400 - (1_700_006_400 % day);
      for (const [length, interval, allowed] of [
        [400 * day, 'DAY', true],
        [400 * day + 1, 'DAY', false],
        [400 * 7 * day, 'WEEK', true],
        [4_000 * day, 'DAY', false],
        [4_000 * day, 'MONTH', true],
        [0, 'DAY', false],
        [-day, 'DAY', false],
      ] as const) {
        const reply = await ranged(user, field, from, from + length, interval, 'start');
        expect([length, interval, reply.codes]).toEqual([length, interval, allowed ? [] : ['parameter_invalid']]);
      }
    },
  );

  it('are one query for many accounts, without those of another tenant', async () => {
    const platform = await given.platform(1);
    const [one, two] = [await activatedPartner(platform, platform), await activatedPartner(platform, platform)];
    await completed(platform, '1.00', { to: { account_id: one.id } });
    await completed(platform, '2.00', { to: { account_id: two.id } });
    const { body } = await platform.graph(
      `{ nodes(ids: ["${one.id}", "${two.id}", "${platform.id}"]) { ... on Account { id balance { pending { ` +
        'amount } } } } }',
    );
    expect(body.data.nodes).toEqual([
      { id: one.id, balance: { pending: [{ amount: '1.00' }] } },
      { id: two.id, balance: { pending: [{ amount: '2.00' }] } },
      { id: platform.id, balance: { pending: [{ amount: '0.00' }] } },
    ]);
    const stranger = await given.platform(1);
    const foreign = await stranger.graph(`{ nodes(ids: ["${one.id}", "${platform.id}"]) { id } }`);
    expect(foreign.body.data.nodes).toEqual([null, null]);
  });
});

// A deposit of the largest amount stays exact in every edition.
it.each([1, 2] as Edition[])(
  'carries amounts exactly that a floating-point number cannot, in Edition %i',
  async (edition) => {
    const user = await given.directUser(edition);
    const currency = currencyOf[edition];
    const largest = '9999999999999.99';
    const first = await completed(user, largest);
    for (let n = 0; n < 9; n++) await completed(user, largest);
    // Ten times the largest is 9999999999999990 cents, still exact in a double; with one cent more it is not.
    await completed(user, '0.01');
    expect((await user.get('/v1/balance')).body.pending).toEqual(money('99999999999999.91', currency));
    await reconciled(user, first, largest);
    expect((await user.get('/v1/balance')).body).toMatchObject({
      available: money(largest, currency),
      pending: money('89999999999999.92', currency),
    });
    const { body } = await user.graph('{ balance { pending { amount } } }');
    expect(body.data.balance.pending).toEqual([{ amount: '89999999999999.92' }]);
  },
);
