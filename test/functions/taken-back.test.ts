import { describe, expect, it } from 'vitest';
import { statementsWaiting } from '../support/world.js';
import { makeAccount, moneyOf, type Row, refusal, useFunctions, useRoot, violations } from './fixture.js';
import { payeesOf } from './payee.js';

const fixture = useFunctions();
const { world, of, call, write, rowText, stored } = fixture;
const payee = payeesOf(fixture);
type Payee = Awaited<ReturnType<typeof payee>>;
const merchant = useRoot(fixture, 'user', 2);
const seller = moneyOf(fixture, merchant);
let references = 0;
const reference = () => `CB ${++references}`;

/** What the calls since the last question have broken. A payee is of one test, so that no question asks for all. */
const broken = async () => {
  const found = await violations(fixture);
  fixture.tenants.clear();
  return found;
};

const first = (root: Payee) => stored('deposit', root, root.id, 'to_account_id');
const refundOf = (root: Payee, { id }: Row, amount?: bigint) => write(root, 'create_refund', { depositId: id, amount });
const end = (root: Payee, { id }: Row, to: 'succeeded' | 'failed') => write(root, 'move_refund', { id, to });
type Place = Parameters<typeof write>[0];
const open = (root: Place, { id }: Row, of_: string, amount?: bigint, more: object = {}): Promise<Row | undefined> =>
  write(root, 'open_dispute', { id, reference: of_, reasonCode: 'high_risk', amount, ...more });
const decide = (root: Place, { id }: Row, to: 'won' | 'lost') => write(root, 'decide_dispute', { id, to });
const funds = ({ money, id }: Payee) => money.balance(id);
const kept = (root: Place) =>
  world.sql<Row[]>`select deposit_id, reference, amount, covered, currency, reason, status from unexplained
    where tenant_id = ${root.tenantId} order by created, id`;
/** What the posting of unexplained money moves, outside of all balances. */
const posted = ({ id }: Row) => world.sql`
  select c.contra, c.amount from posting p join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
  where p.kind = 'unexplained' and p.cause = ${id} order by 1`;
/** What has come back of unexplained money, outside of all balances. */
const cameBack = ({ id }: Row) => world.sql`
  select c.contra, c.amount from posting p join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
  where p.kind = 'dispute_won' and p.cause = ${id} order by 1`;
/** What the contra accounts of what was taken back have in all. */
const outside = async ({ tenantId }: Place) => {
  const [row] = await world.sql`select coalesce(sum(amount) filter (where contra = 'dispute'), 0)::int as dispute,
    coalesce(sum(amount) filter (where contra = 'unexplained'), 0)::int as unexplained
    from contra_entry where tenant_id = ${tenantId}`;
  return row;
};
const settled = { dispute: 0, unexplained: 0 };
const keptOne = async (root: Place) =>
  (await world.sql<Row[]>`select * from unexplained where tenant_id = ${root.tenantId}`)[0]!;
const decideKept = (root: Place, { id }: Row, to: 'won' | 'lost') => write(root, 'decide_unexplained', { id, to });
const wonText = 'The acquirer decided the dispute for the account: the money came back.';
const conflict = 'state_conflict deposit.reference';
const tooMuch = 'amount_exceeds_deposit deposit.amount';

of('insert_taken_back', () => {
  it('stores and posts it once under its reference', async () => {
    const root = await payee(100n);
    const text = await rowText('deposit', root, (await first(root)).id);
    const of_ = reference();
    const insert = async () =>
      (await call('insert_taken_back', root.tenantId, false, null, text, 30, 'EUR', of_, 'By hand'))[0]!;
    const row = await insert();
    expect(row).toMatchObject({ amount: '-30', currency: 'EUR', reason: 'recorded', reference: of_, note: 'By hand' });
    expect(await posted(row)).toEqual([
      { contra: 'dispute', amount: '30' },
      { contra: 'unexplained', amount: '-30' },
    ]);
    expect(await insert()).toMatchObject({ id: null });
  });

  it('stores nothing under the reference of a dispute or a recall', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const text = await rowText('deposit', root, paid.id);
    for (const kind of ['chargeback', 'recall']) {
      const of_ = reference();
      await world.sql`insert into clawback
        (tenant_id, livemode, kind, reference, created, disputes_id, deposit_id, amount, reason_code)
        values (${root.tenantId}, false, ${kind}, ${of_}, 1, ${paid.id}, 'deposit_other', 10, 'general')`;
      const [row] = await call('insert_taken_back', root.tenantId, false, null, text, 30, 'USD', of_, 'By hand');
      expect(row).toMatchObject({ id: null });
      await world.sql`delete from clawback where tenant_id = ${root.tenantId} and reference = ${of_}`;
    }
    expect(await kept(root)).toEqual([]);
  });
});

