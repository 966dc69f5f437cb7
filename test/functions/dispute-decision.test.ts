import { describe, expect, it } from 'vitest';
import { activate, makeAccount, moneyOf, type Row, refusal, useFunctions, useRoot, violations } from './fixture.js';
import { payeesOf } from './payee.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, stored, eventsOf } = fixture;
const payee = payeesOf(fixture);
type Root = Parameters<typeof write>[0];
const platform = useRoot(fixture, 'platform', 2, 'aggregator');

/** Disputes a deposit as the sandbox does, and returns the dispute. */
async function disputed(root: Root, { id }: Row, amount?: bigint): Promise<Row> {
  const debit = await write(root, 'dispute_deposit', {
    ...{ id, reasonCode: 'high_risk', respondInSeconds: 600 },
    ...(amount !== undefined && { amount }),
  });
  return stored('dispute', root, debit.id, 'debit_deposit_id');
}
const decide = (root: Root, { id }: Row, to: 'won' | 'lost') => write(root, 'decide_dispute', { id, to });
const respond = (root: Root, { id }: Row, more: object = {}) =>
  write(root, 'respond_to_dispute', { id, text: 'Delivered', fileIds: [], ...more });
const move = (root: Root, { id }: Row, to: string) => write(root, 'move_deposit', { id, from: ['completed'], to });
const first = (root: Awaited<ReturnType<typeof payee>>) => stored('deposit', root, root.id, 'to_account_id');
const figures = async (root: Root, { id }: Row) => {
  const { pending_rest: rest, disputed: taken, status } = await stored('deposit', root, id);
  return [Number(rest), Number(taken), status];
};
const counted = async ({ tenantId }: Root) => {
  const [row] = await world.sql`select coalesce(sum(amount), 0)::int as amount from counted_deposit
    where tenant_id = ${tenantId}`;
  return row!.amount as number;
};
const status = 'status_invalid dispute.status';

of('insert_dispute', () => {
  it('opens the dispute of a deposit with a negative amount', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const debit = await write(root, 'dispute_deposit', { id: paid.id, amount: 30n });
    expect(await stored('dispute', root, debit.id, 'debit_deposit_id')).toBeUndefined();
    const text = await rowText('deposit', root, debit.id);
    await call('insert_dispute', root.tenantId, false, '{}', text, 2_000_000_000, '13.1 Not received');
    expect(await stored('dispute', root, debit.id, 'debit_deposit_id')).toMatchObject({
      ...{ amount: '30', deposit_id: paid.id, account_id: root.id, status: 'needs_response', reason_code: 'general' },
      ...{ respond_by: '2000000000', acquirer_reason: '13.1 Not received', reference: null },
    });
  });
});

of('respond_to_dispute', () => {
  it('answers once, and moves no money', async () => {
    const root = await payee(100n);
    const dispute = await disputed(root, await first(root), 30n);
    const before = await root.money.balance(root.id);
    expect(await respond(root, dispute, { fileIds: ['file_2', 'file_1'] })).toMatchObject({
      ...{ status: 'under_review', evidence_text: 'Delivered', evidence_file_ids: ['file_2', 'file_1'] },
      ...{ decided_at: null, submitted_at: expect.any(String) },
    });
    expect(await refusal(respond(root, dispute))).toBe(status);
    expect(await refusal(write(root, 'accept_dispute', { id: dispute.id }))).toBe(status);
    expect(await root.money.balance(root.id)).toEqual(before);
    expect(await eventsOf(root, dispute.id)).toEqual(['dispute.opened', 'dispute.responded']);
  });

  it('is refused after the last moment, when the dispute can still be decided', async () => {
    const root = await payee(100n);
    const dispute = await disputed(root, await first(root));
    // A cluster takes no clock within an update.
    const [row] = await world.sql`select clock(${root.tenantId}, false) as now`;
    await world.sql`update dispute set respond_by = ${Number(row!.now) - 1} where id = ${dispute.id}`;
    expect(await refusal(respond(root, dispute))).toBe(status);
    expect(await decide(root, dispute, 'lost')).toMatchObject({ status: 'lost' });
  });
});

