import { beforeAll, describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { bookLines } from '../../src/operator/bank-file/booking.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { listLines } from '../../src/operator/bank-file/listing.js';
import { bankReport } from '../../src/operator/bank-file/report.js';
import { endPayout } from '../../src/operator/money/payouts.js';
import { endToEndIdOf } from '../../src/operator/payment-order/file.js';
import { createPaymentOrder } from '../../src/operator/payment-order/orders.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Entry, today } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { payOutLive } from '../support/jobs.js';
import { must, nickname, payoutAddress, Speaker, useWorld } from '../support/world.js';
import { banksIn, type Receiver } from './bank-fixture.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const { ask, data } = operatorIn(world);
const { receiver, received, recordNotice } = banksIn(world);

auditLedger(world);

const fields = `id status payouts total currency valueDate createdBy decidedBy sentBy note`;
const addAccount = mutation('addOwnAccount', 'AddOwnAccountInput', 'ownAccount { id currency iban number }');
const create = mutation('createPaymentOrder', 'CreatePaymentOrderInput', `order { ${fields} }`);
const approve = mutation('approvePaymentOrder', 'ApprovePaymentOrderInput', `order { ${fields} }`);
const reject = mutation('rejectPaymentOrder', 'RejectPaymentOrderInput', `order { ${fields} }`);
const send = mutation('sendPaymentOrder', 'SendPaymentOrderInput', `order { ${fields} }`);

/** A named operator, and what they ask. */
async function named() {
  const { operator, key } = await createOperator(world.operator, nickname(), 'operate', 'a test');
  const speaker = new Speaker(world, '', key, 1);
  const by = (query: string, input: object) => speaker.post('/operator/graphql', { query, variables: { input } });
  return { name: operator.name, id: operator.id, by, speaker };
}
let [ann, ben, cleo]: Awaited<ReturnType<typeof named>>[] = [];

let accounts = 0;
/** An account of the operator; only the payouts of one test have its currency at a time. */
const account = async (currency = 'INR'): Promise<string> =>
  (
    await data(
      ann!.by(addAccount, {
        holder: 'Tidegate & Söhne',
        currency,
        number: `50 1000-${++accounts}`,
        ifsc: 'hdfc0000123',
      }),
    )
  ).addOwnAccount.ownAccount.id;

/** A user whose amount is on its way to its bank account, in INR; the payout's id. */
async function paid(amount: string, to?: Receiver): Promise<{ to: Receiver; id: string }> {
  const user = to ?? (await receiver(2));
  if (!to) await payoutAddress(user.live);
  const { deposit } = await recordNotice(received(user, { amount: BigInt(amount.replace('.', '')) }));
  const receivable = await must(user.live.post('/v1/receivables', receivableBody({ amount, currency: 'INR' })));
  await must(user.live.post(`/v1/deposits/${deposit!.id}/reconcile`, { receivables: [{ id: receivable.id, amount }] }));
  await payOutLive(user.live);
  const { data: payouts } = await must(user.live.get('/v1/payouts'));
  return { to: user, id: payouts[0].id };
}
const payoutOf = async ({ to, id }: Awaited<ReturnType<typeof paid>>): Promise<Json> =>
  must(to.live.get(`/v1/payouts/${id}`));

/** An order of all payouts that wait, at some step of its way. */
async function order(step: 'proposed' | 'approved' | 'sent' = 'proposed'): Promise<Json> {
  const input = { ownAccountId: await account(), valueDate: '2026-12-01' };
  let made = (await data(ann!.by(create, input))).createPaymentOrder.order;
  if (step !== 'proposed') made = (await data(ben!.by(approve, { id: made.id }))).approvePaymentOrder.order;
  if (step === 'sent') made = (await data(ann!.by(send, { id: made.id }))).sendPaymentOrder.order;
  return made;
}
const fileOf = (id: string, format = 'pain.001') =>
  cleo!.speaker.get(`/operator/payment-orders/${id}/${format}`) as Promise<{
    status: number;
    text: string;
    codes: string[];
  }>;

/** Imports a file of the bank; returns what has become of its lines. */
async function answered(entries: Entry[]): Promise<Json[]> {
  const text = camt([{ account: 'POOL-INR', currency: 'INR', opening: '1000.00', closing: '1000.00', entries }]);
  const given = { name: 'answer.xml', open: () => bytesOf(text), mapping: undefined };
  const { file } = await storeBankFile(world.operator, given, 'anna');
  await bookLines(world.operator, file.id);
  return (await listLines(world.operator, { fileId: file.id })).nodes;
}
const fates = (lines: Json[]) => lines.map(({ state, reason }) => reason ?? state);

beforeAll(async () => {
  [ann, ben, cleo] = [await named(), await named(), await named()];
});

describe('an account of the operator', () => {
  it('is kept as banks write it, and refused where no file could name it', async () => {
    const { ownAccount } = (
      await data(
        ask(addAccount, { input: { holder: 'Tidegate', currency: 'EUR', iban: 'de89 3704 0044 0532 0130 00' } }),
      )
    ).addOwnAccount;
    expect(ownAccount).toMatchObject({ iban: 'DE89370400440532013000', number: null });
    const refused = async (more: object) =>
      (await ask(addAccount, { input: { holder: 'Tidegate', currency: 'EUR', ...more } })).body.errors[0].extensions
        .argumentPath;
    expect(await refused({ iban: 'DE88370400440532013000' })).toEqual(['input', 'iban']);
    expect(await refused({})).toEqual(['input', 'iban']);
    expect(await refused({ iban: 'DE89370400440532013000', number: '1' })).toEqual(['input', 'iban']);
    expect(await refused({ number: '1'.repeat(35) })).toEqual(['input', 'number']);
    expect(await refused({ number: '1', bic: 'HDFC' })).toEqual(['input', 'bic']);
    expect(await refused({ number: '1', ifsc: 'HDFC1000123' })).toEqual(['input', 'ifsc']);
    expect(await refused({ number: '1', holder: ' ' })).toEqual(['input', 'holder']);
  });
});

describe('a payment order', () => {
  it('is proposed, approved by another named operator, written as a file, sent, and answered by the bank', async () => {
    const [one, other] = [await paid('60.00'), await paid('1234.50')];
    const made = await order();
    expect(made).toMatchObject({ status: 'PROPOSED', payouts: 2, total: '1294.50', currency: 'INR' });
    expect((await fileOf(made.id)).codes).toEqual(['status_invalid']);
    for (const by of [ann!.by, (query: string, input: object) => ask(query, { input })])
      expect((await by(approve, { id: made.id })).codes).toEqual(['permission_denied']);
    // A payout that may be in a file cannot fail meanwhile: its money would go out twice.
    const ended = (to: 'completed' | 'failed') => endPayout(world.operator, one.id, to);
    for (const to of ['completed', 'failed'] as const)
      await expect(ended(to)).rejects.toMatchObject({ problems: [{ code: 'state_conflict' }] });
    await data(ben!.by(approve, { id: made.id }));
    await expect(ended('failed')).rejects.toMatchObject({ problems: [{ code: 'state_conflict' }] });

    const { text } = await fileOf(made.id);
    expect(text).toContain('<NbOfTxs>2</NbOfTxs><CtrlSum>1294.50</CtrlSum>');
    expect(text).toContain('<Nm>Tidegate &amp; Söhne</Nm>');
    expect(text).toContain('<Othr><Id>5010001</Id></Othr>'.replace('5010001', `501000${accounts}`));
    expect(text).toContain('<ClrSysId><Cd>INFSC</Cd></ClrSysId><MmbId>HDFC0000123</MmbId>');
    expect(text).toContain(
      `<PmtId><EndToEndId>${endToEndIdOf(one)}</EndToEndId></PmtId><Amt><InstdAmt Ccy="INR">60.00</InstdAmt></Amt>`,
    );
    expect(text).toContain('<MmbId>BOTC0000451</MmbId>');
    expect(text).toContain('<Id><Othr><Id>004501551234</Id></Othr></Id>');
    expect((await fileOf(made.id)).text).toBe(text);
    const csv = (await fileOf(made.id, 'csv')).text.split('\r\n');
    expect(csv[0]).toMatch(/^reference,amount,currency,value_date,payee,account,bank_code/);
    expect(csv.filter((row) => row.startsWith(`${endToEndIdOf(other)},1234.50,INR,2026-12-01,`))).toHaveLength(1);
    expect(csv).toHaveLength(4);
    expect((await fileOf(made.id, 'pdf')).codes).toEqual(['parameter_invalid']);

    await data(ann!.by(send, { id: made.id }));
    const lines = await answered([
      { amount: '60.00', reference: 'UTR-A1', endToEndId: endToEndIdOf(one), direction: 'DBIT' },
      { amount: '1234.50', reference: 'UTR-A2', endToEndId: endToEndIdOf(other).toUpperCase(), direction: 'DBIT' },
      { amount: '1234.50', reference: 'UTR-A3', endToEndId: endToEndIdOf(other), direction: 'CRDT', isReversal: true },
    ]);
    expect(fates(lines)).toEqual(['booked', 'booked', 'booked']);
    expect(lines.map(({ payoutId }) => payoutId)).toEqual([one.id, other.id, other.id]);
    expect(await payoutOf(one)).toMatchObject({ status: 'completed', bank_reference: 'UTR-A1' });
    expect(await payoutOf(other)).toMatchObject({ status: 'returned', reason_code: 'bank_rejected' });
    expect((await must(other.to.live.get('/v1/balance'))).available).toEqual([{ amount: '1234.50', currency: 'INR' }]);
    const [report] = (await bankReport(world.operator, today)).filter((row) => row.account === 'POOLINR');
    expect(report).toMatchObject({ ledger: -6_000n, lines: -6_000n, difference: 6_000n, unmatched: 0n });
    // The same answers in another file change nothing.
    const again = await answered([
      { amount: '60.00', reference: 'UTR-A1', endToEndId: endToEndIdOf(one), direction: 'DBIT' },
      { amount: '60.00', reference: 'OTHER-1', endToEndId: endToEndIdOf(one), direction: 'DBIT' },
    ]);
    expect(fates(again)).toEqual(['seen_before', 'repeated']);
  });

  it('has each payout once, also when several gather at once', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => paid('10.00')));
    const froms = await Promise.all(Array.from({ length: 3 }, () => account()));
    const outcomes = await Promise.allSettled(
      froms.map((ownAccountId) =>
        createPaymentOrder(world.operator, { ownAccountId, valueDate: '2026-12-02' }, { id: null, name: 'cron' }),
      ),
    );
    const orders = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(orders.reduce((sum, { payouts }) => sum + payouts!, 0)).toBe(5);
    const rows = await world.sql`select order_id from payout where id = any(${made.map(({ id }) => id)})`;
    expect(rows.every(({ order_id: id }) => orders.some((each) => each.id === id))).toBe(true);
    for (const { id } of orders) await data(ask(reject, { input: { id, reason: 'A test' } }));
    const left = await world.sql`select from payout where status = 'processing' and order_id is not null`;
    expect(left).toEqual([]);
    // They are in the next one.
    const from = { ownAccountId: await account(), valueDate: '2026-12-03' };
    const actor = { id: null, name: 'cron' };
    const some = await createPaymentOrder(world.operator, from, actor, 2);
    expect([some.status, some.payouts]).toEqual(['proposed', 2]);
    await data(ask(reject, { input: { id: some.id, reason: 'A test' } }));
    const whole = await createPaymentOrder(world.operator, from, actor);
    expect([whole.status, whole.payouts]).toEqual(['proposed', 5]);
    await expect(createPaymentOrder(world.operator, from, actor)).rejects.toThrow(/nothing to pay/);
    // What an interrupted one had is given back by the next.
    await world.sql`update payment_order set status = 'gathering' where id = ${whole.id}`;
    expect(await createPaymentOrder(world.operator, from, actor)).toMatchObject({ status: 'proposed', payouts: 5 });
    const [{ id: last }] = (await data(ask('{ paymentOrders(status: PROPOSED) { nodes { id } } }'))).paymentOrders
      .nodes;
    await data(ask(reject, { input: { id: last, reason: 'A test' } }));
  });

  it('is rejected after its approval by a third person alone, and then its payouts can be in others', async () => {
    const made = await order('sent');
    for (const by of [ann!, ben!])
      expect((await by.by(reject, { id: made.id, reason: 'The bank refused the file' })).codes).toEqual([
        'permission_denied',
      ]);
    const { order: rejected } = (await data(cleo!.by(reject, { id: made.id, reason: 'The bank refused the file' })))
      .rejectPaymentOrder;
    expect(rejected).toMatchObject({ status: 'REJECTED', note: 'The bank refused the file', decidedBy: cleo!.name });
    const next = await order();
    expect(next.payouts).toBe(made.payouts);
    await data(ann!.by(reject, { id: next.id, reason: 'A test' }));
  });

  it('is answered by what the bank says alone: never by a payer, another amount or another currency', async () => {
    const one = await paid('77.00');
    const made = await order('approved');
    const endToEndId = endToEndIdOf(one);
    const lines = await answered([
      // A payer may write any reference.
      { amount: '77.00', reference: 'P-1', endToEndId, direction: 'CRDT' },
      { amount: '76.99', reference: 'P-2', endToEndId, direction: 'DBIT' },
      { amount: '77.00', currency: 'USD', reference: 'P-3', endToEndId, direction: 'DBIT' },
      { amount: '77.00', reference: 'P-4', endToEndId: endToEndId.replace(/./, 'x'), direction: 'DBIT' },
      { amount: '77.00', reference: 'P-5', endToEndId: '0'.repeat(32), direction: 'DBIT' },
    ]);
    expect(fates(lines)).toEqual(['unknown_account', 'outgoing', 'outgoing', 'outgoing', 'outgoing']);
    expect(await payoutOf(one)).toMatchObject({ status: 'processing' });
    // Its failure, before anybody has said that the file was sent; the bank's word is enough.
    const failed = await answered([
      { amount: '77.00', reference: 'P-6', endToEndId, direction: 'CRDT', isReversal: true, returnReason: 'AC04' },
    ]);
    expect(fates(failed)).toEqual(['booked']);
    expect(await payoutOf(one)).toMatchObject({ status: 'failed', reason_code: 'account_closed' });
    // It was paid all the same: a person has to look.
    const late = await answered([{ amount: '77.00', reference: 'P-7', endToEndId, direction: 'DBIT' }]);
    expect([fates(late), late[0].note]).toEqual([['refused'], expect.any(String)]);
    await data(cleo!.by(reject, { id: made.id, reason: 'A test' }));
  });

  it('has a file of what was approved and of nothing else', async () => {
    await paid('12.00');
    const made = await order('approved');
    await world.sql`update payment_order set total = total + 1 where id = ${made.id}`;
    expect((await fileOf(made.id)).codes).toEqual(['state_conflict']);
    expect((await ann!.by(send, { id: made.id })).codes).toEqual(['state_conflict']);
    for (const unknown of ['payment_order_0', 'payment_order_%00'])
      expect((await fileOf(unknown)).codes).toEqual(['resource_missing']);
    await world.sql`update payment_order set total = total - 1 where id = ${made.id}`;
    const query = `{ paymentOrders(status: APPROVED) { nodes { id } next } ownAccounts { id holder }
      orderedPayouts(id: "${made.id}") { nodes { id amount status account { id } } next }
      operatorActions(first: 200) { nodes { operation objectId } } }`;
    const shown = await data(ask(query));
    expect(shown.paymentOrders.nodes.map(({ id }: Json) => id)).toContain(made.id);
    expect(shown.orderedPayouts.nodes).toHaveLength(made.payouts);
    expect(shown.operatorActions.nodes).toContainEqual({ operation: 'readPaymentOrder', objectId: made.id });
  });
});