of('paid_for', () => {
  it('is the deposit, where its attempts have not taken more', async () => {
    const root = await payee(100n);
    const text = await rowText('deposit', root, (await first(root)).id);
    expect(await call('paid_for', root.tenantId, false, text)).toEqual([{ paid_for: '100' }]);
  });
});

of('lock_root', () => {
  it('makes two writes about one reference run one after the other, whatever deposits they are about', async () => {
    const root = await payee(100n);
    // Of two currencies, so that they have no balance in common. What is recorded by hand has nothing left.
    const euros = () => root.money.deposit(100n, { currency: 'EUR' });
    const deposits = {
      open_dispute: [await first(root), await euros()],
      record_unexplained: [await root.money.deposit(100n), await euros()],
    } as const;
    for (const spent of deposits.record_unexplained) await refundOf(root, spent);
    await call('lock_root', root.tenantId, false);
    const writes = {
      open_dispute: ({ id }: Row, of_: string) => ({ id, reference: of_, reasonCode: 'general', amount: '10' }),
      record_unexplained: ({ id }: Row, of_: string) => ({ depositId: id, amount: '10', reference: of_, note: 'N' }),
    };
    const names = ['open_dispute', 'record_unexplained'] as const;
    const pairs = names.flatMap((one) => names.map((other) => [one, other] as const));
    for (const [one, other] of pairs) {
      const of_ = reference();
      let second: Promise<string | undefined>;
      let isDone = false;
      await world.sql.begin(async (tx) => {
        const args = JSON.stringify(writes[one](deposits[one][0], of_));
        await tx.unsafe(`select from ${one}($1, false, '{}', $2::text::jsonb)`, [root.tenantId, args]);
        const given = JSON.stringify(writes[other](deposits[other][1], of_));
        second = refusal(call(other, root.tenantId, false, '{}', given)).finally(() => (isDone = true));
        await Promise.race([second, statementsWaiting(world, 1)]);
        expect(isDone).toBe(false);
      });
      expect([one, other, await second!]).toEqual([
        ...[one, other],
        other === 'open_dispute' ? conflict : 'state_conflict unexplained.reference',
      ]);
      const rows = await world.sql`
        select disputes_id as id from clawback where tenant_id = ${root.tenantId} and reference = ${of_}
        union all select deposit_id from unexplained where tenant_id = ${root.tenantId} and reference = ${of_}`;
      expect(rows).toEqual([{ id: deposits[one][0].id }]);
    }
    expect(await broken()).toEqual([]);
  });
});