of('accept_dispute', () => {
  it('ends a dispute that was not answered, and moves no money', async () => {
    const root = await payee(100n);
    const dispute = await disputed(root, await first(root), 30n);
    expect(await write(root, 'accept_dispute', { id: dispute.id })).toMatchObject({ status: 'accepted' });
    expect(await root.money.balance(root.id)).toEqual({ available: '70' });
    for (const again of [respond(root, dispute), decide(root, dispute, 'won')])
      expect(await refusal(again)).toBe(status);
    expect(await eventsOf(root, dispute.id)).toEqual(['dispute.opened', 'dispute.accepted']);
  });
});

of('end_dispute', () => {
  it('ends a dispute from the given statuses alone', async () => {
    const root = await payee(100n);
    const dispute = await disputed(root, await first(root));
    const end = (from: string) => call('end_dispute', root.tenantId, false, '{}', dispute.id, from, 'lost');
    expect(await refusal(end('{under_review}'))).toBe(status);
    await end('{needs_response}');
    expect(await stored('dispute', root, dispute.id)).toMatchObject({ status: 'lost' });
  });
});

of('decide_dispute', () => {
  it('moves nothing when the dispute is lost', async () => {
    const root = await payee(100n);
    const dispute = await disputed(root, await first(root), 30n);
    await respond(root, dispute);
    expect(await decide(root, dispute, 'lost')).toMatchObject({ status: 'lost', decided_at: expect.any(String) });
    expect(await root.money.balance(root.id)).toEqual({ available: '70' });
    expect(await refusal(decide(root, dispute, 'won'))).toBe(status);
    expect(await stored('deposit', root, dispute.debit_deposit_id)).toMatchObject({ status: 'completed' });
  });

  it('of two at once decides once', async () => {
    const root = await payee(100n);
    const dispute = await disputed(root, await first(root));
    const outcomes = await Promise.allSettled([decide(root, dispute, 'won'), decide(root, dispute, 'won')]);
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect(await root.money.balance(root.id)).toEqual({ pending: '100' });
  });
});

