import { describe, expect, it } from 'vitest';
import { activate, makeAccount, moneyOf, refusal, type Row, useFunctions, useRoot, violations } from './fixture.js';
import { payeesOf } from './payee.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const payee = payeesOf(fixture);
type Payee = Awaited<ReturnType<typeof payee>>;
const platform = useRoot(fixture, 'platform', 2, 'aggregator');
const shop = useRoot(fixture, 'platform', 1);
const seller = moneyOf(fixture, shop);

const refundOf = (root: Payee, { id }: Row, amount?: bigint, reason?: string) =>
  write(root, 'create_refund', { depositId: id, amount, reason });
const end = (root: Payee, { id }: Row, to: 'succeeded' | 'failed', more: object = {}) =>
  write(root, 'move_refund', { id, to, ...more });
const funds = ({ money, id }: Payee) => money.balance(id);
const lockOf = async (root: Payee, id: string) => Number((await stored('receivable', root, id)).amount_locked);
/** The deposit that a payee begins with, which is reconciled in full. */
const first = (root: Payee) => stored('deposit', root, root.id, 'to_account_id');
const move = (root: Payee, { id }: Row, to: string) => write(root, 'move_deposit', { id, from: ['completed'], to });
const rested = async (root: Payee, { id }: Row) => Number((await stored('deposit', root, id)).pending_rest);

of('create_refund', () => {
  it('takes what is not reconciled first, and keeps it in processing', async () => {
    const root = await payee(10n);
    const paid = await root.money.deposit(100n);
    const refund = await refundOf(root, paid, 30n, 'Returned goods');
    expect(refund).toMatchObject({
      ...{ amount: '30', currency: 'USD', status: 'pending', reason: 'Returned goods', deposit_id: paid.id },
      ...{ from_pending: '30', account_id: root.id, checkout_id: null, freed_locks: null, bank_reference: null },
    });
    expect(await funds(root)).toEqual({ available: '10', pending: '70', processing: '30' });
    expect(await rested(root, paid)).toBe(70);
    const payment = await stored('payment', root, refund.payment_id);
    expect(payment).toMatchObject({ type: 'refund', amount: '-30', status: 'processing', deposit_id: null });
    expect(await eventsOf(root, refund.id)).toEqual(['refund.created']);
    expect((await jobsOf(root, refund.id)).map(({ kind }) => kind)).toEqual(['settle_refund']);
  });

  it('takes available money for what is reconciled, and locks shrink as much, the newest first', async () => {
    const root = await payee(10n);
    const [paid, one, two] = [
      ...[await root.money.deposit(100n), await root.money.receivable(40n), await root.money.receivable(40n)],
    ];
    await root.money.reconcile(paid!, [
      { id: one!.id, amount: 40n },
      { id: two!.id, amount: 40n },
    ]);
    const refund = await refundOf(root, paid!, 70n);
    expect(refund).toMatchObject({ from_pending: '20' });
    expect(await funds(root)).toEqual({ available: '40', processing: '70' });
    expect([await lockOf(root, one!.id), await lockOf(root, two!.id)]).toEqual([30, 0]);
    const [event] = await world.sql`select data from event
      where tenant_id = ${root.tenantId} and object_id = ${refund.id}`;
    expect(event!.data).not.toHaveProperty('freed_locks');
  });

  it('takes all that is left by default, and refuses more than that, or more than is available', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await write(root, 'dispute_deposit', { id: paid.id, amount: 15n });
    await refundOf(root, paid, 25n);
    const beyond = 'amount_exceeds_deposit refund.amount';
    expect(await refusal(refundOf(root, paid, 61n))).toBe(beyond);
    expect(await refundOf(root, paid)).toMatchObject({ amount: '60' });
    expect(await refusal(refundOf(root, paid))).toBe(beyond);
    const other = await payee(100n);
    await other.payOut();
    const { pending } = { pending: await other.money.deposit(10n) };
    expect(await refusal(refundOf(other, await first(other), 1n))).toBe('balance_insufficient');
    expect(await refundOf(other, pending)).toMatchObject({ amount: '10', from_pending: '10' });
  });

  it('keeps the locks that shrank, and removes the reason why nothing was paid out', async () => {
    const root = await payee(100n, null);
    await root.payOut();
    expect(await stored('payout_block', root, root.id, 'account_id')).toBeDefined();
    const paid = await first(root);
    await refundOf(root, paid, 60n);
    expect(await stored('payout_block', root, root.id, 'account_id')).toBeDefined();
    const refund = await refundOf(root, paid, 40n);
    expect(await stored('payout_block', root, root.id, 'account_id')).toBeUndefined();
    expect(refund.freed_locks).toEqual([{ receivableId: root.receivable, amount: '40' }]);
  });

  it('refuses a deposit that is not completed, and a dispute', async () => {
    const root = await payee(100n);
    const status = 'status_invalid deposit.status';
    expect(await refusal(refundOf(root, await root.money.create(5n)))).toBe(status);
    const dispute = await write(root, 'dispute_deposit', { id: (await first(root)).id, amount: 5n });
    expect(await refusal(refundOf(root, dispute))).toBe(status);
    await move(root, await first(root), 'reversed');
    expect(await refusal(refundOf(root, await first(root)))).toBe(status);
  });

  it('of several at once refunds a deposit no more than it has', async () => {
    const root = await payee(10n);
    const paid = await root.money.deposit(100n);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => refundOf(root, paid, 30n)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await value('refunded_of', root.tenantId, false, paid.id)).toBe('90');
  });
});

