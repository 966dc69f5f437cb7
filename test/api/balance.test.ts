import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { compartments, currencyOf, unknownId } from '../support/bodies.js';
import { advanceAndRun, advanceClock, runJobs } from '../support/jobs.js';
import { givenIn, must, nickname, type Speaker, useWorld, payoutAddress } from '../support/world.js';
import { activatedPartner, completed, day, deposited, iso, money, reconciled } from './balance-fixture.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';
import { recordBankNotice } from '../../src/operator/money/bank.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

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
    const row = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
    const { id: addressId } = await issueAddress(world.operator, row, {
      ...{ category: 'service_fee_advance', currency: 'USD', bankAccount: { number: '123456789' } },
    });
    const notice = { reference: nickname(), event: 'received', addressId, amount: 500n, currency: 'USD' } as const;
    await recordBankNotice(world.operator, notice);
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
    const [user, other, outsider] = await Promise.all([
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
      [outsider, [outsider.id]],
    ];
    const everybody = [platform, user, other, partner, own, outsider, { id: unknownId('account') }].map(({ id }) => id);

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
    const outsider = await given.directUser(1);

    expect((await platform.get(`/v1/balance_transactions/${bt.id}`)).body).toEqual(bt);
    expect((await user.get(`/v1/balance_transactions/${bt.id}`)).body).toEqual(bt);
    for (const id of [bt.id, unknownId('bt')]) {
      const reply = await outsider.get(`/v1/balance_transactions/${id}`);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        404,
        ['resource_missing'],
        ['balance_transaction.id'],
      ]);
    }
    // The list has only those of the acting account: those of a partner are on the partner's list.
    for (const speaker of [platform, user, outsider])
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
      await advanceClock(user, day);
      await runJobs(user);
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
        [`ending_before=${unknownId('bt')}`, 'ending_before'],
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
      await advanceClock(user, day);
      await runJobs(user);
      const [payout] = (await user.get('/v1/payouts')).body.data;
      await must(user.post(`/v1/test_helpers/payouts/${payout.id}/fail`));
      await reconciled(user, three, '3.33');
      await advanceClock(user, day);
      await advanceAndRun(user, 5);
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

interface Entry {
  id: string;
  amount: string;
  balanceAfter: string;
  category: string;
  payment: { id: string; amount: string; type: string };
}

/** The balance transactions of an account, the newest first. */
const entriesOf = async (user: Speaker): Promise<Entry[]> =>
  (
    await must(
      user.graph('{ balanceTransactions { nodes { id amount balanceAfter category payment { id amount type } } } }'),
    )
  ).data.balanceTransactions.nodes;

describe('a balance transaction', () => {
  it('is the change that a deposit made to one part of the balance, with the balance after it', async () => {
    const user = await given.directUser(1);
    await completed(user, '12.50');
    await completed(user, '0.75');
    const entries = (await entriesOf(user)).filter(({ category }) => category === 'PENDING');
    expect(entries.map(({ amount, balanceAfter }) => [amount, balanceAfter])).toEqual([
      ['0.75', '13.25'],
      ['12.50', '12.50'],
    ]);
    expect((await must(user.get('/v1/balance'))).pending).toEqual([{ amount: '13.25', currency: 'USD' }]);
    expect(entries.map(({ payment: { type, amount } }) => [type, amount])).toEqual([
      ['DEPOSIT', '0.75'],
      ['DEPOSIT', '12.50'],
    ]);
  });

  it('has the same id, amount and payment on /v1, and is missing for another tenant', async () => {
    const [user, outsider] = [await given.directUser(1), await given.directUser(1)];
    await completed(user, '3.00');
    const entries = await entriesOf(user);
    expect(entries.length).toBeGreaterThan(0);
    for (const { id, amount, payment } of entries) {
      const path = `/v1/balance_transactions/${id}`;
      expect(await must(user.get(path))).toMatchObject({ id, amount, payment_id: payment.id });
      expect((await outsider.get(path)).status).toBe(404);
    }
    expect(await entriesOf(outsider)).toEqual([]);
  });
});
