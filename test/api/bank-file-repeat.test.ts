import { describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { assignLine, bookLines, returnLine } from '../../src/operator/bank-file/booking.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { idOfLine, listLines } from '../../src/operator/bank-file/listing.js';
import { bankReport } from '../../src/operator/bank-file/report.js';
import { addOwnAccount } from '../../src/operator/payment-order/accounts.js';
import { endToEndIdOf } from '../../src/operator/payment-order/file.js';
import { approvePaymentOrder, createPaymentOrder, sendPaymentOrder } from '../../src/operator/payment-order/orders.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Statement } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { payOutLive } from '../support/jobs.js';
import { must, nickname, payoutAddress, useWorld } from '../support/world.js';
import { banksIn, pendingOf } from './bank-fixture.js';

type Json = any;

const world = useWorld({ worker: false });
const { receiver, received, recordNotice } = banksIn(world);
auditLedger(world);

let accounts = 0;
const newAccount = () => `7100${String(++accounts).padStart(4, '0')}`;

const store = (statement: Statement, more: object = {}) => {
  const text = camt([statement]);
  const given = { name: 'bank.xml', open: () => bytesOf(text), mapping: undefined, ...more };
  return storeBankFile(world.operator, given, 'Ann');
};
/** A file of one statement, stored and booked; its lines as they are then. */
async function fromBank(statement: Statement): Promise<Json[]> {
  const { file } = await store(statement);
  await bookLines(world.operator, file.id);
  return linesOf(file.id);
}
const linesOf = async (fileId: string): Promise<Json[]> => (await listLines(world.operator, { fileId })).nodes;
const fatesOf = (lines: Json[]) => lines.map(({ state, reason }) => (reason === null ? state : `${state} ${reason}`));
const differenceOf = async (day: string, account: string) =>
  (await bankReport(world.operator, day)).statements
    .filter((row) => row.account === account)
    .map(({ difference }) => difference);
const first = '2026-11-03';
const second = '2026-12-03';

describe('a reference that a bank gives again', () => {
  const entry = (day: string, amount = '500.00') => ({ amount, reference: 'RENT-42', day });

  it('on another day is another transfer, which is credited once it has its own', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    expect(
      fatesOf(await fromBank({ account, day: first, opening: '0.00', closing: '500.00', entries: [entry(first)] })),
    ).toEqual(['booked']);
    const later = { account, day: second, opening: '500.00', closing: '1000.00', entries: [entry(second)] };
    const [line] = await fromBank(later);
    expect(fatesOf([line])).toEqual(['unmatched repeated']);
    expect([await differenceOf(first, account), await differenceOf(second, account)]).toEqual([[0n], [50_000n]]);
    // Its own reference is taken, so a decision without another one credits nothing, and says so.
    const assign = (more: object) =>
      assignLine(world.operator, idOfLine(line), { addressId: to.addressId, ...more }, 'Ann');
    await expect(assign({})).rejects.toThrow('reference of its own');
    expect(fatesOf(await linesOf(line.fileId))).toEqual(['unmatched repeated']);
    expect(await pendingOf(to.live)).toEqual([{ amount: '500.00', currency: 'USD' }]);
    expect(await assign({ reference: 'RENT-42 of December' })).toMatchObject({ state: 'booked' });
    expect(await pendingOf(to.live)).toEqual([{ amount: '1000.00', currency: 'USD' }]);
    expect(await differenceOf(second, account)).toEqual([0n]);
    // Both files again, in one of the other kind, are seen before.
    const both = { account, day: second, entries: [entry(first), entry(second)] };
    expect(fatesOf(await fromBank(both))).toEqual(['seen_before', 'seen_before']);
  });

  it('on two days of one file, or twice on one day, is credited once', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    const entries = [entry(first), entry(second), entry(second)];
    const fates = fatesOf(await fromBank({ account, day: second, entries }));
    expect(fates).toEqual(['booked', 'unmatched repeated', 'unmatched repeated']);
    expect(await pendingOf(to.live)).toEqual([{ amount: '500.00', currency: 'USD' }]);
  });

  it('is that of a transfer which was recorded by hand, if their days are near', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    const today = new Date().toISOString().slice(0, 10);
    await recordNotice(received(to, { reference: 'HAND-1', amount: 50_000n }));
    const line = (day: string) => ({ account, day, entries: [{ ...entry(day), reference: 'HAND-1' }] });
    expect(fatesOf(await fromBank(line('2025-01-02')))).toEqual(['unmatched repeated']);
    expect(fatesOf(await fromBank(line(today)))).toEqual(['seen_before']);
    expect(await pendingOf(to.live)).toEqual([{ amount: '500.00', currency: 'USD' }]);
  });
});

