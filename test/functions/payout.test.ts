import { describe, expect, it } from 'vitest';
import { payeesOf } from './payee.js';
import {
  activate,
  lockedInOrder,
  makeAccount,
  moneyOf,
  type Place,
  refusal,
  type Row,
  useFunctions,
} from './fixture.js';
import { createRoot } from '../../src/operator/account/accounts.js';
import fc from 'fast-check';
import { setServiceHold } from '../../src/operator/money/payouts.js';
import { planOf } from '../../src/resources/payout/plan.js';
import { scale, seedsOf } from '../support/scale.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const kindsOf = async (place: Place, id: string) => (await jobsOf(place, id)).map(({ kind }) => kind);
const json = (object: unknown) => JSON.stringify(object);

const payee = payeesOf(fixture);
const funds = ({ money, id }: Awaited<ReturnType<typeof payee>>) => money.balance(id);
const clear = ({ tenantId }: Place, kind: string) =>
  world.sql`delete from job where tenant_id = ${tenantId} and kind = ${kind}`;

of('payout_currencies', () => {
  it('are those of the balances, and those into which available money would be converted', async () => {
    const root = await payee(1n, 'INR');
    expect((await value('payout_currencies', root.tenantId, false, root.id)).toSorted()).toEqual(['INR', 'USD']);
  });
});

of('payout_address', () => {
  it('is the newest of the currency, or else of any currency', async () => {
    const root = await payee(1n, null);
    const address = async (currency: string) =>
      (await call('payout_address', root.tenantId, false, root.id, currency))[0]!.id;
    expect(await address('USD')).toBeNull();
    const [{ id: inr }, { id: usd }] = [await root.payTo('INR'), await root.payTo('USD')];
    expect([await address('INR'), await address('EUR'), await address('USD')]).toEqual([inr, usd, usd]);
  });
});

of('block_payout', () => {
  it('records a reason with an event when it changes, and removes it', async () => {
    const root = await payee(1n);
    const block = async (reason: string | null) =>
      call('block_payout', root.tenantId, false, '{}', await rowText('account', root, root.id), 'USD', reason);
    const recorded = () => stored('payout_block', root, root.id, 'account_id');
    await block('rate_missing');
    const { id } = await recorded();
    await block('rate_missing');
    await block('address_missing');
    expect(await recorded()).toMatchObject({ id, reason_code: 'address_missing' });
    expect(await eventsOf(root, id)).toEqual(['payout.blocked', 'payout.blocked']);
    await block(null);
    expect(await recorded()).toBeUndefined();
  });
});

of('forget_payout_blocks', () => {
  it('removes the reasons of currencies in which nothing is available, and no other', async () => {
    const root = await payee(1n);
    const text = await rowText('account', root, root.id);
    for (const currency of ['USD', 'EUR'])
      await call('block_payout', root.tenantId, false, '{}', text, currency, 'rate_missing');
    await call('forget_payout_blocks', root.tenantId, false, root.id);
    const left = await world.sql`select currency from payout_block where tenant_id = ${root.tenantId}`;
    expect(left).toEqual([{ currency: 'USD' }]);
  });
});

of('pay_out', () => {
  it('pays available money out, and takes the locks along', async () => {
    const root = await payee(100n);
    const payout = await root.payOut();
    expect(payout).toMatchObject({ amount: '100', currency: 'USD', status: 'processing', rate: '1' });
    expect(await funds(root)).toEqual({ payout_processing: '100' });
    expect(await stored('lock_batch', root, payout!.id, 'payout_id')).toMatchObject({ account_id: root.id });
    expect(await kindsOf(root, payout!.id)).toEqual(['settle_payout']);
  });

  it('takes the money of an earlier payout that failed, and says so there', async () => {
    const root = await payee(100n);
    const failed = await root.payOut();
    await write(root, 'move_payout', { id: failed!.id, to: 'failed' });
    const retriedBy = async () => (await stored('payout', root, failed!.id)).retried_by;
    expect(await retriedBy()).toBeNull();
    const [next] = await call('pay_out', root.tenantId, false, '{}', root.id).then(
      () => world.sql`select id from payout where tenant_id = ${root.tenantId} and status = 'processing'`,
    );
    expect(await retriedBy()).toBe(next!.id);
  });

  it('converts into the currency of the address', async () => {
    const root = await payee(100n, 'INR');
    expect(await root.payOut()).toMatchObject({ amount: '8300', currency: 'INR', source_amount: '100', rate: '83' });
    expect(await root.money.balance(root.id, 'INR')).toEqual({ payout_processing: '8300' });
    expect(await funds(root)).toEqual({});
  });

  it('records why money cannot be paid, and tries it again later', async () => {
    const root = await payee(100n, null);
    await clear(root, 'pay_out');
    expect(await root.payOut()).toBeUndefined();
    const block = await stored('payout_block', root, root.id, 'account_id');
    expect(block).toMatchObject({ reason_code: 'address_missing' });
    expect(await kindsOf(root, root.id)).toContain('pay_out');
  });
});

