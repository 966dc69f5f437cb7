import pino from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Database } from '../../src/db/database.js';
import { Worker } from '../../src/jobs/runner.js';
import { scale } from '../support/scale.js';
import {
  type Transport,
  must,
  transports,
  eventually,
  givenIn,
  nickname,
  type Reply,
  type Speaker,
  statementsWaiting,
  useWorld,
  tenantOf,
  payoutAddress,
} from '../support/world.js';

// No worker runs: `once` and `work` do its work, so that a test can inspect a payout in progress.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const day = 86_400;
const currencyOf = { 1: 'USD', 2: 'INR' } as const;
const unknown = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;

async function advance(root: Speaker, seconds: number): Promise<number> {
  const reply = await root.post('/v1/test_helpers/clock', { advance_seconds: seconds });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body.now;
}

/** Advances a root's test clock to a time, in steps of at most 400 days, which is the limit of the helper. */
async function advanceTo(root: Speaker, seconds: number): Promise<void> {
  for (let rest = seconds - (await advance(root, 1)); rest > 0; rest -= 400 * day)
    await advance(root, Math.min(rest, 400 * day));
}

/** One round of a worker; the jobs that it queues are left for the next round. */
async function once(root: Speaker): Promise<number> {
  const [row] = await world.database.call('run_jobs', [tenantOf(root), false, 50]);
  return Number(row!.run_jobs);
}

/** Runs all due work, including the work that the sandbox delays. */
async function work(root: Speaker): Promise<void> {
  do await advance(root, 61);
  while ((await once(root)) > 0);
}

/** Noon of a day of the next year: twelve hours from midnight, and always in the future. */
function nextYear(month: number, dayOfMonth: number): number {
  return Date.UTC(new Date().getUTCFullYear() + 1, month - 1, dayOfMonth, 12) / 1000;
}
const date = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);

async function noon(root: Speaker): Promise<void> {
  const now = await advance(root, 1);
  await advance(root, day + 43_200 - (now % day));
}

/** The sandbox's bank does not settle: payouts stay in progress until a test ends them. */
async function slowBank(root: Speaker): Promise<void> {
  await world.sql`update job set due = due + 100000000 where tenant_id = ${tenantOf(root)} and kind = 'settle_payout'`;
}

/** A direct user at noon, with a payout address in INR. */
async function exporter(edition: 1 | 2 = 2): Promise<Speaker> {
  const user = await given.directUser(edition);
  await noon(user);
  await payoutAddress(user);
  return user;
}

/** A connected user that is activated, with a payout address in INR. */
async function activatedUser(platform: Speaker): Promise<Speaker> {
  await noon(platform);
  const businessDetails =
    platform.edition === 1
      ? {
          legalName: 'Asha Rao',
          type: 'INDIVIDUAL',
          physicalAddress: { line1: '1 Road', city: 'Pune', postalCode: '411001', country: 'IN' },
        }
      : {
          ...{ legalName: 'Asha Courses', dba: 'Asha', email: 'a@asha.example', website: 'https://asha.example' },
          ...{ dateOfIncorporation: '2014-04-01', type: 'COMPANY', ids: { business: 'U52100' } },
          physicalAddress: { line1: '1 Road', city: 'Oslo', state: 'Oslo', postalCode: '0150', country: 'NO' },
          ...{ merchantCategoryCode: '5131', merchantSize: 'small' },
          ...{ productCategory: 'goods', productDescription: 'Courses.' },
        };
  const user = await platform.connectedUser({ businessDetails });
  const relationship = platform.edition === 1 ? { owner: true } : { director: true };
  for (const full_name of ['Asha Rao', 'Jonas Lind'].slice(0, platform.edition)) {
    const identification = { tax_card_number: 'ABCPE1234F' };
    const person = await platform.post('/v1/persons', {
      account_id: user.id,
      ...{ full_name, relationship, identification },
    });
    expect(person.status).toBe(200);
  }
  await payoutAddress(platform, 'INR', user.id);
  const activated = await platform.post(`/v1/accounts/${user.id}/activate`);
  expect([activated.fieldNames, activated.status]).toEqual([[], 200]);
  await work(platform);
  return user;
}

