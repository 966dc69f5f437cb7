import { beforeAll, expect, it } from 'vitest';
import { makeAccount, moneyOf, type Row, useFunctions, useRoot, violations } from './fixture.js';

/* What the audit finds in checkouts, in their attempts, and in what no object of an account explains. */

const fixture = useFunctions();
const { world, call, write, stored } = fixture;
const merchant = useRoot(fixture, 'user', 2);
const seller = moneyOf(fixture, merchant);
let references = 0;
const reference = () => `CB ${++references}`;

/** A checkout of 100 that is paid by an attempt of 103, of which the acquirer took so much. */
async function paid(payer: Row, taken: bigint): Promise<Row> {
  const { id } = await seller.receivable(100n, { currency: 'INR' });
  const checkout = await write(merchant, 'create_checkout', {
    ...{ amount: 100n, grossAmount: 103n, currency: 'INR', fromAccountId: payer.id, toAccountId: merchant.id },
    ...{ paymentMethods: ['cards'], receivableIds: [id], redirectUrl: 'https://shop.example/', seconds: 600 },
  });
  const attempt = await write(merchant, 'begin_transaction', {
    ...{ checkoutId: checkout.id, attemptKey: reference(), paymentMethod: 'card', seconds: 300 },
    details: { cards: { last4: '4242' } },
  });
  const said = { id: attempt.id, status: 'succeeded', amount: taken, currency: 'INR' };
  await write(merchant, 'decide_transaction', said);
  await call('settle_transaction', merchant.tenantId, false, '{}', attempt.id, 'succeeded', null);
  await world.sql`delete from job where subject_id = ${attempt.id}`;
  return stored('transaction', merchant, attempt.id);
}

/** The ids of what the changes are made to. */
const at: Record<string, string> = {};
beforeAll(async () => {
  const payer = await makeAccount(fixture, merchant);
  const [exact, over, refunded] = [await paid(payer, 103n), await paid(payer, 150n), await paid(payer, 103n)];
  Object.assign(at, { checkout: exact.checkout_id, attempt: exact.id, over: over.id });
  await write(merchant, 'create_refund', { depositId: refunded.deposit_id });
  const opening = { id: refunded.deposit_id, reference: reference(), reasonCode: 'high_risk', amount: 100n };
  await write(merchant, 'open_dispute', opening);
  at.won = (await stored('unexplained', merchant, refunded.deposit_id, 'deposit_id')).id;
  await write(merchant, 'decide_unexplained', { id: at.won!, to: 'won' });
  // A bank has taken all of a transfer back of which a refund has paid 40.
  const [address] = await seller.addressOf(merchant.id);
  const place = { toAccountId: merchant.id, toAddressId: address!.id, amount: 100n, currency: 'INR' };
  const content = { ...place, fromAccountId: null, paymentMethod: 'domestic_credit', statementDescriptor: null };
  const original = reference();
  const notice = (event: string) => write(merchant, 'record_bank_notice', { reference: original, event, content });
  const { deposit_id: id } = await notice('received');
  await write(merchant, 'create_refund', { depositId: id, amount: 40n });
  await notice('reversed');
  at.reversed = (await stored('unexplained', merchant, id, 'deposit_id')).id;
});

const changes: [what: string, rule: string, statement: string][] = [
  [
    'a checkout to which two deposits are credited',
    'checkout is credited other than once',
    `update payment set checkout_id = :checkout
      where deposit_id = (select deposit_id from transaction where id = :over)`,
  ],
  [
    'a fee that is not what was taken beyond the checkout',
    'checkout and its fee disagree',
    'update transaction set amount = amount - 1 where id = :attempt',
  ],
  [
    'an attempt that has failed, and has paid its checkout',
    'transaction and its checkout disagree',
    "update transaction set status = 'failed', reason_code = 'declined' where id = :attempt",
  ],
  [
    'an attempt that took more than is unexplained',
    'attempt and its unexplained money disagree',
    'update transaction set taken_amount = taken_amount + 1 where id = :over',
  ],
  [
    'unexplained money that came back of a dispute that was lost',
    'unexplained money and its decision disagree',
    "update unexplained set decision = 'lost' where id = :won",
  ],
  [
    'unexplained money of a reversal that is less than its refunds',
    'refunds of a reversed deposit and its unexplained money disagree',
    'update unexplained set covered = covered + 1 where id = :reversed',
  ],
];

it('is nothing while nothing is wrong', async () => {
  expect(await violations(fixture)).toEqual([]);
});

it.each(changes)('is %s', async (_, rule, statement) => {
  const found = await world.sql
    .begin(async (tx) => {
      await tx.unsafe(statement.replaceAll(/:(\w+)/g, (_, name: string) => `'${at[name]}'`));
      const rows = await tx`select distinct rule from violations where tenant_id = ${merchant.tenantId}`;
      throw Object.assign(new Error('undone'), { rules: rows.map((row) => row.rule as string) });
    })
    .catch((error: Error & { rules?: string[] }) => error.rules ?? error.message);
  expect(found).toContain(rule);
});