of('convert_available', () => {
  it('moves the money to the other currency of the same account', async () => {
    const root = await payee(100n);
    await call('lock_balance', root.tenantId, false, root.id, 'INR');
    const { payment_id: payment, id } = await stored('deposit', root, root.id, 'to_account_id');
    const amounts = ['USD', 60, 'INR', 4980] as const;
    await call('convert_available', root.tenantId, false, id, payment, root.id, ...amounts);
    expect(await funds(root)).toEqual({ available: '40' });
    expect(await root.money.balance(root.id, 'INR')).toEqual({ available: '4980' });
  });
});

of('job_pay_out', () => {
  it('pays out, but waits while locks are being freed', async () => {
    const root = await payee(100n);
    const job = await jobText('pay_out', root.id);
    await call('enqueue', root.tenantId, false, 'free_locks', root.id, 0, '{}');
    await call('job_pay_out', root.tenantId, false, job);
    expect(await funds(root)).toEqual({ available: '100' });
    await clear(root, 'free_locks');
    await call('job_pay_out', root.tenantId, false, job);
    expect(await funds(root)).toEqual({ payout_processing: '100' });
  });
});

/** A payout under way. */
const underWay = async () => {
  const root = await payee(100n);
  const payout = (await root.payOut())!;
  const move = (to: string, more = {}) => write(root, 'move_payout', { id: payout.id, to, ...more });
  return { root, payout, move };
};

of('move_payout', () => {
  it('completes a payout, and settles its locks', async () => {
    const { root, move, payout } = await underWay();
    expect(await move('completed')).toMatchObject({ status: 'completed' });
    expect(await funds(root)).toEqual({});
    const settled = { status: 'settled', amount_locked: '0', amount_settled_payouts: '100' };
    expect(await stored('receivable', root, root.receivable)).toMatchObject(settled);
    expect(await eventsOf(root, payout.id)).toEqual(['payout.processing', 'payout.completed']);
  });

  it('fails a payout, whose money and locks are free again, and ends it once', async () => {
    const { root, move } = await underWay();
    await move('failed');
    expect(await funds(root)).toEqual({ available: '100' });
    expect(await stored('lock_batch', root, root.id, 'account_id')).toMatchObject({ payout_id: null });
    expect(await refusal(move('completed'))).toBe('status_invalid payout.status');
  });

  it('returns a completed payout, whose money is available and whose locks are open again, once', async () => {
    const { root, move, payout } = await underWay();
    expect(await refusal(move('returned'))).toBe('status_invalid payout.status');
    await move('completed', { bankReference: 'UTR 1' });
    const report = { reasonCode: 'account_closed' };
    const returned = { status: 'returned', reason_code: 'account_closed', bank_reference: 'UTR 1' };
    expect(await move('returned', report)).toMatchObject(returned);
    expect(await refusal(move('returned', report))).toBe('status_invalid payout.status');
    expect(await funds(root)).toEqual({ available: '100' });
    const locked = { status: 'locked', amount_locked: '100', amount_settled_payouts: '0' };
    expect(await stored('receivable', root, root.receivable)).toMatchObject(locked);
    expect(await stored('payment', root, payout.payment_id)).toMatchObject({ status: 'reversed' });
    expect(await eventsOf(root, payout.id)).toEqual(['payout.processing', 'payout.completed', 'payout.returned']);
    // The money is paid out again, and settles the same receivable.
    await call('pay_out', root.tenantId, false, '{}', root.id);
    const [next] = await world.sql`
      select id from payout where tenant_id = ${root.tenantId} and account_id = ${root.id} and status = 'processing'`;
    await write(root, 'move_payout', { id: next!.id, to: 'completed' });
    expect(await stored('receivable', root, root.receivable)).toMatchObject({ amount_settled_payouts: '100' });
  });

  it('returns a payout of which a deposit was disputed: its locks shrink by what was taken back', async () => {
    const { root, move } = await underWay();
    await move('completed');
    const { id } = await stored('deposit', root, root.id, 'to_account_id');
    await write(root, 'dispute_deposit', { id, amount: 30n });
    expect(await funds(root)).toEqual({ available: '-30' });
    await move('returned');
    expect(await funds(root)).toEqual({ available: '70' });
    const shrunk = { amount_locked: '70', amount_settled_payouts: '0' };
    expect(await stored('receivable', root, root.receivable)).toMatchObject(shrunk);
  });
});