/** Makes an amount available: a deposit that counts towards a receivable of the same amount. */
async function earn(
  user: Speaker,
  amount: string,
  currency: string = currencyOf[user.edition],
  received = amount,
): Promise<any> {
  const second = user.edition === 2 && { to: { account_id: user.id }, payment_method: 'upi' };
  const deposit = await user.post('/v1/deposits', { amount: received, currency, ...second });
  expect([deposit.fieldNames, deposit.status]).toEqual([[], 200]);
  await must(user.post(`/v1/test_helpers/deposits/${deposit.body.id}/complete`));
  const receivable = await user.post('/v1/receivables', {
    currency,
    invoice: {
      ...{ amount, currency, creation_date: '2026-10-01', due_date: '2026-12-01', reference_number: nickname() },
    },
    purpose_code: 'P0802',
    transaction_type: 'services',
  });
  const receivables = [{ id: receivable.body.id, amount }];
  const reply = await user.post(`/v1/deposits/${deposit.body.id}/reconcile`, { receivables });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return { deposit: deposit.body, receivable: receivable.body };
}

const payoutsOf = async (speaker: Speaker, query = ''): Promise<any[]> =>
  (await speaker.get(`/v1/payouts${query}`)).body.data;

/** The amounts of a currency that are not zero. */
async function funds(speaker: Speaker, id = speaker.id): Promise<Record<string, string>> {
  const { body } = await speaker.get(`/v1/balance?account_id=${id}`);
  return Object.fromEntries(
    ['available', 'pending', 'processing', 'payout_processing'].flatMap((compartment) =>
      body[compartment]
        .filter((m: any) => m.amount !== '0.00')
        .map((m: any) => [`${compartment} ${m.currency}`, m.amount] as const),
    ),
  );
}

async function locksOf(speaker: Speaker, id: string) {
  const r = (await speaker.get(`/v1/receivables/${id}`)).body;
  return [r.amount_locked, r.amount_settled_payouts, r.deposit_ids_amount_locked];
}

async function settingOf(speaker: Speaker, id = speaker.id): Promise<any> {
  return (await speaker.get(`/v1/account_settings?account_id=${id}`)).body.data[0];
}

async function configure(speaker: Speaker, payouts: object, id = speaker.id): Promise<any> {
  const { id: setting } = await settingOf(speaker, id);
  const reply = await speaker.post(`/v1/account_settings/${setting}`, { payouts });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body.payouts;
}

async function end(speaker: Speaker, transport: Transport, id: string, verb: 'settle' | 'fail'): Promise<Reply> {
  if (transport === 'REST') return speaker.post(`/v1/test_helpers/payouts/${id}/${verb}`);
  const reply = await speaker.graph(`mutation { ${verb}TestPayout(input: { id: "${id}" }) { payout { id status } } }`);
  return { ...reply, status: reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status };
}

/** Advances the clock to the next midnight, and runs one round of the worker. */
async function midnight(root: Speaker): Promise<void> {
  await advance(root, day);
  await once(root);
}