// A statement (camt.053) often has the sum of a batch, and the notification (camt.054) its transfers.
describe('an entry that one file has as a sum and another by its transfers', () => {
  const transfers = ['10.00', '20.00', '30.00'].map((amount, i) => ({ amount, reference: `T${i + 1}` }));
  const sum = (batch?: number) => ({ amount: '60.00', reference: 'BATCH-1', day: first, batch, transfers: [] });
  const parts = { amount: '60.00', reference: 'BATCH-1', day: first, batch: 3, transfers };
  const statement = (account: string, batch?: number) => ({
    ...{ account, day: first, opening: '0.00', closing: '60.00', entries: [sum(batch)] },
  });
  const three = [10, 20, 30].map((amount) => ({ amount: `${amount}.00`, currency: 'USD' }));
  const depositsOf = async ({ live }: Json) =>
    (await must(live.get('/v1/deposits'))).data
      .map(({ amount, currency }: Json) => ({ amount, currency }))
      .toSorted((one: Json, other: Json) => Number(one.amount) - Number(other.amount));

  it('is booked by its transfers, and the sum was seen before', async () => {
    for (const batch of [3, undefined]) {
      const account = newAccount();
      const to = await receiver(1, account);
      const fates = fatesOf(await fromBank({ account, day: first, entries: [parts] }));
      expect(fates).toEqual(['booked', 'booked', 'booked']);
      expect(fatesOf(await fromBank(statement(account, batch)))).toEqual(['seen_before']);
      expect(await depositsOf(to)).toEqual(three);
      expect(await differenceOf(first, account)).toEqual([0n]);
    }
  });

  it('is booked by its transfers where its sum waits, which is assigned to nobody then', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    const [waiting] = await fromBank(statement(account, 3));
    expect(fatesOf([waiting])).toEqual(['unmatched unclear']);
    expect(await differenceOf(first, account)).toEqual([6_000n]);
    const fates = fatesOf(await fromBank({ account, day: first, entries: [parts] }));
    expect(fates).toEqual(['booked', 'booked', 'booked']);
    const assigned = assignLine(world.operator, idOfLine(waiting), { addressId: to.addressId }, 'Ann');
    await expect(assigned).rejects.toThrow('Another file has the transfers of this entry');
    expect(await depositsOf(to)).toEqual(three);
    expect(await differenceOf(first, account)).toEqual([0n]);
    await returnLine(world.operator, idOfLine(waiting), 'Its transfers are deposits', 'Ann');
    expect(await differenceOf(first, account)).toEqual([0n]);
  });

  it('waits for a person by its transfers where it is booked as a whole', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    // The bank does not say that it is a batch.
    expect(fatesOf(await fromBank(statement(account)))).toEqual(['booked']);
    const fates = fatesOf(await fromBank({ account, day: first, entries: [parts] }));
    expect(fates).toEqual(Array(3).fill('unmatched unclear'));
    expect(await depositsOf(to)).toEqual([{ amount: '60.00', currency: 'USD' }]);
  });

  it('is another one on another day, of another amount or account, or with another reference', async () => {
    const [account, other] = [newAccount(), newAccount()];
    for (const each of [account, other]) await receiver(1, each);
    await fromBank({ account, day: first, entries: [parts] });
    const of = (more: object, to = account) =>
      fromBank({ account: to, day: second, entries: [{ ...sum(), ...more }] }).then(fatesOf);
    expect(await of({ day: second })).toEqual(['booked']);
    expect(await of({ amount: '61.00' })).toEqual(['unmatched refused']);
    expect(await of({ reference: 'BATCH-2' })).toEqual(['booked']);
    expect(await of({}, other)).toEqual(['booked']);
    // The bank takes the batch back on its day, under its reference.
    const back = { ...sum(3), direction: 'DBIT' as const, isReversal: true };
    expect(fatesOf(await fromBank({ account, day: first, entries: [back] }))).toEqual(['unmatched unclear']);
  });
});