of('decide_unexplained', () => {
  /** What was taken back of a deposit that was refunded whole, so that no balance has it. */
  const takenBack = async (amount = 100n) => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await refundOf(root, paid);
    const of_ = reference();
    await open(root, paid, of_, amount);
    return { root, paid, refund, of_, row: await keptOne(root) };
  };

  it('brings all of it back to its contra account when the dispute is won, once', async () => {
    const { root, paid, refund, of_, row } = await takenBack(60n);
    const before = await funds(root);
    const won = await decideKept(root, row, 'won');
    expect(won).toMatchObject({
      ...{ amount: '-60', covered: '0', decision: 'won', status: 'resolved' },
      ...{ resolution: wonText, resolved_by: 'tidegate', resolved_at: expect.any(String) },
    });
    expect(await cameBack(row)).toEqual([
      { contra: 'dispute', amount: '-60' },
      { contra: 'unexplained', amount: '60' },
    ]);
    expect([await funds(root), await outside(root)]).toEqual([before, settled]);
    expect(await decideKept(root, row, 'won')).toEqual(won);
    expect(await refusal(decideKept(root, row, 'lost'))).toBe('state_conflict dispute.status');
    // The report of its opening that comes again is the same money, and the refund that fails does not cover it.
    expect(await open(root, paid, of_, 60n)).toBeUndefined();
    await end(root, refund, 'failed');
    expect(await kept(root)).toMatchObject([{ amount: '-60', covered: '0', status: 'resolved' }]);
    expect(await funds(root)).toEqual({ available: '100' });
    expect(await stored('deposit', root, paid.id)).toMatchObject({ disputed: '0' });
    expect([await outside(root), await broken()]).toEqual([settled, []]);
  });

  it('brings back to the account what it was taken from there, and the rest to the contra account', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const [one, two] = [await refundOf(root, paid, 70n), await refundOf(root, paid, 30n)];
    await open(root, paid, reference(), 100n);
    await end(root, two, 'failed');
    const row = await keptOne(root);
    expect(row).toMatchObject({ amount: '-100', covered: '30', status: 'open' });
    expect(await funds(root)).toEqual({ processing: '70' });
    expect(await decideKept(root, row, 'won')).toMatchObject({ covered: '30', decision: 'won', status: 'resolved' });
    expect(await cameBack(row)).toMatchObject([{ amount: '-70' }, { amount: '70' }]);
    expect(await funds(root)).toEqual({ processing: '70', pending: '30' });
    await decideKept(root, row, 'won');
    await end(root, one, 'failed');
    expect(await funds(root)).toEqual({ available: '70', pending: '30' });
    expect(await stored('deposit', root, paid.id)).toMatchObject({ disputed: '0', pending_rest: '30' });
    expect([await outside(root), await broken()]).toEqual([settled, []]);
  });

  it('brings all of it back to the account where a refund that failed has covered all of it', async () => {
    const { root, paid, refund, row } = await takenBack();
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({});
    expect(await decideKept(root, row, 'won')).toMatchObject({ covered: '100', resolution: wonText });
    expect(await cameBack(row)).toEqual([]);
    expect(await funds(root)).toEqual({ pending: '100' });
    const [debit] = await world.sql<Row[]>`select id, status from deposit where disputes_id = ${paid.id}`;
    expect(debit).toMatchObject({ status: 'reversed' });
    await decideKept(root, row, 'won');
    expect(await funds(root)).toEqual({ pending: '100' });
    // All of it can be disputed again.
    await open(root, paid, reference(), 100n);
    expect(await funds(root)).toEqual({});
    expect([(await outside(root))!.unexplained, await broken()]).toEqual([0, []]);
  });

  it('moves nothing when the dispute is lost, so that a refund that fails still covers it', async () => {
    const { root, refund, row } = await takenBack();
    const before = await outside(root);
    const lost = await decideKept(root, row, 'lost');
    expect(lost).toMatchObject({ decision: 'lost', status: 'open', resolution: null });
    expect(await decideKept(root, row, 'lost')).toEqual(lost);
    expect(await refusal(decideKept(root, row, 'won'))).toBe('state_conflict dispute.status');
    expect([await outside(root), await cameBack(row)]).toEqual([before, []]);
    await end(root, refund, 'failed');
    expect(await keptOne(root)).toMatchObject({ covered: '100', decision: 'lost', status: 'resolved' });
    expect([await funds(root), await broken()]).toEqual([{}, []]);
  });

  it('keeps what an operator has said of it, and is once of two at once', async () => {
    const { root, row } = await takenBack();
    await write(root, 'resolve_unexplained', { id: row.id, resolution: 'Awaited', resolvedBy: 'Mira' });
    await Promise.all([1, 2, 3].map(() => decideKept(root, row, 'won')));
    expect(await keptOne(root)).toMatchObject({ decision: 'won', resolution: 'Awaited', resolved_by: 'Mira' });
    expect([await outside(root), await broken()]).toEqual([settled, []]);
  });

  it('brings another currency back to its contra account', async () => {
    const root = await payee(100n);
    await open(root, await first(root), reference(), 4_000n, { currency: 'EUR' });
    await decideKept(root, await keptOne(root), 'won');
    expect([await funds(root), await outside(root)]).toEqual([{ available: '100' }, settled]);
    expect(await broken()).toEqual([]);
  });

  it('is refused for what is beyond a deposit, and of a deposit that a bank has reversed', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await open(root, paid, reference(), 60n);
    await open(root, paid, reference(), 60n);
    expect(await refusal(decideKept(root, await keptOne(root), 'won'))).toBe('state_conflict unexplained.reason');
    const other = await takenBack();
    await write(other.root, 'move_deposit', { id: other.paid.id, from: ['completed'], to: 'reversed' });
    expect(await refusal(decideKept(other.root, other.row, 'won'))).toBe('state_conflict deposit.status');
    expect(await decideKept(other.root, other.row, 'lost')).toMatchObject({ decision: 'lost' });
    expect(await refusal(decideKept(other.root, { id: 'unexplained_0' } as Row, 'won'))).toMatch(/^state_conflict/);
  });
});

of('settle_unexplained', () => {
  it('posts what was not covered, once', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await refundOf(root, paid, 80n);
    await refundOf(root, paid);
    await open(root, paid, reference(), 100n);
    await end(root, refund, 'failed');
    const row = await keptOne(root);
    const text = await rowText('unexplained', root, row.id);
    const settle = () => call('settle_unexplained', root.tenantId, false, text, paid.payment_id);
    expect((await settle())[0]).toMatchObject({ covered: '80', decision: 'won', status: 'resolved' });
    expect(await cameBack(row)).toMatchObject([{ amount: '-20' }, { amount: '20' }]);
    await expect(settle()).rejects.toThrow('duplicate key');
    // Its caller gives back what was covered.
    await call('return_covered', root.tenantId, false, '{}', paid.id, row.reference);
    expect(await broken()).toEqual([]);
  });
});

