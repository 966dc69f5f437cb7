import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { advanceAndRun, advanceClock, noon, runJobs } from '../support/jobs.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { must, givenIn, type Speaker, useWorld, tenantOf, payoutAddress } from '../support/world.js';
import {
  configure,
  day,
  earn,
  end,
  funds,
  locksOf,
  midnight,
  number,
  payoutsIn,
  payoutsOf,
  settingOf,
} from './payout-fixture.js';
import { setServiceHold } from '../../src/operator/money/payouts.js';

// No worker runs: `once` and `work` do its work, so that a test can inspect a payout in progress.
const world = useWorld({ worker: false });
const given = givenIn(world);
const { exporter, waiting, within } = payoutsIn(world);

auditLedger(world);

/** The sandbox's bank does not settle: payouts stay in progress until a test ends them. */
async function slowBank(root: Speaker): Promise<void> {
  await root.world
    .sql`update job set due = due + 100000000 where tenant_id = ${tenantOf(root)} and kind = 'settle_payout'`;
}

describe('money that cannot be paid out', () => {
  const blocksOf = async (user: Speaker) =>
    (await user.graph(`{ account(id: "${user.id}") { payoutBlocks { currency reasonCode } } }`)).body.data.account
      .payoutBlocks;
  const eventsOf = async (user: Speaker): Promise<any[]> => {
    await number(user);
    return (await user.get('/v1/events?type=payout.blocked')).body.data;
  };

  it('is reported by one event with its reason, until it is paid', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await earn(user, '10.00');
    for (let i = 0; i < 3; i++) await midnight(user);
    expect(await blocksOf(user)).toEqual([{ currency: 'INR', reasonCode: 'ADDRESS_MISSING' }]);
    const [event, ...more] = await eventsOf(user);
    expect(more).toEqual([]);
    expect(event.data.object).toEqual({
      id: expect.stringMatching(/^payout_block_/),
      object: 'payout_block',
      created: expect.any(Number),
      livemode: false,
      account_id: user.id,
      currency: 'INR',
      reason_code: 'address_missing',
    });
    await payoutAddress(user);
    await midnight(user);
    expect([await blocksOf(user), (await payoutsOf(user)).length]).toEqual([[], 1]);
  });

  it('may be more than the largest payout in the currency of its address', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user, 'JPY');
    await earn(user, '9999999999999.99', 'USD');
    await midnight(user);
    expect([await payoutsOf(user), await blocksOf(user)]).toEqual([
      [],
      [{ currency: 'USD', reasonCode: 'AMOUNT_TOO_LARGE' }],
    ]);
    // Another address accepts it.
    await payoutAddress(user, 'USD');
    await midnight(user);
    expect([(await payoutsOf(user)).map((p) => p.amount), await blocksOf(user)]).toEqual([['9999999999999.99'], []]);
  });

  it('may be less than the smallest amount, and is paid out together with later money', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user, 'USD');
    await earn(user, '0.10');
    await midnight(user);
    expect(await blocksOf(user)).toEqual([{ currency: 'INR', reasonCode: 'AMOUNT_TOO_SMALL' }]);
    await earn(user, '8.20');
    await midnight(user);
    expect([(await payoutsOf(user)).map((p) => p.amount), await blocksOf(user)]).toEqual([['0.10'], []]);
  });

  it('has one reason per currency, and none when payouts are disabled', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user, 'CHF');
    await earn(user, '10.00', 'USD');
    await midnight(user);
    expect(await blocksOf(user)).toEqual([{ currency: 'USD', reasonCode: 'RATE_MISSING' }]);
    await payoutAddress(user, 'INR');
    const { deposit } = await earn(user, '20.00');
    await midnight(user);
    expect([(await payoutsOf(user)).length, await blocksOf(user)]).toEqual([2, []]);
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`));
    await earn(user, '5.00', 'USD');
    await midnight(user);
    expect(await blocksOf(user)).toEqual([{ currency: 'USD', reasonCode: 'BALANCE_NEGATIVE' }]);
    await setServiceHold(world.operator, await world.operator.account(user.id, false), true);
    await midnight(user);
    expect(await blocksOf(user)).toEqual([]);
    expect((await settingOf(user)).payouts.reason_code_not_enabled).toBe('service_hold');
  });
});

describe('reasons that prevent a payout', () => {
  type Hold = (platform: Speaker, user: Speaker) => Promise<unknown>;
  const holds: [reason: string, hold: Hold, lift: Hold][] = [
    [
      'platform_hold',
      (platform, user) => configure(platform, { enabled: false }, user.id),
      (platform, user) => configure(platform, { enabled: true }, user.id),
    ],
    [
      'service_hold',
      async (_, user) => setServiceHold(world.operator, await world.operator.account(user.id, false), true),
      async (_, user) => setServiceHold(world.operator, await world.operator.account(user.id, false), false),
    ],
    [
      'account_not_activated',
      (platform, user) => platform.post(`/v1/test_helpers/accounts/${user.id}/hold`),
      (platform, user) => platform.post(`/v1/test_helpers/accounts/${user.id}/verify`),
    ],
  ];

  it.each(holds)(
    '%s does, and the money is paid out at the next interval after the hold is lifted',
    async (reason, hold, lift) => {
      const platform = await given.platform(1);
      const user = await activatedUser(platform);
      expect((await settingOf(user)).payouts).toMatchObject({ enabled: true, reason_code_not_enabled: null });
      await earn(user, '10.00');
      await hold(platform, user);
      expect((await settingOf(user)).payouts).toMatchObject({ enabled: false, reason_code_not_enabled: reason });

      for (let n = 0; n < 3; n++) await midnight(platform);
      expect([await payoutsOf(user), await funds(user)]).toEqual([[], { 'available USD': '10.00' }]);

      await lift(platform, user);
      await runJobs(platform);
      expect(await payoutsOf(user)).toEqual([]);
      await midnight(platform);
      expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['830.00']);
      expect(await funds(user)).toEqual({ 'payout_processing INR': '830.00' });
    },
  );

  it.each(holds)('%s does from its response on, also for a payout that is being made', async (_, hold) => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    await earn(user, '10.00');
    await advanceClock(platform, day);
    let round: Promise<unknown> | undefined;
    await within(
      (sql) => sql`select from balance where tenant_id = ${tenantOf(platform)} for update`,
      async () => {
        round = runJobs(platform);
        await waiting(1);
        await hold(platform, user);
      },
    );
    await round;
    await number(platform);
    expect(await payoutsOf(platform)).toEqual([]);
  });

  it('apply separately: the next reason applies after one is lifted', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    await earn(user, '10.00');
    for (const [, hold] of holds) await hold(platform, user);
    const reasons = [];
    for (const name of ['service_hold', 'account_not_activated', 'platform_hold']) {
      reasons.push((await settingOf(user)).payouts.reason_code_not_enabled);
      await midnight(platform);
      expect(await payoutsOf(user)).toEqual([]);
      await holds.find(([reason]) => reason === name)![2](platform, user);
    }
    expect(reasons).toEqual(['service_hold', 'account_not_activated', 'platform_hold']);
    await midnight(platform);
    expect(await payoutsOf(user)).toHaveLength(1);
  });

  it('do not stop a payout in progress', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    await earn(user, '10.00');
    await midnight(platform);
    await setServiceHold(world.operator, await world.operator.account(user.id, false), true);
    await advanceAndRun(platform, 61);
    expect((await payoutsOf(user)).map((p) => p.status)).toEqual(['completed']);
  });

  it('include debt: nothing is paid out while available is below zero', async () => {
    const user = await exporter(2);
    const { deposit } = await earn(user, '50.00');
    await midnight(user);
    await advanceAndRun(user, 61);
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '30.00' }));
    expect(await funds(user)).toEqual({ 'available INR': '-30.00' });
    await earn(user, '29.99');
    await midnight(user);
    await midnight(user);
    expect(await funds(user)).toEqual({ 'available INR': '-0.01' });
    expect(await payoutsOf(user)).toHaveLength(1);

    await earn(user, '5.00');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['4.99', '50.00']);
  });

  it("include debt in any currency, also when the payout's own currency is positive", async () => {
    const user = await exporter(2);
    const { deposit } = await earn(user, '10.00', 'USD');
    await midnight(user);
    await advanceAndRun(user, 61);
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '10.00' }));
    await earn(user, '500.00');
    await midnight(user);
    await midnight(user);
    expect(await funds(user)).toEqual({ 'available INR': '500.00', 'available USD': '-10.00' });

    await earn(user, '10.00', 'USD');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['500.00', '830.00']);
  });

  it("include debt in the payout's currency: money from another currency waits, and no job fails", async () => {
    const user = await exporter(2);
    const { deposit } = await earn(user, '50.00');
    await midnight(user);
    await advanceAndRun(user, 61);
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '30.00' }));
    await earn(user, '10.00', 'USD');
    await midnight(user);
    await midnight(user);
    expect(await funds(user)).toEqual({ 'available INR': '-30.00', 'available USD': '10.00' });
    expect([
      ...(await world.sql`select error from job where tenant_id = ${tenantOf(user)} and error is not null`),
    ]).toEqual([]);

    await earn(user, '30.00');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['830.00', '50.00']);
  });

  it('include nothing else: money that arrives during a payout is paid out with the next one', async () => {
    const user = await exporter(2);
    const first = await earn(user, '10.00');
    await midnight(user);
    await slowBank(user);
    const second = await earn(user, '5.00');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['5.00', '10.00']);
    const [later, earlier] = await payoutsOf(user);

    await must(end(user, 'REST', later.id, 'settle'));

    expect([await locksOf(user, first.receivable.id), await locksOf(user, second.receivable.id)]).toEqual([
      ['10.00', '0.00', [first.deposit.id]],
      ['0.00', '5.00', []],
    ]);
    await must(end(user, 'REST', earlier.id, 'settle'));
    expect(await locksOf(user, first.receivable.id)).toEqual(['0.00', '10.00', []]);
  });
});

describe('an aggregator', () => {
  it("gets its users' money at once, and its payout settles their locks", async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const [one, two] = [await activatedUser(platform), await activatedUser(platform)];
    const address = await payoutAddress(platform);
    expect((await settingOf(one)).payouts.enabled).toBeNull();

    const [first, second] = [await earn(one, '60.00'), await earn(two, '40.00')];

    expect([await funds(one), await funds(two), await funds(platform)]).toEqual([
      {},
      {},
      { 'available INR': '100.00' },
    ]);
    const transfers = (await platform.get('/v1/payments?type=transfer')).body.data;
    expect(transfers.map((p: any) => [p.object, p.amount, p.currency, p.status]).toSorted()).toEqual([
      ['payment', '40.00', 'INR', 'completed'],
      ['payment', '60.00', 'INR', 'completed'],
    ]);
    const graph = '{ payments(first: 50, type: [TRANSFER]) { nodes { account { id } counterpart { id } } } }';
    expect((await platform.graph(graph)).body.data.payments.nodes).toEqual(
      [two, one].map(({ id }) => ({ account: { id }, counterpart: { id: platform.id } })),
    );
    // A connected user does not see its platform.
    expect((await one.graph(graph)).body.data.payments.nodes).toEqual([{ account: { id: one.id }, counterpart: null }]);
    const ofOne = (await one.get('/v1/balance_transactions')).body.data;
    expect(ofOne.map((t: any) => [t.category, t.amount]).toSorted()).toEqual([
      ['available', '-60.00'],
      ['available', '60.00'],
      ['pending', '-60.00'],
      ['pending', '60.00'],
    ]);
    const ofPlatform = (await platform.get('/v1/balance_transactions')).body.data;
    expect(ofPlatform.map((t: any) => [t.category, t.amount]).toSorted()).toEqual([
      ['available', '40.00'],
      ['available', '60.00'],
    ]);
    expect(await locksOf(one, first.receivable.id)).toEqual(['60.00', '0.00', [first.deposit.id]]);

    await midnight(platform);

    const [payout, ...others] = await payoutsOf(platform);
    expect([others, payout.account_id, payout.address_id, payout.amount]).toEqual([
      [],
      platform.id,
      address.id,
      '100.00',
    ]);
    expect([await payoutsOf(one), await payoutsOf(two)]).toEqual([[], []]);
    await advanceAndRun(platform, 61);
    expect([await locksOf(one, first.receivable.id), await locksOf(two, second.receivable.id)]).toEqual([
      ['0.00', '60.00', []],
      ['0.00', '40.00', []],
    ]);
    expect((await one.get(`/v1/receivables/${first.receivable.id}`)).body.status).toBe('settled');
  });

  it.each([
    ['fail', 'failed'],
    ['return', 'returned'],
  ] as const)('has its money and the locks of its users back after a %s, and is paid again', async (verb, status) => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const user = await activatedUser(platform);
    await payoutAddress(platform);
    const { deposit, receivable } = await earn(user, '60.00');
    await midnight(platform);
    const [payout] = await payoutsOf(platform);
    if (verb === 'return') await must(end(platform, 'REST', payout.id, 'settle'));
    await must(end(platform, 'REST', payout.id, verb));
    expect(await funds(platform)).toEqual({ 'available INR': '60.00' });
    expect(await locksOf(user, receivable.id)).toEqual(['60.00', '0.00', [deposit.id]]);
    await midnight(platform);
    await advanceAndRun(platform, 61);
    expect((await payoutsOf(platform)).map((p) => p.status).toSorted()).toEqual(['completed', status]);
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '60.00', []]);
  });

  describe('when a bank takes money of a user back', () => {
    /** An aggregator with a payout address and a user. */
    const aggregator = async () => {
      const platform = await given.platform(2, { subType: 'aggregator' });
      const user = await activatedUser(platform);
      await payoutAddress(platform);
      return { platform, user };
    };
    const reverse = (user: Speaker, id: string) => must(user.post(`/v1/test_helpers/deposits/${id}/reverse`));
    const dispute = (user: Speaker, id: string, amount: string) =>
      must(
        user.graph(`mutation { disputeTestDeposit(input: { id: "${id}", amount: "${amount}" }) { deposit { id } } }`),
      );
    const payouts = async (platform: Speaker) => (await payoutsOf(platform)).map((p) => [p.amount, p.status]);

    it('gives back a reversed deposit before it is paid out, and is paid nothing', async () => {
      const { platform, user } = await aggregator();
      const { deposit, receivable } = await earn(user, '100.00');
      await reverse(user, deposit.id);
      expect([await funds(user), await funds(platform)]).toEqual([{}, {}]);
      expect(await locksOf(user, receivable.id)).toEqual(['0.00', '0.00', []]);
      await midnight(platform);
      expect(await payouts(platform)).toEqual([]);
    });

    it('gives it back by a completed payment of type transfer with a negative amount, on both balances', async () => {
      const { platform, user } = await aggregator();
      const { deposit } = await earn(user, '60.00');
      await dispute(user, deposit.id, '20.00');
      const { data } = (await platform.get('/v1/payments?type=transfer')).body;
      expect(data.map((p: any) => [p.amount, p.currency, p.status])).toEqual([
        ['-20.00', 'INR', 'completed'],
        ['60.00', 'INR', 'completed'],
      ]);
      const graph = `{ payment(id: "${data[0].id}") { type amount account { id } counterpart { id }
        balanceTransactions(first: 5) { nodes { account { id } amount category } } } }`;
      expect((await platform.graph(graph)).body.data.payment).toMatchObject({
        ...{ type: 'TRANSFER', amount: '-20.00', account: { id: user.id }, counterpart: { id: platform.id } },
        balanceTransactions: {
          nodes: expect.arrayContaining([
            { account: { id: user.id }, amount: '20.00', category: 'AVAILABLE' },
            { account: { id: platform.id }, amount: '-20.00', category: 'AVAILABLE' },
          ]),
        },
      });
      // The user sees its own part.
      expect((await user.graph(graph)).body.data.payment).toMatchObject({ amount: '-20.00', counterpart: null });
      await number(platform);
      const events = (await platform.get('/v1/events?type=payment.completed')).body.data;
      expect(events.map(({ data: { object } }: any) => [object.id, object.amount])).toContainEqual([
        data[0].id,
        '-20.00',
      ]);
      await midnight(platform);
      expect(await payouts(platform)).toEqual([['40.00', 'processing']]);
    });

    it('leaves a payout in flight alone, and falls below zero until other money has made up for it', async () => {
      const { platform, user } = await aggregator();
      const { deposit } = await earn(user, '100.00');
      await midnight(platform);
      await dispute(user, deposit.id, '30.00');
      expect([await funds(user), await funds(platform)]).toEqual([
        {},
        { 'available INR': '-30.00', 'payout_processing INR': '100.00' },
      ]);
      await earn(user, '20.00');
      await midnight(platform);
      await advanceAndRun(platform, 61);
      expect([await funds(user), await funds(platform)]).toEqual([{}, { 'available INR': '-10.00' }]);
      expect(await payouts(platform)).toEqual([['100.00', 'completed']]);
      const other = await activatedUser(platform);
      await earn(other, '15.00');
      await midnight(platform);
      expect(await payouts(platform)).toEqual([
        ['5.00', 'processing'],
        ['100.00', 'completed'],
      ]);
    });

    it('has what is left when a payout in flight fails', async () => {
      const { platform, user } = await aggregator();
      const { deposit, receivable } = await earn(user, '100.00');
      await midnight(platform);
      await reverse(user, deposit.id);
      const [payout] = await payoutsOf(platform);
      await must(end(platform, 'REST', payout.id, 'fail'));
      expect([await funds(user), await funds(platform)]).toEqual([{}, {}]);
      expect(await locksOf(user, receivable.id)).toEqual(['0.00', '0.00', []]);
      await midnight(platform);
      expect(await payouts(platform)).toEqual([['100.00', 'failed']]);
    });

    it.each([
      ['before', true],
      ['after', false],
    ])('ends with the same money for another receipt %s it', async (_, first) => {
      const { platform, user } = await aggregator();
      const { deposit } = await earn(user, '100.00');
      if (first) await earn(user, '25.00');
      await reverse(user, deposit.id);
      if (!first) await earn(user, '25.00');
      expect([await funds(user), await funds(platform)]).toEqual([{}, { 'available INR': '25.00' }]);
      await midnight(platform);
      expect(await payouts(platform)).toEqual([['25.00', 'processing']]);
    });

    it('takes what is not reconciled first, and gives back the rest only', async () => {
      const { platform, user } = await aggregator();
      const { deposit } = await earn(user, '60.00', 'INR', '100.00');
      await dispute(user, deposit.id, '50.00');
      expect([await funds(user), await funds(platform)]).toEqual([{}, { 'available INR': '50.00' }]);
    });
  });

  it('is the only platform that does: the users of others keep their money', async () => {
    const platform = await given.platform(2);
    const user = await activatedUser(platform);
    await earn(user, '60.00');
    expect([await funds(user), await funds(platform)]).toEqual([{ 'available INR': '60.00' }, {}]);
    await midnight(platform);
    expect((await payoutsOf(platform)).map((p) => [p.account_id, p.amount])).toEqual([[user.id, '60.00']]);
  });
});