of('refunded_of', () => {
  it('is what refunds have taken that have not failed', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refunded = () => value('refunded_of', root.tenantId, false, paid.id);
    expect(await refunded()).toBe('0');
    const [one, two] = [await refundOf(root, paid, 10n), await refundOf(root, paid, 20n)];
    expect(await refunded()).toBe('30');
    await end(root, one, 'failed');
    await end(root, two, 'succeeded');
    expect(await refunded()).toBe('20');
  });
});

/** A user of the aggregator whose deposit of 1.00 is reconciled in part, so that the platform has that part. */
async function aggregated(reconciled = 70n) {
  const user = await makeAccount(fixture, platform, 'connected_user');
  await activate(fixture, platform, user.id);
  const money = moneyOf(fixture, { ...platform, id: user.id });
  const inr = { currency: 'INR' };
  const paid = await money.complete(
    await write(platform, 'create_deposit', {
      ...{ toAccountId: user.id, toAddressId: 'address_1', fromAccountId: null, fromAddressId: null, amount: 100n },
      ...{ currency: 'INR', paymentMethod: 'upi' },
    }),
  );
  const receivable = await money.receivable(100n, { ...inr, invoice: { amount: '100', currency: 'INR' } });
  await money.reconcile(paid, [{ id: receivable.id, amount: reconciled }]);
  const of_ = async () => [await money.balance(user.id, 'INR'), await money.balance(platform.id, 'INR')];
  return { user, paid, receivable, held: of_ };
}

of('refunding_account', () => {
  it('is the account, the user of a partner, or the aggregator', async () => {
    const root = await payee();
    const partner = await makeAccount(fixture, root);
    const user = await makeAccount(fixture, platform, 'connected_user');
    const account = (place: { tenantId: string }, id: string) => value('refunding_account', place.tenantId, false, id);
    expect(await account(root, root.id)).toBe(root.id);
    expect(await account(root, partner.id)).toBe(root.id);
    expect(await account(platform, user.id)).toBe(platform.id);
  });

  it('gives the reconciled part for a user of an aggregator, and gets it back from a refund that fails', async () => {
    const { paid, receivable, held } = await aggregated();
    const before = await held();
    const refund = await write(platform, 'create_refund', { depositId: paid.id, amount: 50n });
    expect(refund).toMatchObject({ from_pending: '30', debited_account_id: platform.id });
    expect(await held()).toEqual([{ processing: '30' }, { available: '50', processing: '20' }]);
    await write(platform, 'move_refund', { id: refund.id, to: 'failed' });
    expect(await held()).toEqual(before);
    expect(await stored('receivable', platform, receivable.id)).toMatchObject({ amount_locked: '70' });
    const other = await write(platform, 'create_refund', { depositId: paid.id });
    await write(platform, 'move_refund', { id: other.id, to: 'succeeded' });
    expect(await held()).toEqual([{}, {}]);
  });
});