of('return_covered', () => {
  it('gives back what further deposits under a reference took, and no other', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await refundOf(root, paid, 40n);
    const [one, two] = [reference(), reference()];
    await open(root, paid, one, 100n);
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({});
    await call('return_covered', root.tenantId, false, '{}', paid.id, two);
    expect(await funds(root)).toEqual({});
    await call('return_covered', root.tenantId, false, '{}', paid.id, one);
    expect(await funds(root)).toEqual({ pending: '40' });
    // The dispute itself gives the rest back.
    await decide(root, (await stored('dispute', root, paid.id, 'deposit_id')) as Row, 'won');
    expect(await funds(root)).toEqual({ pending: '100' });
  });
});

of('keep_taken_back', () => {
  const keep = async (root: Place, { id }: Row, of_: string, amount: number | null, currency: string | null = null) => {
    const args = ['chargeback', of_, id, amount, currency, 'Chargeback'] as const;
    return (await call('keep_taken_back', root.tenantId, false, ...args))[0]!.keep_taken_back;
  };

  it('keeps what nothing is left for, once under its reference', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await refundOf(root, paid);
    const of_ = reference();
    for (let i = 0; i < 2; i++) expect(await keep(root, paid, of_, 60)).toBe(true);
    expect(await keep(root, paid, of_, null)).toBe(true);
    expect(await kept(root)).toMatchObject([{ amount: '-60', reference: of_, deposit_id: paid.id, status: 'open' }]);
    expect(await refusal(keep(root, paid, of_, 61))).toBe(conflict);
    expect(await refusal(keep(root, paid, of_, 60, 'EUR'))).toBe(conflict);
    expect(await refusal(keep(root, await root.money.deposit(60n), of_, 60))).toBe(conflict);
  });

  it('keeps no amount, more than was ever paid, what is left, and what was never received', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    expect(await keep(root, paid, reference(), 60)).toBe(false);
    await refundOf(root, paid, 99n);
    expect(await keep(root, paid, reference(), 60)).toBe(false);
    await refundOf(root, paid);
    for (const amount of [null, 0, 101]) expect(await keep(root, paid, reference(), amount)).toBe(false);
    expect(await keep(root, await root.money.create(60n), reference(), 60)).toBe(false);
    expect(await kept(root)).toEqual([]);
  });

  it('keeps another currency whatever is left, and refuses it under the reference of a dispute', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const of_ = reference();
    await open(root, paid, of_, 10n);
    expect(await keep(root, paid, of_, 10)).toBe(false);
    expect(await keep(root, paid, of_, 10, paid.currency)).toBe(false);
    expect(await refusal(keep(root, paid, of_, 10, 'EUR'))).toBe(conflict);
    expect(await keep(root, paid, reference(), 5_000, 'EUR')).toBe(true);
    expect(await kept(root)).toMatchObject([{ amount: '-5000', currency: 'EUR' }]);
  });
});