it('is compared with all statements of its day that follow one another', async () => {
  const account = newAccount();
  await receiver(1, account);
  const entry = (reference: string, amount: string) => ({ amount, reference, day: first });
  const morning = { account, day: first, opening: '10.00', closing: '50.00', entries: [entry('M', '40.00')] };
  const evening = { account, day: first, opening: '50.00', closing: '110.00', entries: [entry('E', '60.00')] };
  await fromBank(morning);
  expect(await differenceOf(first, account)).toEqual([0n]);
  await fromBank(evening);
  expect(await differenceOf(first, account)).toEqual([0n, 0n]);
  // That of the whole day is not one of them.
  await fromBank({ ...morning, closing: '110.00', entries: [entry('M', '40.00'), entry('E', '60.00')] });
  expect(await differenceOf(first, account)).toContain(0n);
  // A balance that does not move is no part of another one.
  const other = newAccount();
  await receiver(1, other);
  await fromBank({ account: other, day: first, opening: '5.00', closing: '5.00', entries: [] });
  expect(await differenceOf(first, other)).toEqual([0n]);
});

describe('a payout that a bank pays again', () => {
  it('waits for an operator, and the report shows it', async () => {
    const account = newAccount();
    const names = [nickname(), nickname()];
    const [ann, ben] = await Promise.all(
      names.map(async (name) => (await createOperator(world.operator, name, 'operate', 'a test')).operator),
    );
    const user = await receiver(2);
    await payoutAddress(user.live);
    const { deposit } = await recordNotice(received(user, { amount: 10_000n }));
    const receivable = await must(
      user.live.post('/v1/receivables', receivableBody({ amount: '100.00', currency: 'INR' })),
    );
    const receivables = [{ id: receivable.id, amount: '100.00' }];
    await must(user.live.post(`/v1/deposits/${deposit!.id}/reconcile`, { receivables }));
    await payOutLive(user.live);
    const [payout] = (await must(user.live.get('/v1/payouts'))).data;
    const own = await addOwnAccount(world.operator, { holder: 'T', currency: 'INR', number: account }, 'Ann');
    const order = await createPaymentOrder(world.operator, { ownAccountId: own.id, valueDate: '2099-12-01' }, ann!);
    await approvePaymentOrder(world.operator, order.id, ben!);
    await sendPaymentOrder(world.operator, order.id, ann!);
    const paid = (reference: string, day: string, more: object = {}) => ({
      ...{ account, currency: 'INR', day },
      entries: [
        {
          ...{ amount: '100.00', currency: 'INR', reference, day, endToEndId: endToEndIdOf(payout) },
          ...{ direction: 'DBIT' as const, ...more },
        },
      ],
    });
    const days = ['2026-11-03', '2026-11-04', '2026-11-05', '2026-11-06'] as const;
    expect(fatesOf(await fromBank({ ...paid('UTR-1', days[0]), opening: '1000.00', closing: '900.00' }))).toEqual([
      'booked',
    ]);
    const [again] = await fromBank({ ...paid('UTR-2', days[1]), opening: '900.00', closing: '800.00' });
    expect(fatesOf([again])).toEqual(['unmatched repeated']);
    expect(await Promise.all([days[0], days[1]].map((day) => differenceOf(day, account)))).toEqual([[0n], [-10_000n]]);
    // The same payment in another file is the same one.
    expect(fatesOf(await fromBank({ ...paid('UTR-1', days[0]), opening: '1000.00' }))).toEqual(['seen_before']);
    const back = { direction: undefined, isReversal: true, returnReason: 'AC04' };
    expect(fatesOf(await fromBank(paid('UTR-3', days[2], back)))).toEqual(['booked']);
    expect(fatesOf(await fromBank(paid('UTR-4', days[3])))).toEqual(['unmatched repeated']);
    expect(await returnLine(world.operator, idOfLine(again), 'The payee sent it back', 'Ann')).toMatchObject({
      state: 'returned',
    });
  });

  it('is unmatched where it came back, and no payout has its reference', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    const entry = { amount: '30.00', reference: 'RET-1', endToEndId: 'NOPAYOUT', returnReason: 'AC04', day: first };
    expect(fatesOf(await fromBank({ account, entries: [entry] }))).toEqual(['unmatched outgoing']);
    expect(await pendingOf(to.live)).toEqual([{ amount: '0.00', currency: 'USD' }]);
  });
});