of('claim_refunds', () => {
  it('returns pending refunds that are due, postpones each, and forgets those that have ended', async () => {
    const root = await payee(10n);
    const refund = await refundOf(root, await root.money.deposit(100n), 30n);
    // In live mode a refund of a checkout has such a job.
    await call('enqueue', root.tenantId, false, 'send_refund', refund.id, 0);
    const jobs = async () => (await jobsOf(root, refund.id)).filter(({ kind }) => kind === 'send_refund');
    const claim = async () => {
      await world.sql`update job set due = 0 where subject_id = ${refund.id} and kind = 'send_refund'`;
      const rows = await call(
        'claim_refunds',
        root.tenantId,
        false,
        '{}',
        JSON.stringify({ limit: 10, duplicates: true }),
      );
      return rows.map(({ id }) => id);
    };
    for (let n = 1; n <= 12; n++) {
      expect(await claim()).toEqual([refund.id]);
      const [row] = await world.sql`select due - extract(epoch from now())::int as pause from job
        where subject_id = ${refund.id} and kind = 'send_refund'`;
      expect(Number(row!.pause)).toBeLessThanOrEqual(Math.min(3_600, 5 * 2 ** (n - 1)) + 1);
    }
    expect(await jobs()).toMatchObject([{ attempts: 12 }]);
    const args = JSON.stringify({ limit: 10, duplicates: true });
    expect(await call('claim_refunds', root.tenantId, false, '{}', args)).toEqual([]);
    await end(root, refund, 'succeeded');
    expect(await claim()).toEqual([]);
    expect(await jobs()).toEqual([]);
  });

  it('submits the refunds of checkouts in test mode where that has an acquirer', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const kindsOf = async (submits?: boolean) => {
      const { id } = await write(root, 'create_refund', { depositId: paid.id, amount: 1n, submits });
      return (await jobsOf(root, id)).map(({ kind }) => kind);
    };
    expect(await kindsOf(true)).toEqual(['settle_refund']);
    await world.sql`update payment set checkout_id = 'checkout_1' where id = ${paid.payment_id}`;
    for (const submits of [undefined, false]) expect(await kindsOf(submits)).toEqual(['settle_refund']);
    expect(await kindsOf(true)).toEqual(['send_refund']);
    await world.sql`update payment set checkout_id = null where id = ${paid.payment_id}`;
  });

  it('counts nothing while there is no acquirer', async () => {
    const root = await payee(10n);
    const refund = await refundOf(root, await root.money.deposit(100n), 30n);
    await call('enqueue', root.tenantId, false, 'send_refund', refund.id, 0);
    const args = JSON.stringify({ limit: 10, duplicates: true, submits: false });
    expect(await call('claim_refunds', root.tenantId, false, '{}', args)).toEqual([]);
    const [row] = await world.sql`select attempts, due > extract(epoch from now()) as waits from job
      where subject_id = ${refund.id} and kind = 'send_refund'`;
    expect(row).toEqual({ attempts: 0, waits: true });
    expect(await end(root, refund, 'failed', { unsubmitted: true })).toMatchObject({ status: 'failed' });
  });
});

of('cover_beyond', () => {
  const cover = (root: Payee, text: string) => call('cover_beyond', root.tenantId, false, '{}', text);
  const unexplained = (root: Payee) =>
    world.sql`select amount, covered, status from unexplained where tenant_id = ${root.tenantId} order by id`;

  it('takes what failed refunds give back, as far as more was taken back than was left', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const [one, two] = [await refundOf(root, paid, 30n), await refundOf(root, paid, 20n)];
    await write(root, 'open_dispute', { id: paid.id, reference: 'CB 1', reasonCode: 'general', amount: 90n });
    expect(await unexplained(root)).toEqual([{ amount: '-40', covered: '0', status: 'open' }]);
    await end(root, one, 'failed');
    expect(await unexplained(root)).toEqual([{ amount: '-40', covered: '30', status: 'open' }]);
    expect(await funds(root)).toEqual({ processing: '20' });
    await end(root, two, 'failed');
    expect(await unexplained(root)).toEqual([{ amount: '-40', covered: '40', status: 'resolved' }]);
    expect(await funds(root)).toEqual({ available: '10' });
    // There is nothing left to take.
    await cover(root, await rowText('refund', root, two.id));
    expect(await funds(root)).toEqual({ available: '10' });
    expect(await violations(fixture)).toEqual([]);
  });

  it('gives all of it back when the dispute is won', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await refundOf(root, paid, 40n);
    const { id } = await write(root, 'open_dispute', {
      id: paid.id,
      reference: 'CB 2',
      reasonCode: 'general',
      amount: 100n,
    });
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({});
    await write(root, 'decide_dispute', { id, to: 'won' });
    expect(await funds(root)).toEqual({ pending: '100' });
    expect(await violations(fixture)).toEqual([]);
  });
});

