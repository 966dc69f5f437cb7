import { expect, it } from 'vitest';
import type { ArgumentsOf } from '../../src/db/write/write-arguments.js';
import { statementsWaiting } from '../support/world.js';
import { makeAccount, moneyOf, refusal, type Row, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, write, stored, eventsOf, jobsOf, rowText } = fixture;
const root = useRoot(fixture, 'user', 1);
const aggregator = useRoot(fixture, 'platform', 2, 'aggregator');
const { balance, reconciled, deposit } = moneyOf(fixture, root);
const available = async (currency = 'USD') => Number((await balance(root.id, currency)).available ?? 0);

type Content = ArgumentsOf<'create_test_adjustment'>;
/** What is credited, or debited if it is negative. */
const content = (amount: bigint, more: Partial<Content> = {}, currency = 'USD'): Content => ({
  ...{ accountId: root.id, reason: 'A fee' },
  ...(amount > 0n ? { credit: { amount, currency } } : { debit: { amount: -amount, currency } }),
  ...more,
});
const propose = (amount: bigint, more: Partial<ArgumentsOf<'propose_adjustment'>> = {}) =>
  write(root, 'propose_adjustment', { ...content(amount), proposedBy: 'Ann', proposedById: 'operator_ann', ...more });
const decide = ({ id }: Row, to: 'approved' | 'rejected', by: string | null = 'operator_ben') =>
  write(root, 'decide_adjustment', { id, to, decidedBy: 'Ben', decidedById: by });
const adjust = (amount: bigint, more: Partial<Content> = {}) =>
  write(root, 'create_test_adjustment', content(amount, more));
const movements = ({ payment_id: id }: Row) =>
  world.sql`select currency, category, amount::int from entry where tenant_id = ${root.tenantId} and payment_id = ${id}
    order by currency desc, version`;

of('new_adjustment', () => {
  const make = (place: typeof root, accountId: string) =>
    call(
      'new_adjustment',
      place.tenantId,
      false,
      JSON.stringify({ ...content(1n), credit: { amount: '1', currency: 'USD' }, accountId }),
    );

  it('is a proposal that the account would see on its own list', async () => {
    const [row] = await make(root, root.id);
    expect(row).toMatchObject({ status: 'proposed', credit_amount: '1', debit_amount: null, context_id: root.id });
  });

  it('refuses an account whose money is another one’s: a partner, and a user of an aggregator', async () => {
    const partner = await makeAccount(fixture, root);
    const user = await makeAccount(fixture, aggregator, 'connected_user');
    for (const [place, id] of [
      [root, partner.id],
      [aggregator, user.id],
    ] as const)
      expect(await refusal(make(place, id))).toBe('parameter_invalid adjustment.account_id');
    expect(await make(aggregator, aggregator.id)).toHaveLength(1);
  });
});

of('propose_adjustment', () => {
  it('moves nothing', async () => {
    const before = await available();
    const row = await propose(500n);
    expect(await stored('adjustment', root, row.id)).toMatchObject({
      ...{
        status: 'proposed',
        credit_amount: '500',
        proposed_by: 'Ann',
        proposed_by_id: 'operator_ann',
        payment_id: null,
      },
    });
    expect(await available()).toBe(before);
  });
});

of('lock_adjusted', () => {
  it('makes a second adjustment of the same balance wait', async () => {
    const row = await propose(1n);
    const text = await rowText('adjustment', root, row.id);
    const waiting = await world.sql.begin(async (tx) => {
      await tx`select lock_balance(${root.tenantId}, false, ${root.id}, 'USD')`;
      const asked = call('lock_adjusted', root.tenantId, false, text);
      await statementsWaiting(world, 1);
      return { asked };
    });
    await waiting.asked;
  });
});