of('locks_per_call', () => {
  it('is 500', async () => expect(await value('locks_per_call')).toBe(500));
});

of('mark_locks', () => {
  it('settles locks and opens them again, each once, with the amounts of their receivable', async () => {
    const { root } = await underWay();
    const amounts = async () => {
      const { amount_locked, amount_settled_payouts } = await stored('receivable', root, root.receivable);
      return [amount_locked, amount_settled_payouts];
    };
    const mark = async (settled: boolean) => {
      const [locks] = await world.sql`
        select array_agg(k)::text as text from receivable_lock k where k.tenant_id = ${root.tenantId}`;
      await call('mark_locks', root.tenantId, false, '{}', locks!.text, settled);
    };
    for (const [settled, expected] of [
      [true, ['0', '100']],
      [true, ['0', '100']],
      [false, ['100', '0']],
      [false, ['100', '0']],
    ] as const) {
      await mark(settled);
      expect(await amounts()).toEqual(expected);
    }
  });
});

of('settle_locks', () => {
  it('settles the locks after an id, each once', async () => {
    const { root, payout } = await underWay();
    const settle = async (after: string) =>
      call('settle_locks', root.tenantId, false, '{}', await rowText('payout', root, payout.id), after);
    await settle('lock_z');
    expect(await stored('receivable', root, root.receivable)).toMatchObject({ amount_settled_payouts: '0' });
    await settle('');
    await settle('');
    expect(await stored('receivable', root, root.receivable)).toMatchObject({ amount_settled_payouts: '100' });
  });
});

of('free_locks', () => {
  it('opens the batches of a failed payout again', async () => {
    const { root, payout } = await underWay();
    await call('free_locks', root.tenantId, false, '{}', await rowText('payout', root, payout.id), null);
    const batch = await stored('lock_batch', root, root.id, 'account_id');
    expect(batch).toMatchObject({ payout_id: null, held_in: 'USD' });
  });

  it('locks the receivables of all its deposits before it frees the first', async () => {
    const root = await payee(1n);
    const { money } = root;
    const made = [await money.receivable(60n), await money.receivable(60n)].map(({ id }) => id as string);
    const [first, second] = made.toSorted() as [string, string];
    const paid: Row[] = [];
    // Deposits are freed in the order of their ids.
    for (const id of [second, first]) paid.push(await money.reconcile(await money.deposit(60n), [{ id, amount: 60n }]));
    const payout = (await root.payOut())!;
    for (const { id } of paid) await write(root, 'dispute_deposit', { id, amount: 10n });
    const free = () => write(root, 'move_payout', { id: payout.id, to: 'failed' });
    expect(await lockedInOrder(fixture, root, [first, second], free)).toBe(true);
  });
});

of('job_settle_payout', () => {
  it('completes a payout under way, once', async () => {
    const { root, payout } = await underWay();
    const job = await jobText('settle_payout', payout.id);
    await call('job_settle_payout', root.tenantId, false, job);
    await call('job_settle_payout', root.tenantId, false, job);
    expect(await stored('payout', root, payout.id)).toMatchObject({ status: 'completed' });
  });
});

of('job_settle_locks', () => {
  it('settles the locks after the id of the job, of a payout that is completed and not returned', async () => {
    const { root, payout, move } = await underWay();
    const job = await jobText('settle_locks', root.id, { payout: payout.id, after: '' });
    await call('job_settle_locks', root.tenantId, false, job);
    expect(await stored('receivable', root, root.receivable)).toMatchObject({ amount_settled_payouts: '0' });
    await move('completed');
    await call('job_settle_locks', root.tenantId, false, job);
    expect(await stored('receivable', root, root.receivable)).toMatchObject({ amount_settled_payouts: '100' });
    await move('returned');
    await call('job_settle_locks', root.tenantId, false, job);
    expect(await stored('receivable', root, root.receivable)).toMatchObject({ amount_settled_payouts: '0' });
  });
});