of('move_refund', () => {
  it('succeeds once, and the money leaves', async () => {
    const root = await payee(100n);
    const refund = await refundOf(root, await first(root), 30n);
    const ended = await end(root, refund, 'succeeded', { bankReference: 'ARN 7', failureReason: 'none' });
    expect(ended).toMatchObject({ status: 'succeeded', bank_reference: 'ARN 7', failure_reason: null });
    expect(await funds(root)).toEqual({ available: '70' });
    for (const to of ['succeeded', 'failed'] as const)
      expect(await refusal(end(root, refund, to))).toBe('status_invalid refund.status');
    expect(await stored('payment', root, refund.payment_id)).toMatchObject({ status: 'completed' });
    expect(await eventsOf(root, refund.id)).toEqual(['refund.created', 'refund.succeeded']);
  });

  it('fails once, and the money is back where it came from, with its locks', async () => {
    const root = await payee(10n);
    const [paid, { id }] = [await root.money.deposit(100n), await root.money.receivable(80n)];
    await root.money.reconcile(paid, [{ id, amount: 80n }]);
    const before = await funds(root);
    const refund = await refundOf(root, paid, 70n);
    const failed = await end(root, refund, 'failed', { failureReason: 'Account closed' });
    expect(failed).toMatchObject({ status: 'failed', failure_reason: 'Account closed' });
    expect(await funds(root)).toEqual(before);
    expect([await lockOf(root, id), await rested(root, paid)]).toEqual([80, 20]);
    expect(await refusal(end(root, refund, 'succeeded'))).toBe('status_invalid refund.status');
    expect(await stored('payment', root, refund.payment_id)).toMatchObject({ status: 'failed' });
    expect(await eventsOf(root, refund.id)).toEqual(['refund.created', 'refund.failed']);
    expect(await eventsOf(root, paid.id)).toContain('deposit.reconciled');
  });

  it('with `unsubmitted` excludes the worker, and is refused once that has submitted the refund', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const args = JSON.stringify({ limit: 10, duplicates: true });
    const claim = () => call('claim_refunds', root.tenantId, false, '{}', args);
    const [one, two] = [await refundOf(root, paid, 30n), await refundOf(root, paid, 20n)];
    await call('enqueue', root.tenantId, false, 'send_refund', one.id, 0);
    await end(root, one, 'succeeded', { unsubmitted: true });
    expect(await claim()).toEqual([]);
    await call('enqueue', root.tenantId, false, 'send_refund', two.id, 0);
    expect(await claim()).toMatchObject([{ id: two.id }]);
    const before = await funds(root);
    expect(await refusal(end(root, two, 'failed', { unsubmitted: true }))).toBe('state_conflict refund.status');
    expect(await funds(root)).toEqual(before);
    expect(await end(root, two, 'failed')).toMatchObject({ status: 'failed' });
  });
});

