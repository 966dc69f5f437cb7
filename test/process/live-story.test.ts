import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { assignLine, bookLines } from '../../src/operator/bank-file/booking.js';
import { idOfLine, listLines } from '../../src/operator/bank-file/listing.js';
import { bankReport } from '../../src/operator/bank-file/report.js';
import { type Actor, approveAdjustment, proposeAdjustment } from '../../src/operator/money/adjustments.js';
import { setRate } from '../../src/operator/money/payouts.js';
import { addOwnAccount } from '../../src/operator/payment-order/accounts.js';
import { orderFile } from '../../src/operator/payment-order/file.js';
import { approvePaymentOrder, createPaymentOrder, sendPaymentOrder } from '../../src/operator/payment-order/orders.js';
import { banksIn, type Receiver } from '../api/bank-fixture.js';
import { AdapterProcess } from '../support/adapter.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Statement, today } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { booksOf, booksOfTheStory } from '../support/books.js';
import { cards, type PayeeFixture, payeesIn, submit } from '../support/checkout-fixture.js';
import { must, nickname, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';

type Json = any;

const adapter = new AdapterProcess();
const environment: Record<string, string> = {};
// The adapter comes first: the gateway and its worker get its address as settings.
beforeAll(async () => {
  await adapter.start();
  Object.assign(environment, adapter.environment);
});
const world = useWorld({ environment });
afterAll(() => adapter.stop());
auditLedger(world);

const { receiver } = banksIn(world);
let [ann, ben]: Actor[] = [];
let ownAccountId: string;
beforeAll(async () => {
  await adapter.gateway(world.origin);
  [ann, ben] = (
    await Promise.all([
      createOperator(world.operator, nickname(), 'operate', 'a test'),
      createOperator(world.operator, nickname(), 'operate', 'a test'),
    ])
  ).map(({ operator: { id, name } }) => ({ id, name }));
  const own = { holder: 'Tidegate Services', currency: 'INR', number: 'POOL-INR', ifsc: 'HDFC0000123' };
  ({ id: ownAccountId } = await addOwnAccount(world.operator, own, ann!.name));
});

/** Waits until a question has the answer that the matcher behind it asks for. */
const poll = (ask: () => Promise<Json>) => expect.poll(ask, { timeout: 300_000, interval: 100 });
/** Makes the worker do now what is due later. */
const hurry = (kind: string) => world.sql`update job set due = 0 where kind = ${kind} and livemode`;

/** A message of a bank, imported and booked; its lines as they are then. */
async function fromBank(statement: Statement, message: '053' | '054' = '054'): Promise<Json[]> {
  const text = camt([statement], { message });
  const given = { name: 'bank.xml', open: () => bytesOf(text), mapping: undefined };
  const { file } = await storeBankFile(world.operator, given, ann!.name);
  await bookLines(world.operator, file.id);
  return (await listLines(world.operator, { fileId: file.id })).nodes;
}

const moneyOf = async (live: Speaker): Promise<Json> => {
  const { pending, available, payout_processing, processing } = await must(live.get('/v1/balance'));
  const texts = (list: Json[]) => list.map(({ amount, currency }) => `${amount} ${currency}`).sort();
  return {
    pending: texts(pending),
    available: texts(available),
    leaving: texts([...payout_processing, ...processing]),
  };
};
const lastPayout = async (live: Speaker): Promise<Json> => (await must(live.get('/v1/payouts'))).data[0];

/** Pays all payouts that wait by a file for the bank; the references of the payments in it, with their amounts. */
async function paidByFile(valueDate: string): Promise<{ endToEndId: string; amount: string }[]> {
  const { id } = await createPaymentOrder(world.operator, { ownAccountId, valueDate }, ann!);
  await approvePaymentOrder(world.operator, id, ben!);
  let file = '';
  for await (const piece of (await orderFile(world.operator, id, 'pain.001')).content) file += piece;
  await sendPaymentOrder(world.operator, id, ann!);
  return [...file.matchAll(/<EndToEndId>(\w+)<\/EndToEndId>.*?<InstdAmt Ccy="INR">([\d.]+)</g)].map(
    ([, endToEndId, amount]) => ({ endToEndId: endToEndId!, amount: amount! }),
  );
}

/** What an operator proposes and another one approves. */
async function adjusted(accountId: string, content: { credit?: Money; debit?: Money; reason: string }): Promise<void> {
  const { id } = await proposeAdjustment(world.operator, { accountId, livemode: true, ...content }, ann!);
  await approveAdjustment(world.operator, id, ben!);
}
interface Money {
  amount: bigint;
  currency: string;
}

describe('an exporter in live mode', () => {
  let to: Receiver;
  let live: Speaker;
  const account = '778000551';

  it('receives by a file of the bank, and reconciles', async () => {
    to = await receiver(1, account);
    ({ live } = to);
    await setRate(world.operator, to.row, 'USD', 'INR', '83.25');
    const [line] = await fromBank({
      account: 'POOL-USD',
      entries: [{ amount: '1000.00', reference: 'USD-1', payee: account, payer: 'Northwind', text: 'INV-1' }],
    });
    expect(line).toMatchObject({ state: 'booked' });
    expect(await moneyOf(live)).toEqual({
      pending: ['1000.00 USD'],
      available: ['0.00 USD'],
      leaving: ['0.00 USD', '0.00 USD'],
    });
    const receivable = await must(live.post('/v1/receivables', receivableBody({ amount: '1000.00' })));
    await must(
      live.post(`/v1/deposits/${line.depositId}/reconcile`, {
        receivables: [{ id: receivable.id, amount: '1000.00' }],
      }),
    );
    expect((await moneyOf(live)).available).toEqual(['1000.00 USD']);
  });

  it('is paid out by an order for the bank, whose answer completes it', async () => {
    await must(live.post('/v1/addresses', payoutAddressBody(live.id)));
    await hurry('pay_out');
    await poll(async () => (await moneyOf(live)).leaving).toContain('83250.00 INR');
    const [payment, ...others] = await paidByFile('2099-12-01');
    expect([payment!.amount, others]).toEqual(['83250.00', []]);
    const entry = { ...payment, currency: 'INR', reference: 'UTR-1', direction: 'DBIT' as const };
    expect(await fromBank({ account: 'POOL-INR', currency: 'INR', entries: [entry] })).toMatchObject([
      { state: 'booked' },
    ]);
    expect(await lastPayout(live)).toMatchObject({ status: 'completed', bank_reference: 'UTR-1', amount: '83250.00' });
    const [invoice] = (await must(live.get('/v1/receivables'))).data;
    expect(invoice).toMatchObject({ status: 'settled' });

    // It comes back the next day.
    const back = { ...payment, currency: 'INR', reference: 'UTR-2', isReversal: true, returnReason: 'AC04' };
    expect(await fromBank({ account: 'POOL-INR', currency: 'INR', entries: [back] })).toMatchObject([
      { state: 'booked' },
    ]);
    expect(await lastPayout(live)).toMatchObject({ status: 'returned', reason_code: 'account_closed' });
    expect((await moneyOf(live)).available).toContain('83250.00 INR');
  });

  it('owes a recall, which a set-off pays, and is paid again', async () => {
    // The bank takes a part of the first receipt back, which is paid out in rupees: a debt of dollars.
    const [line] = await fromBank({
      ...{ account: 'POOL-USD', entries: [{ amount: '10.00', reference: 'RC-1', direction: 'DBIT', payee: account }] },
    });
    expect(line).toMatchObject({ state: 'unmatched', reason: 'outgoing' });
    const recalled = { addressId: to.addressId, originalReference: 'USD-1' };
    expect(await assignLine(world.operator, idOfLine(line), recalled, ann!.name)).toMatchObject({ state: 'booked' });
    expect((await moneyOf(live)).available).toEqual(['-10.00 USD', '83250.00 INR']);
    await hurry('pay_out');
    await poll(async () => (await world.sql`select reason_code from payout_block`)[0]?.reason_code).toBe(
      'balance_negative',
    );
    await adjusted(live.id, {
      credit: { amount: 1_000n, currency: 'USD' },
      debit: { amount: 83_250n, currency: 'INR' },
      reason: 'Set-off of a recall',
    });
    expect((await moneyOf(live)).available).toEqual(['0.00 USD', '82417.50 INR']);
    await hurry('pay_out');
    await poll(async () => (await moneyOf(live)).leaving).toContain('82417.50 INR');
    const [payment] = await paidByFile('2099-12-02');
    const entry = { ...payment, currency: 'INR', reference: 'UTR-3', direction: 'DBIT' as const };
    await fromBank({ account: 'POOL-INR', currency: 'INR', entries: [entry] });
    expect(await lastPayout(live)).toMatchObject({ status: 'completed', amount: '82417.50' });
  });

  it('is written off what it owes, and the banks and the ledger agree', async () => {
    const [line] = await fromBank({
      ...{ account: 'POOL-USD', entries: [{ amount: '2.50', reference: 'RC-2', direction: 'DBIT', payee: account }] },
    });
    const recalled = { addressId: to.addressId, originalReference: 'USD-1' };
    await assignLine(world.operator, idOfLine(line), recalled, ann!.name);
    expect((await moneyOf(live)).available).toContain('-2.50 USD');
    await adjusted(live.id, { credit: { amount: 250n, currency: 'USD' }, reason: 'Write-off' });
    expect((await moneyOf(live)).available).toEqual(['0.00 INR', '0.00 USD']);
    // The statements of the day repeat what the notifications said.
    for (const [account, currency, closing] of [
      ['POOL-USD', 'USD', '987.50'],
      ['POOL-INR', 'INR', '-82417.50'],
    ] as const)
      await fromBank({ account, currency, opening: '0.00', closing, entries: [] }, '053');
    const { statements: report } = await bankReport(world.operator, today);
    expect(report.map(({ account, difference }) => [account, difference])).toEqual([
      ['POOLINR', 0n],
      ['POOLUSD', 0n],
    ]);
  });
});

describe('a merchant in live mode', () => {
  it('is paid by a card, refunds a part, and loses a chargeback', async () => {
    const payee: PayeeFixture = await payeesIn(world).open();
    const partnerId = await payee.goLive();
    const { live } = payee;
    const checkout = await payee.checkoutFixture({ speaker: live, partnerId });
    const fields = { attempt: `${randomUUID()}-card`, token: await adapter.token(cards.good.replaceAll(' ', '')) };
    expect((await submit(`${checkout.url}/card`, fields)).status).toBe(303);
    await poll(async () => (await must(live.get(`/v1/checkouts/${checkout.id}`))).status).toBe('completed');
    const [deposit] = (await must(live.get('/v1/deposits'))).data;
    expect(deposit).toMatchObject({ amount: '1000.00', status: 'completed' });
    expect((await moneyOf(live)).available).toEqual(['1000.00 INR']);

    const refund = await must(live.post('/v1/refunds', { deposit_id: deposit.id, amount: '100.00' }));
    expect(await moneyOf(live)).toMatchObject({
      available: ['900.00 INR'],
      leaving: expect.arrayContaining(['100.00 INR']),
    });
    await poll(() => adapter.look(`refunds/${refund.id}`)).toEqual({ status: 'pending' });
    await adapter.decideRefund(refund.id, { state: 'paid', reference: 'ARN 1' });
    await poll(async () => (await must(live.get(`/v1/refunds/${refund.id}`))).status).toBe('succeeded');

    const [{ id: payment }] = (await payee.attempts(checkout)) as [{ id: string }];
    const taken = { available: ['600.00 INR'], leaving: ['0.00 INR', '0.00 INR'] };
    const dispute = async () => (await must(live.get('/v1/disputes'))).data[0];
    await adapter.contest('CB-1', { payment, amount: '300.00', currency: 'INR', reason: 'not received' });
    await poll(dispute).toMatchObject({ status: 'needs_response', amount: '300.00', reference: 'CB-1' });
    expect(await moneyOf(live)).toMatchObject(taken);
    const { id, debit_deposit_id: debit } = await dispute();
    await must(live.post(`/v1/disputes/${id}/respond`, { text: 'Delivered on Monday.' }));
    await adapter.contest('CB-1', { state: 'lost' });
    await poll(dispute).toMatchObject({ id, status: 'lost', decided_at: expect.any(Number) });
    // The payer keeps the money: nothing moves.
    expect(await moneyOf(live)).toMatchObject(taken);
    expect(await must(live.get(`/v1/deposits/${debit}`))).toMatchObject({ amount: '-300.00', status: 'completed' });
    const [invoice] = (await must(live.get('/v1/receivables'))).data;
    expect(invoice).toMatchObject({ amount_locked: '600.00' });
  });
});

it('leaves each compartment of all accounts, and the world outside, with what the story gives and takes', async () => {
  expect(await booksOf(world)).toEqual(booksOfTheStory);
});
