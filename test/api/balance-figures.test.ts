import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { currencyOf, receivableBody } from '../support/bodies.js';
import { advanceClock } from '../support/jobs.js';
import { type Edition, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { activatedPartner, completed, day, deposited, iso, money, reconciled } from './balance-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

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
    await advanceClock(user, day);
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
    const [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const reply = await outsider.graph(
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
    const now = await advanceClock(user, 1);
    const month = new Date(now * 1000);
    const first = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1) / 1000;
    await advanceClock(user, first - now + 43_200);
    const deposit = await completed(user, '10.00');
    await advanceClock(user, day);
    await reconciled(user, deposit, '4.00');
    await advanceClock(user, 30 * day);
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
    const now = await advanceClock(user, 1);
    const midnight = now - (now % day) + day;
    await advanceClock(user, midnight - now + 43_200);
    const disputed = await completed(user, '10.00');
    await completed(user, '5.00');
    await completed(user, '2.00', { payment_method: 'card' });
    await completed(user, '3.00', { currency: 'USD' });
    const [failing, reversing] = [await deposited(user, '100.00'), await completed(user, '200.00')];
    await deposited(user, '400.00');
    await must(user.post(`/v1/test_helpers/deposits/${failing.id}/fail`));
    await must(user.post(`/v1/test_helpers/deposits/${reversing.id}/reverse`));
    await advanceClock(user, day);
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
    const [platform, outsider] = [await given.platform(1), await given.platform(1)];
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const direct = await given.directUser(1);
    const amounts: [Speaker, Speaker, string, { id: string }?][] = [
      [platform, platform, '1.00'],
      [platform, platform, '2.00', await activatedPartner(platform, platform)],
      [platform, user, '10.00', await activatedPartner(platform, user)],
      [platform, other, '40.00', await activatedPartner(platform, other)],
      [outsider, outsider, '100.00', await activatedPartner(outsider, outsider)],
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
      for (const root of sums ? [platform, outsider, direct] : [])
        await world.database.call('sum_deposits', [tenantOf(root), false, 100]);
      for (const [speaker, id, own, all] of [
        [platform, platform.id, 100, 5300],
        [platform, user.id, 0, 1000],
        [platform, partnerOf(other), 4000, 4000],
        [platform.actingFor(user.id), user.id, 0, 1000],
        [user, user.id, 0, 1000],
        [user, partnerOf(user), 1000, 1000],
        [outsider, outsider.id, 0, 10_000],
        [direct, direct.id, 100_000, 300_000],
        [user, platform.id, undefined, undefined],
        [user, partnerOf(other), undefined, undefined],
        [outsider, user.id, undefined, undefined],
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
    const [platform, outsider] = [await given.platform(1), await given.platform(1)];
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    for (const [owner, amount] of [
      [platform, '1.00'],
      [user, '10.00'],
      [user, '20.00'],
      [other, '400.00'],
      [outsider, '5000.00'],
    ] as const) {
      const reply = await owner.post(
        '/v1/receivables',
        receivableBody({ amount, creation_date: '2026-01-01', due_date: '2030-01-01' }),
      );
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
      [outsider, platform.id, undefined, undefined],
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
    const outsider = await given.platform(1);
    const foreign = await outsider.graph(`{ nodes(ids: ["${one.id}", "${platform.id}"]) { id } }`);
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