describe('what is taken back of a deposit of which nothing is left', () => {
  it('moves no balance until the refund fails, which then has it, once', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    const refund = await refundOf(root, paid);
    const [of_, before] = [reference(), await funds(root)];
    for (let i = 0; i < 2; i++) expect(await open(root, paid, of_, 100n)).toBeUndefined();
    expect(await open(root, paid, of_)).toBeUndefined();
    expect(await funds(root)).toEqual(before);
    expect(await stored('deposit', root, paid.id)).toMatchObject({ disputed: '0', status: 'completed' });
    expect(await kept(root)).toMatchObject([{ amount: '-100', covered: '0', status: 'open' }]);
    for (const amount of [1n, 101n]) expect(await refusal(open(root, paid, of_, amount))).toBe(conflict);
    expect(await refusal(open(root, paid, reference(), 101n))).toBe(tooMuch);
    expect(await refusal(open(root, paid, reference()))).toBe(tooMuch);
    expect(await broken()).toEqual([]);

    await end(root, refund, 'failed');
    expect(await kept(root)).toMatchObject([{ amount: '-100', covered: '100', status: 'resolved' }]);
    expect(await funds(root)).toEqual({});
    expect(await stored('deposit', root, paid.id)).toMatchObject({ disputed: '100', pending_rest: '0' });
    // The report that comes again takes nothing a second time.
    expect(await open(root, paid, of_, 100n)).toBeUndefined();
    expect(await funds(root)).toEqual({});
    expect(await kept(root)).toHaveLength(1);
    expect(await broken()).toEqual([]);
  });

  it('is what a second dispute takes, and what it takes beyond what the first one has left', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await open(root, paid, reference(), 60n);
    const second = await open(root, paid, reference(), 60n);
    expect(second).toMatchObject({ amount: '40' });
    // Together more than was paid: each is what a bank or an acquirer says.
    for (const amount of [30n, 100n]) expect(await open(root, paid, reference(), amount)).toBeUndefined();
    expect(await kept(root)).toMatchObject([
      { amount: '-20', reason: 'beyond_deposit' },
      { amount: '-30', reason: 'recorded' },
      { amount: '-100', reason: 'recorded' },
    ]);
    expect(await funds(root)).toEqual({});
    expect(await broken()).toEqual([]);
  });

  it('of two reports at once is stored once', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    await refundOf(root, paid);
    const of_ = reference();
    const answers = await Promise.all(Array.from({ length: 4 }, () => open(root, paid, of_, 100n)));
    expect(answers).toEqual([undefined, undefined, undefined, undefined]);
    expect(await kept(root)).toHaveLength(1);
  });

  it('was recalled by a bank, too', async () => {
    const root = await payee(10n);
    const [address] = await root.money.addressOf(root.id);
    const place = { toAccountId: root.id, toAddressId: address!.id as string, amount: 100n, currency: 'USD' };
    const content = { ...place, fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null };
    const original = reference();
    const received = await write(root, 'record_bank_notice', { reference: original, event: 'received', content });
    const refund = await refundOf(root, { id: received.deposit_id });
    const of_ = reference();
    const recall = (amount: bigint, under = of_): Promise<Row | undefined> =>
      write(root, 'record_bank_recall', {
        ...{ reference: under, originalReference: original, content: { ...place, amount } },
      });
    const before = await funds(root);
    for (let i = 0; i < 2; i++) expect(await recall(70n)).toBeUndefined();
    expect(await refusal(recall(71n))).toBe(conflict);
    expect(await refusal(recall(101n, reference()))).toBe(tooMuch);
    expect(await funds(root)).toEqual(before);
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({ available: '10', pending: '30' });
    expect(await broken()).toEqual([]);
  });

  /** A transfer of 100 that a bank says was received, and what else the bank says of it. */
  const transfer = async () => {
    const root = await payee(10n);
    const [address] = await root.money.addressOf(root.id);
    const place = { toAccountId: root.id, toAddressId: address!.id as string, amount: 100n, currency: 'USD' };
    const content = { ...place, fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null };
    const original = reference();
    const notice = (event: string) => write(root, 'record_bank_notice', { reference: original, event, content });
    return { root, notice, paid: { id: (await notice('received')).deposit_id } as Row };
  };

  it('beyond a deposit that is reversed before its dispute is won, is taken from a refund that fails', async () => {
    for (const wins of ['before', 'after'] as const) {
      const { root, notice, paid } = await transfer();
      const [one, two] = [await refundOf(root, paid, 25n), await refundOf(root, paid, 15n)];
      const dispute = (await open(root, paid, reference(), 100n))!;
      await notice('reversed');
      expect(await kept(root)).toMatchObject([{ amount: '-40', covered: '0', reason: 'beyond_deposit' }]);
      await end(root, two, 'succeeded');
      if (wins === 'after') await end(root, one, 'failed');
      await decide(root, dispute, 'won');
      if (wins === 'before') await end(root, one, 'failed');
      // The bank has all of it. What the refund has paid out is lost: the operator says who bears it.
      const rows = await kept(root);
      expect(rows).toMatchObject([{ amount: '-40', covered: '25', status: 'open' }]);
      expect(await funds(root)).toEqual({ available: '10' });
      expect(await outside(root)).toEqual({ dispute: 100, unexplained: -15 });
      const row = await keptOne(root);
      expect(row.decision).toBeNull();
      const resolution = { id: row.id, resolution: 'Borne by us', resolvedBy: 'Mira' };
      expect(await write(root, 'resolve_unexplained', resolution)).toMatchObject({ status: 'resolved' });
      expect(await broken()).toEqual([]);
    }
  });

  it('in another currency is no part of what a later reversal of the bank takes', async () => {
    const { root, notice, paid } = await transfer();
    const refund = await refundOf(root, paid, 40n);
    await open(root, paid, reference(), 4_000n, { currency: 'EUR' });
    await notice('reversed');
    const foreign = { amount: '-4000', covered: '0', currency: 'EUR', reason: 'recorded', status: 'open' };
    const beyond = { amount: '-40', currency: 'USD', reason: 'beyond_deposit' };
    expect(await kept(root)).toMatchObject([foreign, { ...beyond, covered: '0', status: 'open' }]);
    await end(root, refund, 'failed');
    expect(await kept(root)).toMatchObject([foreign, { ...beyond, covered: '40', status: 'resolved' }]);
    expect([await funds(root), await broken()]).toEqual([{ available: '10' }, []]);
  });

  it('is not what a later reversal of the bank has taken, once its dispute is won', async () => {
    const { root, notice, paid } = await transfer();
    const refund = await refundOf(root, paid);
    await open(root, paid, reference(), 100n);
    await decideKept(root, await keptOne(root), 'won');
    await notice('reversed');
    expect(await kept(root)).toMatchObject([
      { amount: '-100', reason: 'recorded', status: 'resolved' },
      { amount: '-100', covered: '0', reason: 'beyond_deposit', status: 'open' },
    ]);
    await end(root, refund, 'failed');
    expect(await kept(root)).toMatchObject([{ covered: '0' }, { covered: '100', status: 'resolved' }]);
    expect([await funds(root), await broken()]).toEqual([{ available: '10' }, []]);
  });

  it('in another currency is never taken from what a refund gives back', async () => {
    const root = await payee(100n);
    const paid = await first(root);
    expect(await open(root, paid, reference(), 4_000n, { currency: 'EUR' })).toBeUndefined();
    const refund = await refundOf(root, paid, 40n);
    await end(root, refund, 'failed');
    expect(await funds(root)).toEqual({ available: '100' });
    expect(await kept(root)).toMatchObject([{ amount: '-4000', covered: '0', currency: 'EUR', status: 'open' }]);
    expect(await broken()).toEqual([]);
  });
});