of('job_free_locks', () => {
  it('frees the locks before the id of the job', async () => {
    const { root, payout } = await underWay();
    const job = await jobText('free_locks', root.id, { payout: payout.id, before: 'lock_z' });
    await call('job_free_locks', root.tenantId, false, job);
    expect(await stored('lock_batch', root, root.id, 'account_id')).toMatchObject({ payout_id: null });
  });
});

/** An aggregator, and its activated user with available money that has not been moved. */
const aggregator = async () => {
  const { account } = await createRoot(world.operator, {
    ...{ type: 'platform', edition: 2, subType: 'aggregator', businessDetails: { legalName: 'Aggregator' } },
  });
  const root = { id: account.id, tenantId: account.tenantId, live: false };
  const user: Row = await makeAccount(fixture, root, 'connected_user');
  await activate(fixture, root, user.id);
  const owner = await rowText('account', root, user.id);
  const [payment, id] = ['insert_payment', user.id];
  const made = await value(payment, root.tenantId, false, owner, 'deposit', 50, 'INR', 'completed', null);
  await call('lock_balance', root.tenantId, false, id, 'INR');
  await call('lock_balance', root.tenantId, false, root.id, 'INR');
  const legs = [
    { account: id, category: 'available', currency: 'INR', amount: 50 },
    { contra: 'bank', currency: 'INR', amount: -50 },
  ];
  await call('post', root.tenantId, false, 'deposit', made, made, json(legs));
  return { ...root, user: id, money: moneyOf(fixture, root) };
};

of('transfer_target', () => {
  it("is the aggregator of a connected user, and null for every other account's money", async () => {
    const { id, tenantId, user } = await aggregator();
    expect(await value('transfer_target', tenantId, false, user)).toBe(id);
    expect(await value('transfer_target', tenantId, false, id)).toBeNull();
  });
});

of('paid_out_by', () => {
  it('is the aggregator of a connected user, or the account itself', async () => {
    const { id, tenantId, user } = await aggregator();
    expect(await value('paid_out_by', tenantId, false, user)).toBe(id);
    expect(await value('paid_out_by', tenantId, false, id)).toBe(id);
  });
});

of('sweep_to_platform', () => {
  it('moves the money of an aggregator’s user at once', async () => {
    const { id, tenantId, user, money } = await aggregator();
    await call('sweep_to_platform', tenantId, false, '{}', user, 'INR');
    await call('sweep_to_platform', tenantId, false, '{}', user, 'INR');
    expect(await money.balance(user, 'INR')).toEqual({});
    expect(await money.balance(id, 'INR')).toEqual({ available: '50' });
    expect(await kindsOf({ tenantId, live: false }, id)).toContain('pay_out');
  });
});

of('seconds_to_payout', () => {
  const day = 86_400;
  // 2026-02-10, a Tuesday, at 06:00 UTC.
  const now = Date.UTC(2026, 1, 10, 6) / 1000;
  it.each([
    ['the next midnight', { payouts_interval: 'daily' }, day - 6 * 3600],
    ['the next Friday', { payouts_interval: 'weekly', payouts_weekly_anchor: 5 }, 3 * day - 6 * 3600],
    [
      'the 31st of a month of 28 days',
      { payouts_interval: 'monthly', payouts_monthly_anchor: 31 },
      18 * day - 6 * 3600,
    ],
  ])('%s', async (_, setting, seconds) => {
    const [row] = await world.sql`
      select jsonb_populate_record(null::account_setting, ${json(setting)}::text::jsonb)::text as text`;
    expect(Number(await value('seconds_to_payout', row!.text, now))).toBe(seconds);
  });
});

const dues = async (place: Place, id: string) =>
  (await jobsOf(place, id)).filter(({ kind }) => kind === 'pay_out').map(({ due }) => Number(due));