of('return_refund', () => {
  it('leaves unreconciled what the receivable cannot take again', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await refundOf(root, paid, 60n);
    const other = await root.money.deposit(50n);
    await root.money.reconcile(other, [{ id: root.receivable, amount: 50n }]);
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({ available: '100', pending: '50' });
    expect([await lockOf(root, root.receivable), await rested(root, paid)]).toEqual([100, 50]);
  });

  it('leaves unreconciled all of it when the receivable is void', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await refundOf(root, paid);
    await write(root, 'void_receivable', { id: root.receivable });
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({ pending: '100' });
    expect(await rested(root, paid)).toBe(100);
  });

  it('gives available money back where the locks are in a payout', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const payout = (await root.payOut())!;
    const { deposit: other } = await root.money.reconciled(50n);
    const refund = await refundOf(root, paid, 30n);
    expect(refund.freed_locks).toBeNull();
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({ available: '50', payout_processing: '100' });
    // The same again, and the payout fails while the refund is pending: the lock shrinks, and is not taken again.
    const again = await refundOf(root, paid, 30n);
    await write(root, 'move_payout', { id: payout.id, to: 'failed' });
    expect(await lockOf(root, root.receivable)).toBe(70);
    await end(root, again, 'failed');
    expect(await funds(root)).toEqual({ available: '120', pending: '30' });
    expect([await rested(root, paid), await rested(root, other)]).toEqual([30, 0]);
  });

  it('is taken by the reversal that came meanwhile', async () => {
    for (const to of ['failed', 'succeeded'] as const) {
      const root = await payee(100n);
      const paid = await first(root);
      const refund = await refundOf(root, paid, 30n);
      await move(root, paid, 'reversed');
      expect(await funds(root)).toEqual({ processing: '30' });
      await end(root, refund, to);
      expect(await funds(root)).toEqual({});
      expect([await lockOf(root, root.receivable), await rested(root, paid)]).toEqual([0, 0]);
    }
  });

  it('gives the advance of a fee back to the compartment of the advance', async () => {
    const [address] = await seller.addressOf(shop.id, 'service_fee_advance');
    const paid = await seller.complete(
      await write(shop, 'create_deposit', {
        ...{ toAccountId: shop.id, toAddressId: address!.id, fromAccountId: null, fromAddressId: null, amount: 40n },
        ...{ currency: address!.currency, paymentMethod: 'domestic_credit' },
      }),
    );
    const { id } = await write(shop, 'create_refund', { depositId: paid.id, amount: 15n });
    expect(await seller.balance(shop.id, address!.currency)).toEqual({ fee_advance: '25', processing: '15' });
    await world.sql`update refund set status = 'failed' where tenant_id = ${shop.tenantId} and id = ${id}`;
    const [refund, advance] = [await rowText('refund', shop, id), await rowText('deposit', shop, paid.id)];
    await call('return_refund', shop.tenantId, false, '{}', refund, advance);
    expect(await seller.balance(shop.id, address!.currency)).toEqual({ fee_advance: '40' });
    await world.sql`update payment set status = 'failed' where tenant_id = ${shop.tenantId} and type = 'refund'`;
  });
});

/** Lets one call change one lock, as if each deposit had more locks than a call may change. */
async function oneLockPerCall(work: () => Promise<void>) {
  const set = (count: number) =>
    world.sql.unsafe(
      `create or replace function locks_per_call() returns int language plpgsql immutable as
        'begin return ${count}; end'`,
    );
  await set(1);
  try {
    await work();
  } finally {
    await set(500);
  }
}
/** A deposit of 1.00, of which two receivables have 0.40 each. */
async function lockedTwice() {
  const root = await payee(10n);
  const paid = await root.money.deposit(100n);
  const [one, two] = [await root.money.receivable(40n), await root.money.receivable(40n)];
  await root.money.reconcile(
    paid,
    [one, two].map(({ id }) => ({ id, amount: 40n })),
  );
  return { root, paid, locks: async () => [await lockOf(root, one.id), await lockOf(root, two.id)] };
}
/** Does the only job of a kind. */
async function work(root: Payee, kind: string) {
  const [{ job, id } = {} as Row, ...others] = await world.sql<Row[]>`select id, job::text as job from job
    where tenant_id = ${root.tenantId} and kind = ${kind}`;
  expect(others).toEqual([]);
  await call(`job_${kind}`, root.tenantId, false, job);
  await world.sql`delete from job where tenant_id = ${root.tenantId} and id = ${id}`;
}