describe('a chargeback of a checkout', () => {
  let payer: string | undefined;
  const checkout = async (): Promise<Row> => {
    const fromAccountId = (payer ??= (await makeAccount(fixture, merchant)).id as string);
    const { id } = await seller.receivable(100n, { currency: 'INR' });
    return write(merchant, 'create_checkout', {
      ...{ amount: 100n, grossAmount: 103n, currency: 'INR', fromAccountId, toAccountId: merchant.id },
      ...{ paymentMethods: ['cards'], receivableIds: [id], redirectUrl: 'https://shop.example/', seconds: 600 },
    });
  };
  const begin = ({ id }: Row): Promise<Row> =>
    write(merchant, 'begin_transaction', {
      ...{ checkoutId: id, attemptKey: reference(), paymentMethod: 'card', seconds: 300 },
      details: { cards: { last4: '4242' } },
    });
  const settle = ({ id }: Row, status: string, reason: string | null = null) =>
    call('settle_transaction', merchant.tenantId, false, '{}', id, status, reason);
  /** A paid attempt, of which the acquirer says that it took so much. */
  const paid = async (taken: bigint): Promise<Row> => {
    const begun = await begin(await checkout());
    await write(merchant, 'decide_transaction', { id: begun.id, status: 'succeeded', amount: taken, currency: 'INR' });
    await settle(begun, 'succeeded');
    await world.sql`delete from job where subject_id = ${begun.id}`;
    return stored('transaction', merchant, begun.id);
  };
  const balance = () => seller.balance(merchant.id, 'INR');
  const refunded = (id: string, amount?: bigint) => write(merchant, 'create_refund', { depositId: id, amount });
  const beyond = async (debit: string) => {
    const [row] = await world.sql<Row[]>`select amount, covered, reason, status from unexplained
      where deposit_id = ${debit}`;
    return row;
  };

  const beyondCameBack = async (debit: string) => {
    const [row] = await world.sql<Row[]>`
      select sum(c.amount) filter (where c.contra = 'unexplained')::text as amount
      from unexplained u
      join posting p on (p.tenant_id, p.cause, p.kind) = (u.tenant_id, u.id, 'dispute_won')
      join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
      where u.deposit_id = ${debit}`;
    return row!.amount as string;
  };

  of('dispute_attempt', () => {
    const dispute = (attempt: Row, of_: string, more: object = {}): Promise<Row> =>
      write(merchant, 'dispute_attempt', { id: attempt.id, reference: of_, reasonCode: 'high_risk', ...more });
    const taken = 'state_conflict attempt.status';

    it('keeps what was taken back of an attempt in another currency, and moves no balance', async () => {
      const begun = await begin(await checkout());
      expect(await refusal(dispute(begun, reference()))).toBe(taken);
      const said = { id: begun.id, status: 'succeeded', amount: 40n, currency: 'USD' };
      await write(merchant, 'decide_transaction', said);
      const before = await balance();
      const of_ = reference();
      // Before and after what it took is carried out.
      const row = await dispute(begun, of_, { acquirerReason: '10.4' });
      await settle(begun, 'succeeded');
      await world.sql`delete from job where subject_id = ${begun.id}`;
      expect(row).toMatchObject({
        ...{ transaction_id: begun.id, deposit_id: null, amount: '-40', currency: 'USD', covered: '0' },
        ...{ reason: 'recorded', status: 'open', reference: of_, note: 'Chargeback, high_risk: 10.4' },
      });
      expect(await posted(row)).toEqual([
        { contra: 'dispute', amount: '40' },
        { contra: 'unexplained', amount: '-40' },
      ]);
      expect(await dispute(begun, of_, { amount: 40n, currency: 'USD' })).toEqual(row);
      expect(await refusal(dispute(begun, of_, { amount: 39n }))).toBe(conflict);
      expect(await refusal(dispute(begun, of_, { currency: 'INR' }))).toBe(conflict);
      for (const amount of [0n, 41n])
        expect(await refusal(dispute(begun, reference(), { amount }))).toBe('amount_exceeds_deposit attempt.amount');
      const disputed = await paid(103n);
      const other = reference();
      await open(merchant, { id: disputed.deposit_id }, other, 10n);
      expect(await refusal(dispute(begun, other))).toBe(conflict);
      expect(await refusal(open(merchant, { id: disputed.deposit_id }, of_, 10n))).toBe(conflict);
      expect(await refusal(dispute(disputed, reference()))).toBe(taken);
      expect(await refusal(dispute({ id: 'transaction_0' } as Row, reference()))).toBe(taken);
      await decide(merchant, await stored('dispute', merchant, disputed.deposit_id, 'deposit_id'), 'won');
      const last = await decideKept(merchant, row, 'won');
      expect(last).toMatchObject({ decision: 'won', status: 'resolved', resolution: wonText });
      expect(await decideKept(merchant, row, 'won')).toEqual(last);
      expect(await cameBack(row)).toEqual([
        { contra: 'dispute', amount: '-40' },
        { contra: 'unexplained', amount: '40' },
      ]);
      // Another one is lost, and moves nothing.
      const second = await dispute(begun, reference(), { amount: 15n });
      expect(await decideKept(merchant, second, 'lost')).toMatchObject({ decision: 'lost', status: 'open' });
      expect(await cameBack(second)).toEqual([]);
      expect(await seller.balance(merchant.id, 'USD')).toEqual({});
      const { available } = await balance();
      expect(Number(available) - Number(before.available ?? 0)).toBe(90);
      expect(await broken()).toEqual([]);
    });
  });

  it('with its fee takes the deposit, and the rest is unexplained until it is won', async () => {
    const before = await balance();
    const { deposit_id: id } = await paid(103n);
    const dispute = (await open(merchant, { id }, reference(), 103n))!;
    expect(dispute).toMatchObject({ amount: '100' });
    expect(await balance()).toEqual(before);
    const fee = { amount: '-3', covered: '0', reason: 'beyond_deposit', status: 'open' };
    expect(await beyond(dispute.debit_deposit_id)).toEqual(fee);
    await decide(merchant, dispute, 'won');
    expect(await stored('deposit', merchant, id)).toMatchObject({ disputed: '0', pending_rest: '100' });
    expect(await beyond(dispute.debit_deposit_id)).toEqual({ ...fee, status: 'resolved' });
    expect(await beyondCameBack(dispute.debit_deposit_id)).toBe('3');
    // A refund of the won money that fails gives it back to the account: the fee has come back.
    const refund = await refunded(id, 40n);
    await write(merchant, 'move_refund', { id: refund.id, to: 'failed' });
    expect(await stored('deposit', merchant, id)).toMatchObject({ disputed: '0', pending_rest: '100' });
    expect(await beyond(dispute.debit_deposit_id)).toEqual({ ...fee, status: 'resolved' });
    expect(await broken()).toEqual([]);
  });

  it('with its fee after a refund takes what the refund gives back, and no more', async () => {
    const { deposit_id: id } = await paid(103n);
    const refund = await refunded(id, 40n);
    const before = await balance();
    const dispute = (await open(merchant, { id }, reference(), 103n))!;
    expect(dispute).toMatchObject({ amount: '60' });
    await write(merchant, 'move_refund', { id: refund.id, to: 'failed' });
    const rest = { amount: '-43', covered: '40', reason: 'beyond_deposit', status: 'open' };
    expect(await beyond(dispute.debit_deposit_id)).toEqual(rest);
    expect(await stored('deposit', merchant, id)).toMatchObject({ disputed: '100', pending_rest: '0' });
    await decide(merchant, dispute, 'won');
    expect(await stored('deposit', merchant, id)).toMatchObject({ disputed: '0', pending_rest: '100' });
    const again = await refunded(id, 20n);
    await write(merchant, 'move_refund', { id: again.id, to: 'failed' });
    expect(await beyond(dispute.debit_deposit_id)).toEqual({ ...rest, status: 'resolved' });
    expect(await beyondCameBack(dispute.debit_deposit_id)).toBe('3');
    expect(await stored('deposit', merchant, id)).toMatchObject({ disputed: '0', pending_rest: '100' });
    expect(Number((await balance()).available ?? 0)).toBe(Number(before.available) - 60);
    expect(await broken()).toEqual([]);
  });

  it('of an overpayment takes up to what was paid', async () => {
    const { deposit_id: id } = await paid(150n);
    expect(await refusal(open(merchant, { id }, reference(), 151n))).toBe(tooMuch);
    const dispute = (await open(merchant, { id }, reference(), 150n))!;
    expect(dispute).toMatchObject({ amount: '100' });
    expect(await beyond(dispute.debit_deposit_id)).toMatchObject({ amount: '-50' });
    await decide(merchant, dispute, 'won');
    await refunded(id);
    const second = reference();
    expect(await open(merchant, { id }, second, 150n)).toBeUndefined();
    expect(await refusal(open(merchant, { id }, reference(), 151n))).toBe(tooMuch);
    expect(await broken()).toEqual([]);
  });

  it('breaks a rule when more is unexplained than was paid or taken', async () => {
    const rule = { rule: 'unexplained money is more than was paid' };
    const root = await payee(100n);
    const whole = await first(root);
    await end(root, await refundOf(root, whole), 'succeeded');
    const byHand = (place: Place, id: string, amount: bigint) =>
      write(place, 'record_unexplained', { depositId: id, amount, reference: reference(), note: 'By hand' });
    const { deposit_id: over } = await paid(150n);
    await refunded(over);
    const other = await begin(await checkout());
    await write(merchant, 'decide_transaction', { id: other.id, status: 'succeeded', amount: 40n, currency: 'USD' });
    await settle(other, 'succeeded');
    await world.sql`delete from job where subject_id = ${other.id}`;
    const inUsd = { id: other.id, reference: reference(), reasonCode: 'high_risk' };
    const rows: [Row, bigint][] = [
      [await byHand(root, whole.id, 100n), 101n],
      [await byHand(merchant, over, 150n), 151n],
      [await write(merchant, 'dispute_attempt', inUsd), 41n],
    ];
    expect(await broken()).toEqual([]);
    for (const [{ id }, most] of rows)
      await world.sql
        .begin(async (tx) => {
          const breaches = () => tx`select rule from violations where what = ${id} and rule = ${rule.rule}`;
          await tx`update unexplained set amount = ${String(-most)} where id = ${id}`;
          expect([most, await breaches()]).toEqual([most, [rule]]);
          // In another currency no amount is compared.
          await tx`update unexplained set currency = 'CHF' where id = ${id}`;
          expect([most, await breaches()]).toEqual([most, []]);
          throw new Error('undone');
        })
        .catch((error: Error) => expect(error.message).toBe('undone'));
  });

  it('of its second payment moves no balance', async () => {
    const made = await checkout();
    const late = await begin(made);
    await settle(late, 'failed', 'expired');
    await settle(await begin(made), 'succeeded');
    await settle(late, 'succeeded');
    await call('refund_duplicate', merchant.tenantId, false, late.id);
    await world.sql`delete from job where subject_id = ${late.id}`;
    const { deposit_id: id, reason_code: reason } = await stored('transaction', merchant, late.id);
    expect(reason).toBe('duplicate');
    const before = await balance();
    const of_ = reference();
    for (let i = 0; i < 2; i++) expect(await open(merchant, { id }, of_, 103n)).toBeUndefined();
    expect(await refusal(open(merchant, { id }, reference(), 104n))).toBe('status_invalid deposit.status');
    expect(await balance()).toEqual(before);
    expect(await broken()).toEqual([]);
    // What its refund could not send back is the operator's, beside what was taken back.
    const refund = await stored('refund', merchant, id, 'deposit_id');
    await write(merchant, 'move_refund', { id: refund.id, to: 'failed' });
    const rows = await world.sql`select sum(amount)::int as total, count(*)::int as rows from unexplained
      where deposit_id = ${id} or transaction_id = ${late.id}`;
    expect(rows).toEqual([{ total: 0, rows: 2 }]);
    expect(await broken()).toEqual([]);
  });
});