describe('an import that does not end', () => {
  const entriesOf = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ amount: '10.00', reference: `GROWN-${i}`, day: first }));

  it('because its file grew meanwhile leaves nothing that keeps its lines from being booked', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    const texts = [2, 3].map((count) => camt([{ account, day: first, entries: entriesOf(count) }]));
    let reads = 0;
    const growing = { name: 'bank.xml', open: () => bytesOf(texts[Math.min(reads++, 1)]!), mapping: undefined };
    await expect(storeBankFile(world.operator, growing, 'Ann')).rejects.toThrow('has changed while it was read');
    expect(fatesOf(await fromBank({ account, day: first, entries: entriesOf(3) }))).toEqual(
      Array.from({ length: 3 }, () => 'booked'),
    );
    expect(await pendingOf(to.live)).toEqual([{ amount: '30.00', currency: 'USD' }]);
  });

  it('because its process was killed hides no line of another file, and is seen before when it goes on', async () => {
    const account = newAccount();
    const to = await receiver(1, account);
    const { file } = await store({ account, day: first, entries: entriesOf(2).map(named('KILLED')) });
    await world.sql`update bank_file set stored_at = null where id = ${file.id}`;
    const [line] = await linesOf(file.id);
    await expect(returnLine(world.operator, idOfLine(line), 'no', 'Ann')).rejects.toThrow('Import it again');
    const balances = { opening: '0.00', closing: '30.00' };
    const whole = { account, day: first, ...balances, entries: entriesOf(3).map(named('KILLED')) };
    expect(fatesOf(await fromBank(whole))).toEqual(['booked', 'booked', 'booked']);
    const again = await fromBank({ account, day: first, entries: entriesOf(2).map(named('KILLED')) });
    expect([again[0].fileId, fatesOf(again)]).toEqual([file.id, ['seen_before', 'seen_before']]);
    // Each transfer is in the report once.
    expect(await differenceOf(first, account)).toEqual([0n]);
    expect(await pendingOf(to.live)).toEqual([{ amount: '30.00', currency: 'USD' }]);
  });
  const named = (name: string) => (entry: { reference: string }) => ({
    ...entry,
    reference: entry.reference.replace('GROWN', name),
  });
});

it('is refused with an element of too many attributes before they are compared', async () => {
  const names = Array.from({ length: 50_000 }, (_, i) => `a${i}="1"`).join(' ');
  const text = camt([{ account: newAccount(), entries: [] }]).replace('<Document ', `<Document ${names} `);
  const given = { name: 'bank.xml', open: () => bytesOf(text), mapping: undefined };
  await expect(storeBankFile(world.operator, given, 'Ann')).rejects.toThrow('more than 100 attributes');
});

it('is unclear where the one transfer of an entry goes the other way', async () => {
  const account = newAccount();
  await receiver(1, account);
  const transfer = { amount: '30.00', direction: 'DBIT' as const, reference: 'WAY-1' };
  const { file } = await store({ account, entries: [{ amount: '30.00', day: first, transfers: [transfer] }] });
  expect(fatesOf(await linesOf(file.id))).toEqual(['unmatched unclear']);
});