of('decide_adjustment', () => {
  it('moves the money once, when another operator approves', async () => {
    const before = await available();
    const row = await propose(500n);
    for (const by of ['operator_ann', null])
      expect(await refusal(decide(row, 'approved', by))).toBe('permission_denied');
    const approved = await decide(row, 'approved');
    expect(approved).toMatchObject({ status: 'approved', decided_by: 'Ben', decided_by_id: 'operator_ben' });
    expect(await movements(approved)).toEqual([{ currency: 'USD', category: 'available', amount: 500 }]);
    expect(await available()).toBe(before + 500);
    // The answer of the one that has approved may have been lost.
    expect(await decide(row, 'approved')).toEqual(approved);
    expect(await refusal(decide(row, 'approved', 'operator_cat'))).toBe('status_invalid adjustment.status');
    expect(await refusal(decide(row, 'rejected'))).toBe('status_invalid adjustment.status');
    expect(await available()).toBe(before + 500);
  });

  it('rejects, also for the one that proposed it', async () => {
    const before = await available();
    const row = await decide(await propose(500n), 'rejected', 'operator_ann');
    expect(row).toMatchObject({ status: 'rejected', payment_id: null });
    expect(await decide(row, 'rejected', 'operator_ann')).toEqual(row);
    expect(await available()).toBe(before);
  });

  it('needs two named operators for what OPERATOR_KEY or a command has proposed', async () => {
    const before = await available();
    const row = await propose(500n, { proposedBy: 'OPERATOR_KEY', proposedById: null });
    expect(await refusal(decide(row, 'approved', null))).toBe('permission_denied');
    const taken = await decide(row, 'approved', 'operator_cat');
    expect(taken).toMatchObject({ status: 'proposed', proposed_by_id: 'operator_cat', decided_by: null });
    expect(await available()).toBe(before);
    expect(await decide(row, 'approved', 'operator_cat')).toEqual(taken);
    expect(await decide(row, 'approved')).toMatchObject({ status: 'approved', decided_by_id: 'operator_ben' });
    // Two who approve at once are two.
    const other = await propose(1n, { proposedBy: 'OPERATOR_KEY', proposedById: null });
    const both = await Promise.all([decide(other, 'approved', 'operator_cat'), decide(other, 'approved')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['approved', 'proposed']);
    expect(await available()).toBe(before + 501);
    const rejected = await propose(1n, { proposedBy: 'OPERATOR_KEY', proposedById: null });
    expect(await decide(rejected, 'rejected')).toMatchObject({ status: 'rejected', proposed_by: 'OPERATOR_KEY' });
  });

  it('of two at once lets one through', async () => {
    const before = await available();
    const row = await propose(300n);
    const outcomes = await Promise.allSettled([
      ...[decide(row, 'approved'), decide(row, 'approved', 'operator_cat'), decide(row, 'approved', 'operator_dan')],
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await available()).toBe(before + 300);
  });
});

of('legs_of_adjustment', () => {
  it('have the outside world on the other side, or the exchange', async () => {
    const legs = async (more: Partial<Content>) => {
      const { id } = await propose(1n, more as never);
      const text = await rowText('adjustment', root, id);
      return (await call('legs_of_adjustment', text))[0]!.legs_of_adjustment.map((one: Row) =>
        [one.account ?? one.contra, one.currency, one.amount].join(' '),
      );
    };
    const eur = { amount: 7n, currency: 'EUR' };
    expect(await legs({})).toEqual([`${root.id} USD 1`, 'adjustment USD -1']);
    expect(await legs({ credit: null, debit: eur })).toEqual([`${root.id} EUR -7`, 'adjustment EUR 7']);
    expect(await legs({ debit: eur })).toEqual([`${root.id} USD 1`, 'fx USD -1', `${root.id} EUR -7`, 'fx EUR 7']);
  });
});

of('book_adjustment', () => {
  const booked = async (amount: bigint) => {
    const { id } = await propose(amount);
    await world.sql`update adjustment set status = 'approved', decided_by = 'Ben', decided_by_id = 'operator_ben'
      where tenant_id = ${root.tenantId} and id = ${id}`;
    return call('book_adjustment', root.tenantId, false, '{}', await rowText('adjustment', root, id));
  };

  it('makes a payment with an event, and a payout to come', async () => {
    const [row] = await booked(200n);
    expect(await stored('payment', root, row!.payment_id)).toMatchObject({
      ...{ type: 'adjustment', amount: '200', currency: 'USD', status: 'completed', account_id: root.id },
    });
    expect(await eventsOf(root, row!.payment_id)).toEqual(['payment.completed']);
    expect((await jobsOf(root, root.id)).map(({ kind }) => kind)).toContain('pay_out');
  });

  it('never takes more than is available', async () => {
    expect(await refusal(booked(-BigInt(await available()) - 1n))).toBe('balance_insufficient');
    await world.sql`update adjustment set status = 'rejected'
      where tenant_id = ${root.tenantId} and status = 'approved' and payment_id is null`;
  });
});

of('create_test_adjustment', () => {
  it('takes a fee, and the receivables stay paid', async () => {
    const { receivable } = await reconciled(1_000n);
    const before = await available();
    await adjust(-150n, { reason: 'Courier' });
    expect(await available()).toBe(before - 150);
    expect(await stored('receivable', root, receivable)).toMatchObject({ amount_locked: '1000' });
  });

  it('sets a debt in one currency off against money in another', async () => {
    await adjust(1n, { credit: { amount: 8_300n, currency: 'EUR' } });
    const dollars = await available();
    // The bank takes back what was available, and more.
    const { id } = await deposit(BigInt(dollars) + 1_000n);
    const receivable = await write(root, 'create_receivable', {
      ...{ accountId: root.id, currency: 'USD', amountMaximumReconcilable: BigInt(dollars) + 1_000n },
      ...{ purposeCode: 'P0802', transactionType: 'services', invoice: { amount: '1', currency: 'USD' } },
    });
    await write(root, 'reconcile_deposit', {
      id,
      receivables: [{ id: receivable.id, amount: BigInt(dollars) + 1_000n }],
    });
    await adjust(-BigInt(await available()));
    await write(root, 'dispute_deposit', { id, amount: 1_000n });
    expect([await available(), await available('EUR')]).toEqual([-1_000, 8_300]);

    const row = await adjust(1_000n, { debit: { amount: 900n, currency: 'EUR' } });
    expect([await available(), await available('EUR')]).toEqual([0, 7_400]);
    expect(await movements(row)).toEqual([
      { currency: 'USD', category: 'available', amount: 1_000 },
      { currency: 'EUR', category: 'available', amount: -900 },
    ]);
    expect(await refusal(adjust(1_000n, { debit: { amount: 7_401n, currency: 'EUR' } }))).toBe('balance_insufficient');
    const contras = await world.sql`select c.contra, c.currency, c.amount::int from contra_entry c
      join posting p on p.tenant_id = c.tenant_id and p.id = c.posting_id where p.cause = ${row.id}
      order by c.currency`;
    expect(contras).toEqual([
      { contra: 'fx', currency: 'EUR', amount: 900 },
      { contra: 'fx', currency: 'USD', amount: -1_000 },
    ]);
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toEqual([]);
});

it('breaks a rule where money and adjustments disagree, or one operator alone has approved', async () => {
  const rules = async () => new Set((await violations(fixture)).map(({ rule }) => rule));
  const row = await decide(await propose(500n), 'approved');
  const change = (text: string) =>
    world.sql.unsafe(`update adjustment set ${text} where tenant_id = $1 and id = $2`, [root.tenantId, row.id]);
  const pay = (by: number) => world.sql`update payment set amount = amount + ${by}
    where tenant_id = ${root.tenantId} and id = ${row.payment_id}`;
  const other = 'payment has not the amount of its object';
  expect(await rules()).not.toContain(other);
  await pay(1);
  expect(await rules()).toContain(other);
  await pay(-1);
  for (const [text, back, rule] of [
    ['credit_amount = 499', 'credit_amount = 500', 'adjustment and its money disagree'],
    ["status = 'rejected'", "status = 'approved'", 'posting of an adjustment that nobody approved'],
    [
      'livemode = true, proposed_by_id = null',
      "livemode = false, proposed_by_id = 'operator_ann'",
      'adjustment was not approved by another operator',
    ],
    ['livemode = true, decided_by_id = proposed_by_id', '', 'adjustment was not approved by another operator'],
  ]) {
    await change(text!);
    expect(await rules()).toContain(rule);
    if (back !== '') await change(back!);
  }
});
