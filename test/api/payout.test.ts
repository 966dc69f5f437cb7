import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { unknownId } from '../support/bodies.js';
import { advanceAndRun, advanceClock, noon, runJobs } from '../support/jobs.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { must, givenIn, type Speaker, useWorld, payoutAddress } from '../support/world.js';
import {
  configure,
  day,
  earn,
  end,
  funds,
  locksOf,
  midnight,
  payoutsIn,
  payoutsOf,
  settingOf,
} from './payout-fixture.js';
import { updateRoot } from '../../src/operator/account/accounts.js';

// No worker runs: `once` and `work` do its work, so that a test can inspect a payout in progress.
const world = useWorld({ worker: false });
const given = givenIn(world);
const { exporter } = payoutsIn(world);

auditLedger(world);

/** Advances a root's test clock to a time, in steps of at most 400 days, which is the limit of the helper. */
async function advanceTo(root: Speaker, seconds: number): Promise<void> {
  for (let rest = seconds - (await advanceClock(root, 1)); rest > 0; rest -= 400 * day)
    await advanceClock(root, Math.min(rest, 400 * day));
}

/** The next year, also when the tests run beyond the end of this one. */
const year = new Date().getUTCFullYear() + 1;

/** Noon of a day of the next year: twelve hours from midnight, and always in the future. */
function nextYear(month: number, dayOfMonth: number): number {
  return Date.UTC(year, month - 1, dayOfMonth, 12) / 1000;
}
const date = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);