describe('the time of a payout', () => {
  it('is the next midnight, UTC, by default', async () => {
    const user = await exporter(1);
    expect((await settingOf(user)).payouts).toMatchObject({
      ...{ interval: 'daily', weekly_anchor: null, monthly_anchor: null },
    });
    await advanceTo(user, nextYear(6, 10));
    await earn(user, '10.00');
    await advanceTo(user, nextYear(6, 10) + 43_000);
    await once(user);
    expect(await payoutsOf(user)).toEqual([]);

    await advanceTo(user, nextYear(6, 10) + 43_201);
    await once(user);

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
      await advanceTo(user, wednesday + days * day - 43_500);
      await once(user);
      expect(await payoutsOf(user)).toEqual([]);

      await advanceTo(user, wednesday + days * day - 43_199);
      await once(user);

      const [payout] = await payoutsOf(user);
      const weekday = new Date(payout.created * 1000).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
      expect([date(payout.created), weekday]).toEqual([date(wednesday + days * day), name]);
    },
  );

  const lastOfFebruary = new Date(Date.UTC(new Date().getUTCFullYear() + 1, 2, 0)).getUTCDate();
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
    await advanceTo(user, nextYear(...to) - 43_500);
    await once(user);
    expect(await payoutsOf(user)).toEqual([]);

    await advanceTo(user, nextYear(...to) - 43_199);
    await once(user);

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
      await work(user);
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
      await once(user);
    }

    const dates = async (user: Speaker) => (await payoutsOf(user)).map((p) => date(p.created));
    expect([await dates(slower), await dates(faster)]).toEqual([[], [date(nextYear(6, 11))]]);
    await advanceTo(slower, nextYear(6, 20));
    await once(slower);
    expect(await dates(slower)).toEqual([date(nextYear(6, 20))]);
  });

  it('is immediate for the connected users of a platform with live FX, and not for the platform itself', async () => {
    const platform = await given.platform(1);
    const row = await world.operator.account(platform.id, false);
    await world.operator.updateRoot(row, { liveFx: true });
    const user = await activatedUser(platform);
    await payoutAddress(platform);
    expect((await settingOf(platform)).live_fx).toBe(true);

    await earn(user, '10.00');
    await earn(platform, '20.00');
    await once(platform);

    expect((await payoutsOf(platform)).map((p) => [p.account_id, p.amount, p.currency])).toEqual([
      [user.id, '830.00', 'INR'],
    ]);
    await earn(user, '1.00');
    await once(platform);
    expect((await payoutsOf(user)).map((p) => p.amount).toSorted()).toEqual(['83.00', '830.00']);
    await midnight(platform);
    expect((await payoutsOf(platform, `?account_id=${platform.id}`)).map((p) => p.amount)).toEqual(['1660.00']);
  });

  it('is immediate when live FX is enabled, with any number of other payouts of the platform', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    await earn(user, '10.00');
    await once(platform);
    expect(await payoutsOf(user)).toEqual([]);
    // 450 other payouts precede this one in the order of the accounts, so that it is in the third batch of 200.
    await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select j.tenant_id, j.livemode, j.id || n, j.created, j.kind, 'account_' || lpad(n::text, 32, '0'), j.args, j.due
      from job j, generate_series(1, 450) n where j.kind = 'pay_out' and j.subject_id = ${user.id}`;

    await world.operator.updateRoot(await world.operator.account(platform.id, false), { liveFx: true });
    while ((await once(platform)) > 0);

    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['830.00']);
  });

  it('is immediate with live FX also while a failed payout waits for its next time', async () => {
    const platform = await given.platform(1);
    await world.operator.updateRoot(await world.operator.account(platform.id, false), { liveFx: true });
    const user = await activatedUser(platform);
    await earn(user, '10.00');
    await once(platform);
    const [payout] = await payoutsOf(user);
    await must(end(user, 'REST', payout.id, 'fail'));
    await once(platform);
    expect(await payoutsOf(user)).toHaveLength(1);

    await earn(user, '1.00');
    await once(platform);

    expect((await payoutsOf(user)).map((p) => p.amount).toSorted()).toEqual(['83.00', '830.00', '830.00']);
  });

  // Money that could not be paid out must not make later money wait for the interval.
  it('is immediate with live FX also after money was held', async () => {
    const platform = await given.platform(1);
    await world.operator.updateRoot(await world.operator.account(platform.id, false), { liveFx: true });
    const user = await activatedUser(platform);
    await configure(platform, { enabled: false }, user.id);
    await earn(user, '10.00');
    await once(platform);
    expect(await payoutsOf(user)).toEqual([]);
    await configure(platform, { enabled: true }, user.id);

    await earn(user, '1.00');
    await once(platform);

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
      expected_arrival: payout.created + 60,
    };
    expect([list.status, list.body]).toEqual([200, { object: 'list', data: [expected], has_next: false }]);
    expect(Object.keys(payout)).toEqual(
      (
        'id object created livemode account_id address_id amount currency status payment_id source_amount ' +
        'source_currency rate expected_arrival'
      ).split(' '),
    );
    expect((await user.get(`/v1/payouts/${payout.id}`)).body).toEqual(payout);
    expect(await funds(user)).toEqual({ 'payout_processing INR': '60.50' });
    const payment = (await user.get(`/v1/payments/${payout.payment_id}`)).body;
    expect(payment).toEqual({
      ...{ id: payout.payment_id, object: 'payment', created: payout.created, livemode: false, type: 'payout' },
      ...{ amount: '60.50', currency: 'INR', status: 'processing', deposit_id: null, checkout_id: null },
    });

    await work(user);

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
    const stranger = await given.platform(1);
    for (const speaker of [one, stranger]) {
      for (const id of [ofTwo.id, unknown('payout')]) {
        const reply = await speaker.get(`/v1/payouts/${id}`);
        expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['payout.id']]);
      }
    }
    expect(await ids(stranger)).toEqual([]);
    const bad = await platform.get('/v1/payouts?status=sent&currency=INR');
    expect([bad.status, bad.fieldNames.toSorted()]).toEqual([400, ['payout.currency', 'payout.status']]);
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
    await once(user);
    // The payout is still in progress.
    expect([await statusOf(old.id), await statusOf(newer.id)]).toEqual(['pending_deactivation', 'activated']);
    await must(end(user, 'REST', payout.id, 'settle'));
    await once(user);
    expect([await statusOf(old.id), await statusOf(newer.id)]).toEqual(['deactivated', 'activated']);

    // Without a payout in progress the next round of the worker deactivates it; another currency does not replace it.
    const newest = await payoutAddress(user);
    const dollars = await payoutAddress(user, 'USD');
    await once(user);
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
    await once(user);
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
    await once(user);
    expect(await payoutsOf(user)).toEqual([]);
    await midnight(user);
    expect((await payoutsOf(user)).map((p) => [p.address_id, p.amount])).toEqual([[address.id, '10.00']]);
  });
});

const waiting = (statements: number) => statementsWaiting(world, statements);

/** Runs a step in a transaction of the test, and commits after the other step has started. */
async function within(
  first: (sql: typeof world.sql) => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<void> {
  await world.sql.begin(async (sql) => {
    await first(sql as never);
    await second();
  });
}

const number = (root: Speaker) => world.database.call('number_events', [tenantOf(root), false, 1_000]);

describe('a payout during concurrent changes of its rows', () => {
  it('is not made to an address that is retired at the same time', async () => {
    const user = await exporter(2);
    await earn(user, '10.00');
    await advance(user, day);
    let replaced: Promise<unknown> | undefined;
    let round: Promise<unknown> | undefined;
    await within(
      // The payout has chosen its address before it takes its locks.
      (sql) => sql`select from lock_batch where tenant_id = ${tenantOf(user)} for update`,
      async () => {
        round = once(user);
        await waiting(1);
        replaced = payoutAddress(user);
        await Promise.race([replaced, waiting(2)]);
        await once(user);
      },
    );
    await Promise.all([round, replaced]);
    await once(user);
    await number(user);

    const [payout] = await payoutsOf(user);
    expect((await user.get(`/v1/addresses/${payout.address_id}`)).body.status).toBe('pending_deactivation');
    await must(end(user, 'REST', payout.id, 'settle'));
    await once(user);
    expect((await user.get(`/v1/addresses/${payout.address_id}`)).body.status).toBe('deactivated');
  });

  it('uses the address that replaced its first choice', async () => {
    const user = await exporter(2);
    await payoutAddress(user, 'EUR');
    await earn(user, '10.00');
    await advance(user, day);
    const [old] = (await user.get('/v1/addresses?category=user_payout&currency=INR')).body.data;
    let round: Promise<unknown> | undefined;
    await within(
      (sql) =>
        sql`update address set status = 'pending_deactivation' where tenant_id = ${tenantOf(user)} and id = ${old.id}`,
      async () => {
        round = once(user);
        await waiting(1);
      },
    );
    await round;
    // The balance of the target currency was not locked; the next round locks it.
    await once(user);
    expect((await payoutsOf(user)).map((p) => [p.currency, p.address_id === old.id])).toEqual([['EUR', false]]);
  });

  it('locks the balances of the target currency in the common order, and so causes no deadlock', async () => {
    const platform = await given.platform(1);
    const users = [await activatedUser(platform), await activatedUser(platform)];
    for (const user of users) await earn(user, '10.00', 'USD');
    await advance(platform, day);
    const [one, other] = users.map(({ id }) => id).toSorted() as [string, string];
    const lock = (sql: typeof world.sql, account: string, currency: string) =>
      sql`select lock_balance(${tenantOf(platform)}, false, ${account}, ${currency})`;
    let round: Promise<unknown> | undefined;
    await world.sql.begin(async (sql) => {
      // The balance in INR has no entry yet. It precedes the one in USD, and both users' balances precede that of
      // `other`
      // in USD.
      await lock(sql as never, one, 'INR');
      round = once(platform);
      await waiting(1);
      await lock(sql as never, other, 'USD');
    });
    await round;
    const payouts = await payoutsOf(platform);
    expect(payouts.map((p) => [p.account_id, p.amount, p.currency]).toSorted()).toEqual([
      [one, '830.00', 'INR'],
      [other, '830.00', 'INR'],
    ]);
  });
});

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
    await world.operator.serviceHold(await world.operator.account(user.id, false), true);
    await midnight(user);
    expect(await blocksOf(user)).toEqual([]);
    expect((await settingOf(user)).payouts.reason_code_not_enabled).toBe('service_hold');
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
    await work(user);
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
    await work(user);
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
      async (_, user) => world.operator.serviceHold(await world.operator.account(user.id, false), true),
      async (_, user) => world.operator.serviceHold(await world.operator.account(user.id, false), false),
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
      await once(platform);
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
    await advance(platform, day);
    let round: Promise<unknown> | undefined;
    await within(
      (sql) => sql`select from balance where tenant_id = ${tenantOf(platform)} for update`,
      async () => {
        round = once(platform);
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
    await world.operator.serviceHold(await world.operator.account(user.id, false), true);
    await work(platform);
    expect((await payoutsOf(user)).map((p) => p.status)).toEqual(['completed']);
  });

  it('include debt: nothing is paid out while available is below zero', async () => {
    const user = await exporter(2);
    const { deposit } = await earn(user, '50.00');
    await midnight(user);
    await work(user);
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
    await work(user);
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
    await work(user);
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

describe.each(transports)('the end of a payout over %s', (transport) => {
  // Locks of a payout remain when their money is taken back; when the payout fails, no money is left for them.
  it.each(['dispute', 'reverse'] as const)(
    'by failure frees no lock of a deposit that a %s took back',
    async (verb) => {
      const user = await exporter(2);
      const { deposit, receivable } = await earn(user, '100.00');
      await midnight(user);
      const [payout] = await payoutsOf(user);
      await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/${verb}`));
      expect(await locksOf(user, receivable.id)).toEqual(['100.00', '0.00', [deposit.id]]);

      await must(end(user, transport, payout.id, 'fail'));

      expect(await locksOf(user, receivable.id)).toEqual(['0.00', '0.00', []]);
      const other = await earn(user, '5.00');
      await midnight(user);
      await work(user);
      expect(await locksOf(user, other.receivable.id)).toEqual(['0.00', '5.00', []]);
      expect((await user.get(`/v1/receivables/${receivable.id}`)).body.status).toBe('open');
      expect((await user.post(`/v1/receivables/${receivable.id}/void`)).body.status).toBe('void');
    },
  );

  it('by failure keeps the locks up to the amount that was not taken back, the oldest first', async () => {
    const user = await exporter(2);
    const { deposit, receivable } = await earn(user, '100.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { amount: '30.00' }));

    await must(end(user, transport, payout.id, 'fail'));

    expect(await locksOf(user, receivable.id)).toEqual(['70.00', '0.00', [deposit.id]]);
    await midnight(user);
    await work(user);
    expect(await locksOf(user, receivable.id)).toEqual(['0.00', '70.00', []]);
    expect(await funds(user)).toEqual({});
  });

  it('affects the locks of the same money; what failed after conversion is paid out in its new currency', async () => {
    const user = await exporter(2);
    const [rupees, dollars] = [await earn(user, '100.00'), await earn(user, '10.00', 'USD')];
    await midnight(user);
    const [converted, plain] = await payoutsOf(user);
    expect([converted.amount, plain.amount]).toEqual(['830.00', '100.00']);

    await must(end(user, transport, plain.id, 'settle'));
    await must(end(user, transport, converted.id, 'fail'));

    expect(await locksOf(user, rupees.receivable.id)).toEqual(['0.00', '100.00', []]);
    expect(await locksOf(user, dollars.receivable.id)).toEqual(['10.00', '0.00', [dollars.deposit.id]]);
    expect(await funds(user)).toEqual({ 'available INR': '830.00' });
    await midnight(user);
    await work(user);
    expect(await locksOf(user, dollars.receivable.id)).toEqual(['0.00', '10.00', []]);
  });

  it.each(['settle', 'fail'] as const)('by %s happens once, and no other end follows', async (verb) => {
    const user = await exporter(2);
    const { deposit, receivable } = await earn(user, '10.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);

    const first = await end(user, transport, payout.id, verb);

    const status = verb === 'settle' ? 'completed' : 'failed';
    expect(first.status).toBe(200);
    const ended = { status, expected_arrival: verb === 'settle' ? payout.expected_arrival : null };
    expect((await user.get(`/v1/payouts/${payout.id}`)).body).toEqual({ ...payout, ...ended });
    expect((await user.get(`/v1/payments/${payout.payment_id}`)).body.status).toBe(status);
    for (const again of ['settle', 'fail'] as const) {
      const reply = await end(user, transport, payout.id, again);
      expect([reply.status, reply.codes]).toEqual([400, ['status_invalid']]);
    }
    expect(await funds(user)).toEqual(verb === 'settle' ? {} : { 'available INR': '10.00' });
    expect(await locksOf(user, receivable.id)).toEqual(
      verb === 'settle' ? ['0.00', '10.00', []] : ['10.00', '0.00', [deposit.id]],
    );
  });

  it('is one of the two under concurrent requests for both, in many rounds', async () => {
    const user = await exporter(2);
    await earn(user, '10.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);

    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => end(user, transport, payout.id, i % 2 ? 'settle' : 'fail')),
    );

    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
    expect(replies.flatMap((r) => r.codes)).toEqual(Array.from({ length: 7 }, () => 'status_invalid'));
    const won = replies.findIndex((r) => r.status === 200) % 2 ? 'completed' : 'failed';
    expect((await payoutsOf(user)).map((p) => p.status)).toEqual([won]);
    expect(await funds(user)).toEqual(won === 'completed' ? {} : { 'available INR': '10.00' });
  });

  it('requires a full test key of the tenant', async () => {
    const { test, live } = await given.directUserBoth(2);
    await noon(test);
    await payoutAddress(test);
    await earn(test, '10.00');
    await midnight(test);
    const [payout] = await payoutsOf(test);
    const key = await test.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const stranger = await given.directUser(2);
    for (const verb of ['settle', 'fail'] as const) {
      for (const [speaker, id, status, code] of [
        [live, payout.id, 403, 'permission_denied'],
        [test.using(key.body.data.createApiKey.secret), payout.id, 403, 'permission_denied'],
        [stranger, payout.id, 404, 'resource_missing'],
        [test, unknown('payout'), 404, 'resource_missing'],
      ] as const) {
        const reply = await end(speaker, transport, id, verb);
        expect([reply.status, reply.codes]).toEqual([status, [code]]);
      }
    }
    expect((await payoutsOf(test)).map((p) => p.status)).toEqual(['processing']);
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
    await work(platform);
    expect([await locksOf(one, first.receivable.id), await locksOf(two, second.receivable.id)]).toEqual([
      ['0.00', '60.00', []],
      ['0.00', '40.00', []],
    ]);
    expect((await one.get(`/v1/receivables/${first.receivable.id}`)).body.status).toBe('settled');
  });

  it('keeps its money when its payout fails, with the locks of its users, and is paid again', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const user = await activatedUser(platform);
    await payoutAddress(platform);
    const { deposit, receivable } = await earn(user, '60.00');
    await midnight(platform);
    const [payout] = await payoutsOf(platform);
    await must(end(platform, 'REST', payout.id, 'fail'));
    expect(await funds(platform)).toEqual({ 'available INR': '60.00' });
    expect(await locksOf(user, receivable.id)).toEqual(['60.00', '0.00', [deposit.id]]);
    await midnight(platform);
    await work(platform);
    expect((await payoutsOf(platform)).map((p) => p.status).toSorted()).toEqual(['completed', 'failed']);
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
      await work(platform);
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

it('pays once, with any number of workers and repeated jobs', async () => {
  const users = await Promise.all(Array.from({ length: 8 }, () => exporter(2)));
  await Promise.all(users.map((user, i) => earn(user, `${i + 1}0.00`)));
  // The same job is queued twice, as if two writes had queued it at the same time.
  await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
    select tenant_id, livemode, id || 'x', created, kind, subject_id, args, due from job where kind = 'pay_out'
    and subject_id in ${world.sql(users.map((u) => u.id))}`;
  const { database } = world.sql.options;
  const stores = [1, 2].map(() => new Database({ ...inject('admin'), username: 'tidegate', database }));
  const workers = stores.map((store) => new Worker(store, pino({ level: 'silent' })));

  for (const worker of workers) worker.start();
  await Promise.all(users.map((user) => advance(user, day)));
  const paid = () => Promise.all(users.map((user) => payoutsOf(user)));
  await eventually(paid, (all) => all.every((payouts) => payouts.length > 0));
  await Promise.all(users.map((user) => advance(user, 60)));
  await eventually(paid, (all) => all.every((payouts) => payouts[0]?.status === 'completed'));
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(stores.map((store) => store.close()));

  expect(
    await Promise.all(users.map(async (user) => (await payoutsOf(user)).map((p) => [p.amount, p.status]))),
  ).toEqual(users.map((_, i) => [[`${i + 1}0.00`, 'completed']]));
  expect(await Promise.all(users.map((user) => funds(user)))).toEqual(users.map(() => ({})));
});

describe('a payout with many locks', () => {
  /**
   * A deposit shared by the given number of receivables of 1.00, as reconciliations with 100 receivables each would
   * leave it.
   */
  async function earnShared(user: Speaker, count: number): Promise<{ deposit: string; receivables: string[] }> {
    const { sql } = world;
    const tenant = tenantOf(user);
    const amount = `${count}.00`;
    const { body } = await user.post('/v1/deposits', {
      ...{ amount, currency: 'INR', to: { account_id: user.id }, payment_method: 'upi' },
    });
    await must(user.post(`/v1/test_helpers/deposits/${body.id}/complete`));
    const stem = body.id.slice('deposit_'.length, -6);
    const rows = await sql`
      insert into receivable (tenant_id, livemode, id, created, account_id, currency, amount_maximum_reconcilable,
      amount_locked, deposit_ids_amount_locked,
        invoice, purpose_code, transaction_type, context_id, on_root_list)
      select d.tenant_id, d.livemode, 'receivable_' || ${stem}::text || lpad(n::text, 6, '0'), d.created,
      d.to_account_id, 'INR', 100, 100, array[d.id],
        '{"amount": "100", "currency": "INR", "creationDate": "2026-10-01", "dueDate": "2026-12-01",
        "referenceNumber": "MANY"}', 'P0802', 'services', d.context_id, d.on_root_list
      from deposit d, generate_series(1, ${count}::int) n where d.tenant_id = ${tenant} and d.id = ${body.id}
      returning id`;
    const [batch] = await sql`select open_lock_batch(${tenant}, false, ${user.id}, 'INR') as id`;
    await sql`
      insert into receivable_lock (tenant_id, livemode, id, created, receivable_id, deposit_id, account_id, currency,
      amount, batch_id)
      select r.tenant_id, r.livemode, 'lock_' || right(r.id, -11), r.created, r.id, ${body.id}, r.account_id, 'INR',
      100, ${batch!.id}
      from receivable r where r.tenant_id = ${tenant} and r.deposit_ids_amount_locked = array[${body.id}::text]`;
    await sql`select make_available(${tenant}, false, '{}', ${body.id}, ${count * 100})`;
    // As PostgreSQL does by itself soon after.
    await sql`analyze receivable, receivable_lock`;
    return { deposit: body.id, receivables: rows.map(({ id }) => id).toSorted() };
  }

  const sound = async () => expect(await world.sql`select rule, what from violations`).toEqual([]);
  const amounts = async (user: Speaker) =>
    (
      await world.sql`select sum(amount_locked)::text as locked, sum(amount_settled_payouts)::text as settled
        from receivable where tenant_id = ${tenantOf(user)}`
    )[0];
  const statusOf = async (user: Speaker, id: string) => (await user.get(`/v1/payouts/${id}`)).body.status;

  it.each(transports)(
    'is completed at once over %s, and settles its receivables afterwards, each of them once',
    async (transport) => {
      const count = transport === 'REST' ? scale.locks : 1_500;
      const user = await exporter(2);
      const { deposit, receivables } = await earnShared(user, count);
      await advance(user, day);
      // Every call of a worker has a limit of five seconds, including this one.
      await once(user);
      const [payout] = await payoutsOf(user);
      expect(payout).toMatchObject({ amount: `${count}.00`, status: 'processing' });

      expect((await end(user, transport, payout.id, 'settle')).status).toBe(200);
      expect([await statusOf(user, payout.id), await funds(user)]).toEqual(['completed', {}]);
      // Receivables that are not settled yet are still locked; both add up to the total.
      expect(await amounts(user)).toEqual({ locked: `${(count - 500) * 100}`, settled: '50000' });
      await sound();
      // A dispute meanwhile shrinks no lock whose money has been paid out, settled or not.
      await must(user.post(`/v1/test_helpers/deposits/${deposit}/dispute`, { amount: '5.00' }));
      await sound();

      while ((await once(user)) > 0);
      expect(await world.sql`select kind, error from job where tenant_id = ${tenantOf(user)} and attempts > 0`).toEqual(
        [],
      );
      expect(await amounts(user)).toEqual({ locked: '0', settled: `${count * 100}` });
      expect(await funds(user)).toEqual({ 'available INR': '-5.00' });
      const [counts] = await world.sql`
      select count(*)::int as events, count(distinct object_id)::int as receivables,
        bool_and(data ->> 'status' = 'settled' and data ->> 'deposit_ids_amount_locked' = '[]') as settled
      from event where tenant_id = ${tenantOf(user)} and type = 'receivable.updated'`;
      expect(counts).toEqual({ events: count, receivables: count, settled: true });
      expect(await locksOf(user, receivables.at(-1)!)).toEqual(['0.00', '1.00', []]);
      expect((await end(user, transport, payout.id, 'fail')).codes).toEqual(['status_invalid']);
    },
    300_000,
  );

  it('waits for the locks of a deposit that was taken back, which shrink from the newest on', async () => {
    const user = await exporter(2);
    const kept = await earnShared(user, 300);
    const disputed = await earnShared(user, 1_200);
    const reversed = await earnShared(user, 1_100);
    await must(user.post(`/v1/test_helpers/deposits/${disputed.deposit}/dispute`, { amount: '700.00' }));
    await must(user.post(`/v1/test_helpers/deposits/${reversed.deposit}/reverse`));
    expect(await funds(user)).toEqual({ 'available INR': '800.00' });
    // Jobs shrink the rest of the locks. Until then receivables show more than there is, and nothing is paid out.
    expect((await amounts(user))?.locked).toBe('160000');
    await sound();
    await world.sql`update job set due = 0 where tenant_id = ${tenantOf(user)} and kind = 'pay_out'`;
    for (let done = 1; done > 0; await sound()) {
      const [row] = await world.database.call('run_jobs', [tenantOf(user), false, 1]);
      done = Number(row!.run_jobs);
      if ((await payoutsOf(user)).length === 0) continue;
      expect(await amounts(user)).toEqual({ locked: '80000', settled: '0' });
    }
    const unlocked = async (ids: string[]) =>
      (
        await world.sql`select id from receivable where tenant_id = ${tenantOf(user)} and amount_locked = 0
          and id in ${world.sql(ids)} order by id`
      ).map(({ id }) => id as string);
    expect(await unlocked(kept.receivables)).toEqual([]);
    expect(await unlocked(disputed.receivables)).toEqual(disputed.receivables.slice(500));
    expect(await unlocked(reversed.receivables)).toEqual(reversed.receivables);
    await eventually(
      async () => {
        await once(user);
        return payoutsOf(user);
      },
      (payouts) => payouts.length === 1,
    );
    expect((await payoutsOf(user)).map((p) => p.amount)).toEqual(['800.00']);
    await sound();
  }, 300_000);

  it('has its money back at once when it fails, and is paid again when all of its locks are free', async () => {
    const user = await exporter(2);
    const one = await earnShared(user, 800);
    const two = await earnShared(user, 700);
    await midnight(user);
    const [payout] = await payoutsOf(user);
    await must(user.post(`/v1/test_helpers/deposits/${one.deposit}/dispute`, { amount: '150.00' }));

    await must(end(user, 'REST', payout.id, 'fail'));
    expect([await statusOf(user, payout.id), await funds(user)]).toEqual(['failed', { 'available INR': '1350.00' }]);
    await sound();
    const lockedOf = async (ids: string[]) =>
      (
        await world.sql`select amount_locked::int as amount from receivable where tenant_id = ${tenantOf(user)}
          and id in ${world.sql(ids)} order by id`
      ).map(({ amount }) => amount);
    // Money is taken back while only some locks are free.
    const reversed = await user.post(`/v1/test_helpers/deposits/${two.deposit}/reverse`);
    expect(reversed.status).toBe(200);
    await sound();
    expect(await funds(user)).toEqual({ 'available INR': '650.00' });
    // The next payout is due, and waits for the locks that belong to it.
    await world.sql`update job set due = 0 where tenant_id = ${tenantOf(user)} and kind = 'pay_out'`;
    for (let done = 1; done > 0; await sound()) {
      const [row] = await world.database.call('run_jobs', [tenantOf(user), false, 1]);
      done = Number(row!.run_jobs);
    }
    await eventually(
      async () => {
        await once(user);
        return payoutsOf(user);
      },
      (payouts) => payouts.length === 2,
    );
    expect((await payoutsOf(user)).map((p) => [p.amount, p.status])).toEqual([
      ['650.00', 'processing'],
      ['1500.00', 'failed'],
    ]);
    // The money that was taken back has shrunk the newest locks, as when all are freed at once.
    expect(await lockedOf(two.receivables)).toEqual(two.receivables.map(() => 0));
    expect(await lockedOf(one.receivables)).toEqual(one.receivables.map((_, i) => (i < 650 ? 100 : 0)));
    const [along] = await world.sql`select count(*)::int as n, sum(amount)::int as amount from receivable_lock
      where tenant_id = ${tenantOf(user)} and amount > 0 and batch_id in (select id from lock_batch
      where tenant_id = ${tenantOf(user)} and payout_id is not null)`;
    expect(along).toEqual({ n: 650, amount: 65_000 });
  }, 300_000);
});