of('schedule_payout', () => {
  it('enqueues the next payout once', async () => {
    const root = await payee(1n);
    await clear(root, 'pay_out');
    const schedule = () => call('schedule_payout', root.tenantId, false, root.id, false);
    await schedule();
    // A job that is due at once may be running already, and does not count.
    await world.sql`update job set due = due + 1000 where tenant_id = ${root.tenantId} and kind = 'pay_out'`;
    await schedule();
    expect(await dues(root, root.id)).toHaveLength(1);
  });
});

of('reschedule_payout', () => {
  it('replaces a waiting job, where there is money', async () => {
    const root = await payee(1n);
    await world.sql`update job set due = due + 1000000 where tenant_id = ${root.tenantId} and kind = 'pay_out'`;
    const [late] = await dues(root, root.id);
    await call('reschedule_payout', root.tenantId, false, root.id);
    const [due, ...more] = await dues(root, root.id);
    expect([due! < late!, more]).toEqual([true, []]);
    const { id } = await makeAccount(fixture, root);
    await call('reschedule_payout', root.tenantId, false, id);
    expect(await dues(root, id)).toEqual([]);
  });
});

of('retry_payout', () => {
  it('pays out at once what came back from the replaced address, and nothing else', async () => {
    const root = await payee(100n, null);
    const { id: address } = await root.payTo('USD');
    const retried = async () => {
      await clear(root, 'pay_out');
      await call('retry_payout', root.tenantId, false, root.id, String(address));
      return dues(root, root.id);
    };
    expect(await retried()).toEqual([]);
    const payout = await root.payOut();
    expect(await retried()).toEqual([]);
    await write(root, 'move_payout', { id: String(payout!.id), to: 'failed', reasonCode: 'account_closed' });
    const [due, ...more] = await retried();
    expect([due! <= Math.ceil(Date.now() / 1000), more]).toEqual([true, []]);
    await root.payOut();
    expect(await retried()).toEqual([]);
  });
});

of('job_offer_payouts', () => {
  it('reschedules the payouts of the accounts with money in a currency', async () => {
    const root = await payee(1n);
    await clear(root, 'pay_out');
    await call('job_offer_payouts', root.tenantId, false, await jobText('offer_payouts', 'EUR'));
    expect(await dues(root, root.id)).toEqual([]);
    await call('job_offer_payouts', root.tenantId, false, await jobText('offer_payouts', 'USD'));
    expect(await dues(root, root.id)).toHaveLength(1);
  });
});

of('job_reschedule_payouts', () => {
  it('reschedules the payouts that wait', async () => {
    const root = await payee(1n);
    await world.sql`update job set due = due + 1000000 where tenant_id = ${root.tenantId} and kind = 'pay_out'`;
    const [late] = await dues(root, root.id);
    await call('job_reschedule_payouts', root.tenantId, false, await jobText('reschedule_payouts', root.id));
    expect((await dues(root, root.id))[0]).toBeLessThan(late!);
  });
});