of('return_disputed', () => {
  it('makes the money pending of the deposit again, and its deposit reversed', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const dispute = await disputed(root, paid, 30n);
    expect(await figures(root, paid)).toEqual([0, 30, 'completed']);
    expect(await counted(root)).toBe(70);
    await decide(root, dispute, 'won');
    expect(await figures(root, paid)).toEqual([30, 0, 'completed']);
    expect(await root.money.balance(root.id)).toEqual({ available: '70', pending: '30' });
    expect(await counted(root)).toBe(100);
    const debit = await stored('deposit', root, dispute.debit_deposit_id);
    expect(debit).toMatchObject({ amount: '-30', status: 'reversed' });
    expect(await stored('payment', root, debit.payment_id)).toMatchObject({ status: 'reversed', amount: '-30' });
    expect(await eventsOf(root, debit.id)).toEqual(['deposit.completed', 'deposit.reversed']);
    // The receivable can take it again, and all of it can be refunded or disputed again.
    await root.money.reconcile(paid, [{ id: root.receivable, amount: 30n }]);
    expect(await root.money.balance(root.id)).toEqual({ available: '100' });
    expect(await disputed(root, paid)).toMatchObject({ amount: '100' });
    expect(await root.money.balance(root.id)).toEqual({});
  });

  it('makes up for what was taken below zero while a payout has the locks', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await root.payOut();
    const dispute = await disputed(root, paid, 80n);
    expect(await root.money.balance(root.id)).toMatchObject({ available: '-80' });
    await decide(root, dispute, 'won');
    expect(await root.money.balance(root.id)).toEqual({ payout_processing: '100' });
    expect(await figures(root, paid)).toEqual([0, 0, 'completed']);
    expect(await value('overlocked_of', root.tenantId, false, paid.id)).toBe('0');
  });

  it('gives back what a further deposit under its reference took, and no other', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const opened = { id: paid.id, reference: 'CB 1', reasonCode: 'general', amount: 30n };
    const { id } = await write(root, 'open_dispute', opened);
    for (const bankReference of ['CB 1', 'CB 2'])
      await write(root, 'dispute_deposit', { id: paid.id, amount: 5n, reasonCode: 'general', bankReference });
    expect(await figures(root, paid)).toEqual([0, 40, 'completed']);
    await write(root, 'decide_dispute', { id, to: 'won' });
    expect(await figures(root, paid)).toEqual([35, 5, 'completed']);
  });

  it('gives each of two disputes of a deposit back by itself', async () => {
    const root = await payee(100n);
    const paid = await root.money.deposit(50n);
    const [one, two] = [await disputed(root, paid, 20n), await disputed(root, paid, 30n)];
    await decide(root, one, 'won');
    expect(await figures(root, paid)).toEqual([20, 30, 'completed']);
    await decide(root, two, 'won');
    expect(await figures(root, paid)).toEqual([50, 0, 'completed']);
  });

  it('posts once for a dispute', async () => {
    const root = await payee(100n);
    const dispute = await disputed(root, await first(root), 30n);
    await decide(root, dispute, 'won');
    const debit = await rowText('deposit', root, dispute.debit_deposit_id);
    const again = call('return_disputed', root.tenantId, false, '{}', debit, dispute.id);
    await expect(again).rejects.toThrow('duplicate key');
  });

  it('goes with the deposit when that was reversed meanwhile', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const [lost, won] = [await disputed(root, paid, 10n), await disputed(root, paid, 30n)];
    await decide(root, lost, 'lost');
    await move(root, paid, 'reversed');
    await decide(root, won, 'won');
    expect(await figures(root, paid)).toEqual([0, 10, 'reversed']);
    expect(await root.money.balance(root.id)).toEqual({});
    expect(await counted(root)).toBe(0);
  });

  it('goes with the deposit with what a refund that failed had covered, too', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await write(root, 'create_refund', { depositId: paid.id, amount: 40n });
    const opened = { id: paid.id, reference: 'CB 3', reasonCode: 'general', amount: 100n };
    const { id } = await write(root, 'open_dispute', opened);
    await write(root, 'move_refund', { id: refund.id, to: 'failed' });
    await move(root, paid, 'reversed');
    await write(root, 'decide_dispute', { id, to: 'won' });
    expect(await figures(root, paid)).toEqual([0, 0, 'reversed']);
    expect(await root.money.balance(root.id)).toEqual({});
    expect(await violations(fixture)).toEqual([]);
  });

  it('counts no won dispute when the deposit is reversed later', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await decide(root, await disputed(root, paid, 30n), 'won');
    await move(root, paid, 'reversed');
    expect(await root.money.balance(root.id)).toEqual({});
    expect(await counted(root)).toBe(0);
  });
});

describe('a won dispute of a user of an aggregator', () => {
  it('is pending of the user, and comes to the platform when it is reconciled', async () => {
    const user = await makeAccount(fixture, platform, 'connected_user');
    await activate(fixture, platform, user.id);
    const money = moneyOf(fixture, { ...platform, id: user.id });
    const paid = await money.complete(
      await write(platform, 'create_deposit', {
        ...{ toAccountId: user.id, toAddressId: 'address_1', fromAccountId: null, fromAddressId: null, amount: 100n },
        ...{ currency: 'INR', paymentMethod: 'upi' },
      }),
    );
    const receivable = await money.receivable(100n, { currency: 'INR', invoice: { amount: '100', currency: 'INR' } });
    await money.reconcile(paid, [{ id: receivable.id, amount: 70n }]);
    const held = async () => [await money.balance(user.id, 'INR'), await money.balance(platform.id, 'INR')];
    const dispute = await disputed(platform, paid, 50n);
    expect(await held()).toEqual([{}, { available: '50' }]);
    await decide(platform, dispute, 'won');
    expect(await held()).toEqual([{ pending: '50' }, { available: '50' }]);
    await money.reconcile(paid, [{ id: receivable.id, amount: 50n }]);
    expect(await held()).toEqual([{}, { available: '100' }]);
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toEqual([]);
});