describe('the time of a payout', () => {
  it('is the next midnight, UTC, by default', async () => {
    const user = await exporter(1);
    expect((await settingOf(user)).payouts).toMatchObject({
      ...{ interval: 'daily', weekly_anchor: null, monthly_anchor: null },
    });
    await advanceTo(user, nextYear(6, 10));
    await earn(user, '10.00');
    await advanceTo(user, nextYear(6, 10) + 39_600);
    await runJobs(user);
    expect(await payoutsOf(user)).toEqual([]);

    await advanceTo(user, nextYear(6, 10) + 43_201);
    await runJobs(user);

    expect((await payoutsOf(user)).map((p) => date(p.created))).toEqual([date(nextYear(6, 11))]);
  });

  // The days from noon of a Wednesday until the anchored day of the week begins.
  const wednesday = nextYear(6, 10) - ((new Date(nextYear(6, 10) * 1000).getUTCDay() + 4) % 7) * day;
  const weekdays: [name: string, anchor: number, days: number][] = [
    ['Monday', 1, 5],
    ['Tuesday', 2, 6],
    ['Wednesday', 3, 7],
    ['Thursday', 4, 1],
    ['Friday', 5, 2],
    ['Saturday', 6, 3],
    ['Sunday', 7, 4],
  ];
  it.each(weekdays)(
    'is the next %s, for money that is available on a Wednesday, with the anchor %i',
    async (name, anchor, days) => {
      expect(new Date(wednesday * 1000).getUTCDay()).toBe(3);
      const user = await exporter(1);
      expect(await configure(user, { interval: 'weekly', weekly_anchor: anchor })).toMatchObject({
        ...{ interval: 'weekly', weekly_anchor: anchor, monthly_anchor: null },
      });
      await advanceTo(user, wednesday);
      await earn(user, '10.00');
      await advanceTo(user, wednesday + days * day - 46_800);
      await runJobs(user);
      expect(await payoutsOf(user)).toEqual([]);

      await advanceTo(user, wednesday + days * day - 43_199);
      await runJobs(user);

      const [payout] = await payoutsOf(user);
      const weekday = new Date(payout.created * 1000).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
      expect([date(payout.created), weekday]).toEqual([date(wednesday + days * day), name]);
    },
  );

  const lastOfFebruary = new Date(Date.UTC(year, 2, 0)).getUTCDate();
  const months: [from: [number, number], anchor: number, to: [number, number]][] = [
    [[1, 15], 16, [1, 16]],
    [[1, 15], 15, [2, 15]],
    [[1, 15], 1, [2, 1]],
    [[1, 15], 31, [1, 31]],
    // In a shorter month, the last day.
    [[1, 31], 31, [2, lastOfFebruary]],
    [[1, 31], 30, [2, lastOfFebruary]],
    [[1, 31], 28, [2, 28]],
    [[2, lastOfFebruary], 31, [3, 31]],
    [[4, 15], 31, [4, 30]],
    [[4, 30], 31, [5, 31]],
  ];
  it.each(months)('from month and day %j with the monthly anchor %i is on %j', async (from, anchor, to) => {
    const user = await exporter(1);
    await configure(user, { interval: 'monthly', monthly_anchor: anchor });
    await advanceTo(user, nextYear(...from));
    await earn(user, '10.00');
    await advanceTo(user, nextYear(...to) - 46_800);
    await runJobs(user);
    expect(await payoutsOf(user)).toEqual([]);

    await advanceTo(user, nextYear(...to) - 43_199);
    await runJobs(user);

    expect((await payoutsOf(user)).map((p) => date(p.created))).toEqual([date(nextYear(...to))]);
  });

  it('is the last day of each month in turn, with the anchor 31', async () => {
    const user = await exporter(1);
    await configure(user, { interval: 'monthly', monthly_anchor: 31 });
    await advanceTo(user, nextYear(1, 20));
    for (const [month, to] of [
      [1, 31],
      [2, lastOfFebruary],
      [3, 31],
      [4, 30],
    ] as const) {
      await earn(user, '10.00');
      await advanceTo(user, nextYear(month, to));
      await advanceAndRun(user, 61);
    }
    expect((await payoutsOf(user)).map((p) => [date(p.created), p.amount])).toEqual(
      [nextYear(4, 30), nextYear(3, 31), nextYear(2, lastOfFebruary), nextYear(1, 31)].map((time) => [
        date(time),
        '830.00',
      ]),
    );
  });

  // The setting's current interval applies, not the interval at the time when the money arrived.
  it('follows a change of the interval also for money that is already available', async () => {
    const [slower, faster] = [await exporter(1), await exporter(1)];
    await configure(faster, { interval: 'monthly', monthly_anchor: 20 });
    for (const user of [slower, faster]) {
      await advanceTo(user, nextYear(6, 10));
      await earn(user, '10.00');
    }
    await configure(slower, { interval: 'monthly', monthly_anchor: 20 });
    await configure(faster, { interval: 'daily' });

    for (const user of [slower, faster]) {
      await advanceTo(user, nextYear(6, 11));
      await runJobs(user);
    }

    const dates = async (user: Speaker) => (await payoutsOf(user)).map((p) => date(p.created));
    expect([await dates(slower), await dates(faster)]).toEqual([[], [date(nextYear(6, 11))]]);
    await advanceTo(slower, nextYear(6, 20));
    await runJobs(slower);
    expect(await dates(slower)).toEqual([date(nextYear(6, 20))]);
  });

  it('is immediate for the connected users of a platform with live FX, and not for the platform itself', async () => {
    const platform = await given.platform(1);
    const row = await world.operator.account(platform.id, false);
    await updateRoot(world.operator, row, { liveFx: true });
    const user = await activatedUser(platform);
    await payoutAddress(platform);
    expect((await settingOf(platform)).live_fx).toBe(true);

    await earn(user, '10.00');
    await earn(platform, '20.00');
    await runJobs(platform);

    expect((await payoutsOf(platform)).map((p) => [p.account_id, p.amount, p.currency])).toEqual([
      [user.id, '830.00', 'INR'],
    ]);
    await earn(user, '1.00');
    await runJobs(platform);
    expect((await payoutsOf(user)).map((p) => p.amount).toSorted()).toEqual(['83.00', '830.00']);
    await midnight(platform);
    expect((await payoutsOf(platform, `?account_id=${platform.id}`)).map((p) => p.amount)).toEqual(['1660.00']);
  });

  it('is immediate when live FX is enabled, with any number of other payouts of the platform', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    await earn(user, '10.00');
    await runJobs(platform);
    expect(await payoutsOf(user)).toEqual([]);
    // 450 other payouts precede this one in the order of the accounts, so that it is in the third batch of 200.
    await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select j.tenant_id, j.livemode, j.id || n, j.created, j.kind, 'account_' || lpad(n::text, 32, '0'), j.args, j.due
      from job j, generate_series(1, 450) n where j.kind = 'pay_out' and j.subject_id = ${user.id}`;

    await updateRoot(world.operator, await world.operator.account(platform.id, false), { liveFx: true });
    while ((await runJobs(platform)) > 0);

    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['830.00']);
  });

  it('is immediate with live FX also while a failed payout waits for its next time', async () => {
    const platform = await given.platform(1);
    await updateRoot(world.operator, await world.operator.account(platform.id, false), { liveFx: true });
    const user = await activatedUser(platform);
    await earn(user, '10.00');
    await runJobs(platform);
    const [payout] = await payoutsOf(user);
    await must(end(user, 'REST', payout.id, 'fail'));
    await runJobs(platform);
    expect(await payoutsOf(user)).toHaveLength(1);

    await earn(user, '1.00');
    await runJobs(platform);

    expect((await payoutsOf(user)).map((p) => p.amount).toSorted()).toEqual(['83.00', '830.00', '830.00']);
  });

  // Money that could not be paid out must not make later money wait for the interval.
  it('is immediate with live FX also after money was held', async () => {
    const platform = await given.platform(1);
    await updateRoot(world.operator, await world.operator.account(platform.id, false), { liveFx: true });
    const user = await activatedUser(platform);
    await configure(platform, { enabled: false }, user.id);
    await earn(user, '10.00');
    await runJobs(platform);
    expect(await payoutsOf(user)).toEqual([]);
    await configure(platform, { enabled: true }, user.id);

    await earn(user, '1.00');
    await runJobs(platform);

    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['913.00']);
  });
});

describe('a payout', () => {
  it('has all of the available money and exactly these keys, and is found by id and in lists', async () => {
    const user = await exporter(2);
    const [address] = (await user.get('/v1/addresses?category=user_payout')).body.data;
    const earned = [await earn(user, '60.00'), await earn(user, '0.50')];
    await midnight(user);

    const list = await user.get('/v1/payouts');
    const payout = list.body.data[0];
    const expected = {
      id: expect.stringMatching(/^payout_[0-9a-f]{32}$/),
      object: 'payout',
      created: expect.any(Number),
      livemode: false,
      account_id: user.id,
      address_id: address.id,
      amount: '60.50',
      currency: 'INR',
      status: 'processing',
      payment_id: expect.stringMatching(/^payment_[0-9a-f]{32}$/),
      source_amount: '60.50',
      source_currency: 'INR',
      rate: '1',
      reason_code: null,
      bank_reference: null,
      expected_arrival: payout.created + 60,
    };
    expect([list.status, list.body]).toEqual([200, { object: 'list', data: [expected], has_next: false }]);
    expect(Object.keys(payout)).toEqual(
      (
        'id object created livemode account_id address_id amount currency status payment_id source_amount ' +
        'source_currency rate reason_code bank_reference expected_arrival'
      ).split(' '),
    );
    expect((await user.get(`/v1/payouts/${payout.id}`)).body).toEqual(payout);
    expect(await funds(user)).toEqual({ 'payout_processing INR': '60.50' });
    const payment = (await user.get(`/v1/payments/${payout.payment_id}`)).body;
    expect(payment).toEqual({
      ...{ id: payout.payment_id, object: 'payment', created: payout.created, livemode: false, type: 'payout' },
      ...{ amount: '60.50', currency: 'INR', status: 'processing', deposit_id: null, checkout_id: null },
    });

    await advanceAndRun(user, 61);

    expect((await user.get(`/v1/payouts/${payout.id}`)).body).toEqual({ ...payout, status: 'completed' });
    expect((await user.get(`/v1/payments/${payment.id}`)).body).toEqual({ ...payment, status: 'completed' });
    expect(await funds(user)).toEqual({});
    // Each takes every unpaid lock of its account.
    expect([await locksOf(user, earned[0].receivable.id), await locksOf(user, earned[1].receivable.id)]).toEqual([
      ['0.00', '60.00', []],
      ['0.00', '0.50', []],
    ]);
    const { body } = await user.graph(
      `{ payout(id: "${payout.id}") { status sourceAmount sourceCurrency rate account { id } address { id ` +
        `payouts { nodes { id } } } payment { id type payout { id } deposit { id } } } account(id: "${user.id}") ` +
        '{ payouts { nodes { id } } } }',
    );
    expect(body.data).toEqual({
      payout: {
        ...{ status: 'COMPLETED', sourceAmount: '60.50', sourceCurrency: 'INR', rate: '1', account: { id: user.id } },
        address: { id: address.id, payouts: { nodes: [{ id: payout.id }] } },
        payment: { id: payment.id, type: 'PAYOUT', payout: { id: payout.id }, deposit: null },
      },
      account: { payouts: { nodes: [{ id: payout.id }] } },
    });
  });

  it('is on the list of its account and of its platform, and on no other', async () => {
    const platform = await given.platform(1);
    const [one, two] = [await activatedUser(platform), await activatedUser(platform)];
    await earn(one, '10.00');
    await earn(two, '20.00');
    await midnight(platform);
    const [ofTwo] = await payoutsOf(two);
    expect((await end(platform, 'REST', ofTwo.id, 'settle')).status).toBe(200);
    const ids = async (speaker: Speaker, query = '') =>
      (await payoutsOf(speaker, query)).map((p) => p.amount).toSorted();

    expect(await ids(platform)).toEqual(['1660.00', '830.00']);
    expect(await ids(platform.actingFor(one.id))).toEqual(['830.00']);
    expect(await ids(platform, `?account_id=${two.id}`)).toEqual(['1660.00']);
    expect(await ids(platform, '?status=completed')).toEqual(['1660.00']);
    expect(await ids(platform, '?status=processing')).toEqual(['830.00']);
    expect(await ids(platform, '?status=failed,processing')).toEqual(['830.00']);
    expect(await ids(one)).toEqual(['830.00']);
    const outsider = await given.platform(1);
    for (const speaker of [one, outsider]) {
      for (const id of [ofTwo.id, unknownId('payout')]) {
        const reply = await speaker.get(`/v1/payouts/${id}`);
        expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['payout.id']]);
      }
    }
    expect(await ids(outsider)).toEqual([]);
    const bad = await platform.get('/v1/payouts?status=sent&colour=red');
    expect([bad.status, bad.fieldNames.toSorted()]).toEqual([400, ['payout.colour', 'payout.status']]);
  });
});

describe('the address of a payout', () => {
  it('is the newest of the currency', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user, 'INR');
    const rupees = await payoutAddress(user, 'INR');
    const dollars = await payoutAddress(user, 'USD');
    await earn(user, '10.00', 'INR');
    await earn(user, '20.00', 'USD');
    await midnight(user);

    expect((await payoutsOf(user)).map((p) => [p.currency, p.amount, p.address_id]).toSorted()).toEqual([
      ['INR', '10.00', rupees.id],
      ['USD', '20.00', dollars.id],
    ]);
  });

  it('is replaced by a newer one of its currency, and deactivated when no payout to it is in progress', async () => {
    const user = await exporter(2);
    const [old] = (await user.get('/v1/addresses?category=user_payout')).body.data;
    const statusOf = async (id: string) => (await user.get(`/v1/addresses/${id}`)).body.status;
    await earn(user, '10.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);
    expect(payout.address_id).toBe(old.id);

    const newer = await payoutAddress(user);
    await runJobs(user);
    // The payout is still in progress.
    expect([await statusOf(old.id), await statusOf(newer.id)]).toEqual(['pending_deactivation', 'activated']);
    await must(end(user, 'REST', payout.id, 'settle'));
    await runJobs(user);
    expect([await statusOf(old.id), await statusOf(newer.id)]).toEqual(['deactivated', 'activated']);

    // Without a payout in progress the next round of the worker deactivates it; another currency does not replace it.
    const newest = await payoutAddress(user);
    const dollars = await payoutAddress(user, 'USD');
    await runJobs(user);
    expect(await Promise.all([newer, newest, dollars].map(({ id }) => statusOf(id)))).toEqual([
      'deactivated',
      'activated',
      'activated',
    ]);
    await earn(user, '1.00');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => p.address_id)).toEqual([newest.id, old.id]);
  });

  it('stays in use when the payout to it fails, until it is replaced', async () => {
    const user = await exporter(2);
    const [old] = (await user.get('/v1/addresses?category=user_payout')).body.data;
    await earn(user, '10.00');
    await midnight(user);
    const newer = await payoutAddress(user);
    const [payout] = await payoutsOf(user);
    await must(end(user, 'REST', payout.id, 'fail'));
    await runJobs(user);
    expect((await user.get(`/v1/addresses/${old.id}`)).body.status).toBe('deactivated');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => [p.address_id, p.amount, p.status])).toEqual([
      [newer.id, '10.00', 'processing'],
      [old.id, '10.00', 'failed'],
    ]);
  });

  it('is required: without one the money stays, and is paid out at the next interval after one exists', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await earn(user, '10.00');
    await midnight(user);
    expect([await payoutsOf(user), await funds(user)]).toEqual([[], { 'available INR': '10.00' }]);

    const address = await payoutAddress(user);
    await runJobs(user);
    expect(await payoutsOf(user)).toEqual([]);
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => [p.address_id, p.amount])).toEqual([[address.id, '10.00']]);
  });
});

describe('converting', () => {
  // The sandbox's rates per US dollar.
  const table: [source: string, earned: string, target: string, paid: string][] = [
    ['USD', '100.00', 'INR', '8300.00'],
    ['USD', '0.01', 'INR', '0.83'],
    ['USD', '100.00', 'AED', '367.25'],
    ['USD', '100.00', 'EUR', '92.00'],
    // A currency without a minor unit gets whole units.
    ['USD', '100.33', 'JPY', '15049.00'],
    ['INR', '10000.00', 'USD', '120.48'],
    ['INR', '10000.00', 'EUR', '110.84'],
    ['INR', '10000.00', 'GBP', '95.18'],
    ['INR', '10000.00', 'SGD', '162.65'],
    ['INR', '10000.00', 'AUD', '183.13'],
    ['INR', '10000.00', 'CAD', '165.06'],
    ['INR', '10000.00', 'JPY', '18072.00'],
    // Computed with the table's rate to the last cent; a rounded ratio would differ.
    ['INR', '8300.00', 'USD', '100.00'],
    ['INR', '8300000.00', 'EUR', '92000.00'],
    ['INR', '99999991699.99', 'USD', '1204819177.10'],
    ['USD', '99999999999.99', 'JPY', '14999999999998.00'],
  ];
  it.each(table)('pays %s %s into %s as %s, rounded down', async (source, earned, target, paid) => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user, target);
    await earn(user, earned, source);
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => [p.amount, p.currency])).toEqual([[paid, target]]);
    expect(await funds(user)).toEqual({ [`payout_processing ${target}`]: paid });
    await advanceAndRun(user, 61);
    expect(await funds(user)).toEqual({});
  });

  it('uses processing in both currencies, and settles the receivable in its own', async () => {
    const user = await exporter(1);
    const { deposit, receivable } = await earn(user, '60.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);

    const entries = (await user.get(`/v1/balance_transactions?payment_id=${payout.payment_id}`)).body.data;
    expect(entries.map((t: any) => [t.category, t.currency, t.amount]).toSorted()).toEqual(
      [
        ['available', 'USD', '-60.00'],
        ['processing', 'USD', '60.00'],
        ['processing', 'USD', '-60.00'],
        ['processing', 'INR', '4980.00'],
        ['processing', 'INR', '-4980.00'],
        ['available', 'INR', '4980.00'],
        ['available', 'INR', '-4980.00'],
        ['payout_processing', 'INR', '4980.00'],
      ].toSorted(),
    );
    const { body } = await user.graph(`{ payout(id: "${payout.id}") { sourceAmount sourceCurrency rate } }`);
    expect(body.data.payout).toMatchObject({ sourceAmount: '60.00', sourceCurrency: 'USD' });
    expect(Number(body.data.payout.rate)).toBe(83);
    await must(end(user, 'REST', payout.id, 'settle'));
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '60.00', []]);
    // The payer of an invoice stays known.
    const paid = await user.graph(`{ receivable(id: "${receivable.id}") { lockedDeposits { id } deposits { id } } }`);
    expect(paid.body.data.receivable).toEqual({ lockedDeposits: [], deposits: [{ id: deposit.id }] });
  });

  it('is not undone when the payout fails: the money stays in its currency and is paid out again in it', async () => {
    const user = await exporter(1);
    const { deposit, receivable } = await earn(user, '60.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);

    expect((await end(user, 'REST', payout.id, 'fail')).status).toBe(200);

    expect(await funds(user)).toEqual({ 'available INR': '4980.00' });
    expect(await locksOf(user, receivable.id)).toEqual(['60.00', '0.00', [deposit.id]]);
    const next = await earn(user, '1.00');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => [p.amount, p.currency, p.status]).toSorted()).toEqual([
      ['4980.00', 'INR', 'failed'],
      ['4980.00', 'INR', 'processing'],
      ['83.00', 'INR', 'processing'],
    ]);
    await advanceAndRun(user, 61);
    expect([await locksOf(user, receivable.id), await locksOf(user, next.receivable.id)]).toEqual([
      ['0.00', '60.00', []],
      ['0.00', '1.00', []],
    ]);
    expect(await funds(user)).toEqual({});
  });

  it('needs a rate: a currency without one gets no payout, until another address receives all the money', async () => {
    const user = await given.directUser(2);
    await noon(user);
    await payoutAddress(user, 'CHF');
    await earn(user, '10.00');
    await midnight(user);
    expect([await payoutsOf(user), await funds(user)]).toEqual([[], { 'available INR': '10.00' }]);
    await payoutAddress(user, 'INR');
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => [p.amount, p.currency])).toEqual([['10.00', 'INR']]);
  });
});