/** Currencies with fixed rates of test mode, one of them without cents, and one without a fixed rate. */
const currency = fc.constantFrom('USD', 'INR', 'JPY', 'CHF');
/** Amounts in minor units of which a conversion may leave nothing, leave a rest, or make too much. */
const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 200n }),
  fc.bigInt({ min: 1n, max: 10n ** 9n }),
  fc.bigInt({ min: 10n ** 14n, max: 10n ** 15n }),
);
const rate = fc
  .tuple(fc.nat({ max: 199 }), fc.bigInt({ min: 1n, max: 10n ** 16n - 1n }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(16, '0')}`);
const state = fc.record({
  available: fc.uniqueArray(fc.tuple(currency, amount), { minLength: 1, maxLength: 3, selector: ([each]) => each }),
  addresses: fc.uniqueArray(currency, { maxLength: 3 }),
  rates: fc
    .uniqueArray(fc.tuple(currency, currency, rate), { maxLength: 6, selector: ([from, to]) => `${from} ${to}` })
    .map((all) => all.filter(([from, to]) => from !== to)),
  owes: fc.option(currency, { freq: 6 }),
  held: fc.integer({ min: 1, max: 8 }).map((one) => one === 8),
});
type State = typeof state extends fc.Arbitrary<infer Value> ? Value : never;

/** A root with money, addresses and rates, without a payout. */
async function madeOf({ available, addresses, rates, owes, held }: State) {
  const root = await payee(1n, null);
  const { tenantId, id } = root;
  const { payment_id: payment } = await stored('deposit', root, id, 'to_account_id');
  const book = async (kind: string, of: string, minor: bigint) => {
    await call('lock_balance', tenantId, false, id, of);
    const sides = [
      { account: id, category: 'available', currency: of, amount: String(minor) },
      { contra: 'bank', currency: of, amount: String(-minor) },
    ];
    await call('post', tenantId, false, kind, `${kind} ${of}`, payment, JSON.stringify(sides));
  };
  for (const [of, minor] of available) await book('deposit', of, of === 'JPY' ? minor * 100n : minor);
  if (owes !== null) await book('dispute', owes, -(10n ** 17n));
  for (const of of addresses) await root.payTo(of);
  for (const [source, target, value] of rates) await write(root, 'set_rate', { source, target, rate: value });
  if (held) await setServiceHold(world.operator, await world.operator.account(id, false), true);
  return root;
}

const reasonsOfAccount = ['balance_negative', 'address_missing'] as const;
const inOrder = (texts: string[]) => texts.toSorted();

of('payout_facts', () => {
  it('is a row for each currency of available money, and one of an account without any', async () => {
    const [rich, poor] = [await payee(100n, null), await payee(100n)];
    await poor.payOut();
    const facts = ({ tenantId }: Row, ...ids: string[]) =>
      call('payout_facts', tenantId, false, `{${ids.map((id) => `"${id}"`).join()}}`);
    const common = { applicable: true, reason: null, at_once: false, owes: false, rate_set_at: null };
    expect(await facts(rich, rich.id, poor.id)).toMatchObject([
      {
        ...common,
        account_id: rich.id,
        has_address: false,
        currency: 'USD',
        available: '100',
        target: null,
        rate: null,
      },
    ]);
    expect(await facts(poor, poor.id)).toMatchObject([
      { ...common, account_id: poor.id, has_address: true, currency: null, available: null },
    ]);
    expect(await facts(poor, 'account_1')).toEqual([]);
  });
});

describe('the next payouts of an account', () => {
  const seeds = seedsOf('functions/payout');
  it.each(seeds)('are those made at that moment, with rates, amounts and obstacles, seed %i', async (seed) => {
    let [payouts, blocked] = [0, 0];
    const isAsPaid = async (tried: State) => {
      const { tenantId, id } = await madeOf(tried);
      const plan = await planOf(world.operator.scope({ tenantId, livemode: false }), id);
      const money = await world.sql<Row[]>`select currency from balance where tenant_id = ${tenantId}
        and account_id = ${id} and available > 0`;
      await call('pay_out', tenantId, false, '{}', id);
      const made = await world.sql<Row[]>`select * from payout where tenant_id = ${tenantId}`;
      expect(
        inOrder(
          plan.payouts.map(({ sourceAmount: from, amount: to, rate: at, rateSetAt }) => {
            const isSet = tried.rates.some(([source, target]) => source === from.currency && target === to.currency);
            expect([from.currency, to.currency, rateSetAt !== null]).toEqual([from.currency, to.currency, isSet]);
            return `${from.amount} ${from.currency} at ${at} is ${to.amount} ${to.currency}`;
          }),
        ),
      ).toEqual(
        inOrder(made.map((y) => `${y.source_amount} ${y.source_currency} at ${y.rate} is ${y.amount} ${y.currency}`)),
      );
      const blocks = await world.sql<Row[]>`select * from payout_block where tenant_id = ${tenantId}`;
      const reasons = plan.obstacles.map(({ reasonCode }) => reasonCode);
      expect(reasons.includes('service_hold')).toBe(tried.held);
      // What concerns the account is in the way of all its money, and a hold is told by the setting alone.
      const ofAccount = reasonsOfAccount.find((reason) => reasons.includes(reason));
      const told = ofAccount
        ? money.map(({ currency: of }) => `${of} ${ofAccount}`)
        : plan.obstacles.map(({ currency: of, reasonCode }) => `${of} ${reasonCode}`);
      expect(inOrder(blocks.map((each) => `${each.currency} ${each.reason_code}`))).toEqual(
        tried.held ? [] : inOrder(told),
      );
      payouts += made.length;
      blocked += blocks.length;
    };
    await fc.assert(fc.asyncProperty(state, isAsPaid), { seed, numRuns: scale.whole ? 2_000 : 60 });
    // Both were tried.
    expect([payouts > 10, blocked > 10]).toEqual([true, true]);
  });
});