of('shrink_for_refund', () => {
  it('leaves to a job what one call cannot do, and the refund keeps all of it, the oldest lock first', () =>
    oneLockPerCall(async () => {
      const { root, paid, locks } = await lockedTwice();
      const refund = await refundOf(root, paid, 90n);
      expect(await locks()).toEqual([40, 0]);
      await call('shrink_for_refund', root.tenantId, false, '{}', await rowText('refund', root, refund.id), 0);
      await work(root, 'shrink_locks');
      expect(await locks()).toEqual([10, 0]);
      const { freed_locks: freed } = await stored('refund', root, refund.id);
      expect(freed.map(({ amount }: Row) => amount)).toEqual(['30', '40']);
    }));
});

of('lock_again', () => {
  it('leaves to a job what one call cannot do', () =>
    oneLockPerCall(async () => {
      const { root, paid, locks } = await lockedTwice();
      const refund = await refundOf(root, paid, 90n);
      await work(root, 'shrink_locks');
      await end(root, refund, 'failed');
      expect(await locks()).toEqual([40, 0]);
      expect(await funds(root)).toEqual({ available: '50', pending: '60' });
      await work(root, 'lock_again');
      expect(await locks()).toEqual([40, 40]);
      expect(await funds(root)).toEqual({ available: '90', pending: '20' });
      const [row, owner] = [await rowText('refund', root, refund.id), await rowText('deposit', root, paid.id)];
      await call('lock_again', root.tenantId, false, '{}', row, owner, 0, 0);
      await call('lock_again', root.tenantId, false, '{}', row, owner, 2, 20);
      expect(await funds(root)).toEqual({ available: '90', pending: '20' });
    }));
});

of('job_lock_again', () => {
  it('locks no more than the deposit still has', () =>
    oneLockPerCall(async () => {
      const { root, paid, locks } = await lockedTwice();
      const refund = await refundOf(root, paid, 90n);
      await work(root, 'shrink_locks');
      await end(root, refund, 'failed');
      await write(root, 'dispute_deposit', { id: paid.id, amount: 55n });
      await work(root, 'lock_again');
      expect(await locks()).toEqual([40, 5]);
      const job = await jobText('lock_again', refund.id, { from: 1, amount: 40 });
      await call('job_lock_again', root.tenantId, false, job);
      expect(await locks()).toEqual([40, 5]);
    }));
});

of('job_settle_refund', () => {
  it('completes a pending refund, and leaves one that has ended', async () => {
    const root = await payee(100n);
    const refund = await refundOf(root, await first(root), 30n);
    const job = await jobText('settle_refund', refund.id);
    for (let times = 0; times < 2; times++) await call('job_settle_refund', root.tenantId, false, job);
    expect(await stored('refund', root, refund.id)).toMatchObject({ status: 'succeeded' });
    expect(await funds(root)).toEqual({ available: '70' });
  });
});

describe('a dispute of a deposit with refunds', () => {
  const dispute = (root: Payee, { id }: Row, amount?: bigint) => write(root, 'dispute_deposit', { id, amount });

  it('takes what refunds have left, and refuses when nothing is left or more was never there', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await refundOf(root, paid, 40n);
    expect(await refusal(dispute(root, paid, 101n))).toBe('amount_exceeds_deposit deposit.amount');
    expect(await dispute(root, paid, 100n)).toMatchObject({ amount: '-60' });
    expect(await funds(root)).toEqual({ processing: '40' });
    expect(await refusal(dispute(root, paid))).toBe('amount_exceeds_deposit deposit.amount');
    expect(await refusal(dispute(root, await root.money.create(5n)))).toBe('status_invalid deposit.status');
  });
});

describe('a chargeback of a deposit with refunds', () => {
  it('keeps what was reported beyond what refunds had left', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await end(root, await refundOf(root, paid, 40n), 'succeeded');
    const chargeback = { id: paid.id, reference: 'CB 1', reasonCode: 'general', amount: 100n };
    const taken = await write(root, 'open_dispute', chargeback);
    expect(taken).toMatchObject({ amount: '60' });
    expect(await stored('clawback', root, 'CB 1', 'reference')).toMatchObject({ amount: '60', beyond: '40' });
    expect(await write(root, 'open_dispute', chargeback)).toMatchObject({ id: taken.id });
    const other = write(root, 'open_dispute', { ...chargeback, amount: 60n });
    expect(await refusal(other)).toBe('state_conflict deposit.reference');
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toEqual([]);
});
