import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { assignLine, bookLines } from '../../src/operator/bank-file/booking.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { idOfLine, listLines } from '../../src/operator/bank-file/listing.js';
import type { CsvMapping } from '../../src/operator/bank-file/table.js';
import { bankReport } from '../../src/operator/bank-file/report.js';
import { endPayout } from '../../src/operator/money/payouts.js';
import { endToEndIdOf } from '../../src/operator/payment-order/file.js';
import { createPaymentOrder } from '../../src/operator/payment-order/orders.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Entry, schemaFaults, today } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { payOutLive } from '../support/jobs.js';
import { must, nickname, payoutAddressBody, Speaker, statementsWaiting, useWorld } from '../support/world.js';
import { banksIn, type Receiver } from './bank-fixture.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const { ask, data } = operatorIn(world);
const { receiver, received, recordNotice } = banksIn(world);

auditLedger(world);

const fields = `id status payouts total currency valueDate createdBy decidedBy sentBy note approvalsLeft
  leftOut { id reason }`;
const addAccount = mutation('addOwnAccount', 'AddOwnAccountInput', 'ownAccount { id currency iban number }');
const closeAccount = mutation('closeOwnAccount', 'CloseOwnAccountInput', 'ownAccount { id number closedAt }');
const create = mutation('createPaymentOrder', 'CreatePaymentOrderInput', `order { ${fields} }`);
const approve = mutation('approvePaymentOrder', 'ApprovePaymentOrderInput', `order { ${fields} }`);
const reject = mutation('rejectPaymentOrder', 'RejectPaymentOrderInput', `order { ${fields} }`);
const send = mutation('sendPaymentOrder', 'SendPaymentOrderInput', `order { ${fields} }`);

/** A named operator, and what they ask. */
async function named(role: 'read' | 'operate' = 'operate') {
  const { operator, key } = await createOperator(world.operator, nickname(), role, 'a test');
  const speaker = new Speaker(world, '', key, 1);
  const by = (query: string, input: object, headers: Record<string, string> = {}) =>
    speaker.post('/operator/graphql', { query, variables: { input } }, headers);
  return { name: operator.name, id: operator.id, by, speaker };
}
/** What an operator asks another gateway. */
const at = (origin: string, { speaker }: Awaited<ReturnType<typeof named>>) => {
  const there = speaker.at(origin);
  return (query: string, input: object) => there.post('/operator/graphql', { query, variables: { input } });
};
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

/** A user whose amount is on its way to its bank account, in INR; the payout's id. `bank` changes the account. */
async function paid(amount: string, to?: Receiver, bank: object = {}): Promise<{ to: Receiver; id: string }> {
  const user = to ?? (await receiver(2));
  if (!to) {
    const body = payoutAddressBody(user.live.id);
    await must(user.live.post('/v1/addresses', { ...body, bank_account: { ...body.bank_account, ...bank } }));
  }
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
  const input = { ownAccountId: await account(), valueDate: '2099-12-01' };
  let made = (await data(ann!.by(create, input))).createPaymentOrder.order;
  if (step !== 'proposed') made = (await data(ben!.by(approve, { id: made.id }))).approvePaymentOrder.order;
  if (step === 'sent') made = (await data(ann!.by(send, { id: made.id }))).sendPaymentOrder.order;
  return made;
}
async function fileOf(id: string, format = 'pain.001'): Promise<{ status: number; text: string; codes: string[] }> {
  const file = await cleo!.speaker.get(`/operator/payment-orders/${id}/${format}`);
  if (format === 'pain.001' && file.status === 200)
    expect(await schemaFaults('pain.001.001.09', file.text)).toEqual([]);
  return file;
}

/** The account that was added last, as a bank writes it. */
const lastAccount = () => `501000${accounts}`;

/** Imports a file of the bank, and books it after what happens meanwhile; returns what has become of its lines. */
async function answered(
  entries: Entry[],
  meanwhile?: () => Promise<unknown>,
  of: string | undefined = lastAccount(),
): Promise<Json[]> {
  const text = camt([{ account: of, currency: 'INR', opening: '1000.00', closing: '1000.00', entries }]);
  const given = { name: 'answer.xml', open: () => bytesOf(text), mapping: undefined };
  const { file } = await storeBankFile(world.operator, given, 'anna');
  await meanwhile?.();
  await bookLines(world.operator, file.id);
  return (await listLines(world.operator, { fileId: file.id })).nodes;
}
const fates = (lines: Json[]) => lines.map(({ state, reason }) => reason ?? state);

const sumOf = (amounts: readonly string[]) =>
  amounts.reduce((sum, amount) => sum + BigInt(amount.replace('.', '')), 0n);

/** What two gateways answer that gather at once: both have read what waits before either can claim this payout. */
async function atOnce(
  { id }: { id: string },
  requests: () => [ReturnType<typeof ask>, ReturnType<typeof ask>],
): Promise<Awaited<ReturnType<typeof ask>>[]> {
  let replies: ReturnType<typeof atOnce>;
  await world.sql.begin(async (tx) => {
    await tx`select from payout where id = ${id} for update`;
    replies = Promise.all(requests());
    await statementsWaiting(world, 2);
  });
  return replies!;
}

beforeAll(async () => {
  [ann, ben, cleo] = [await named(), await named(), await named()];
});

// An order takes all payouts that wait: a test has those that it makes.
beforeEach(async () => {
  const waiting = await world.sql`select id from payout where status = 'processing' and order_id is null`;
  for (const { id } of waiting) await endPayout(world.operator, id, 'completed');
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
    // Its last four units are not whole characters.
    expect(await refused({ number: '50100😀xyz' })).toEqual(['input', 'number']);
  });

  it('is closed once, which the audit log has: no order is made from it then, and those that exist go on', async () => {
    await paid('31.00');
    const id = await account();
    const input = { ownAccountId: id, valueDate: '2099-12-01' };
    const made = (await data(ann!.by(create, input))).createPaymentOrder.order;
    const reader = await named('read');
    expect((await reader.by(closeAccount, { id })).codes).toEqual(['permission_denied']);
    const unknown = 'own_account_0';
    const missing = await ann!.by(closeAccount, { id: unknown });
    expect([missing.codes, missing.fieldNames, missing.body.errors[0].extensions.argumentPath]).toEqual([
      ...[['resource_missing'], ['own_account.id'], ['input', 'id']],
    ]);

    const { ownAccount } = (await data(ann!.by(closeAccount, { id }))).closeOwnAccount;
    expect(ownAccount).toEqual({ id, number: lastAccount(), closedAt: expect.any(String) });
    // Who closes it again learns when it was closed.
    expect((await data(ben!.by(closeAccount, { id }))).closeOwnAccount).toEqual({ ownAccount });
    const refused = await ann!.by(create, { ...input, valueDate: '2099-12-02' });
    expect([refused.codes, refused.fieldNames]).toEqual([['state_conflict'], ['own_account.id']]);
    expect((await data(ask('{ ownAccounts { id closedAt } }'))).ownAccounts).toContainEqual({
      ...{ id, closedAt: ownAccount.closedAt },
    });
    const { order: approved } = (await data(ben!.by(approve, { id: made.id }))).approvePaymentOrder;
    expect([approved.status, (await fileOf(made.id)).status]).toEqual(['APPROVED', 200]);

    const logged = async (of: string) =>
      (
        await data(
          ask(`{ operatorActions(objectId: "${of}", operation: "closeOwnAccount") {
        nodes { operator outcome code tenantId } } }`),
        )
      ).operatorActions.nodes;
    const done = { outcome: 'SUCCEEDED', code: null, tenantId: null };
    expect(await logged(id)).toEqual([
      { operator: ben!.name, ...done },
      { operator: ann!.name, ...done },
      { operator: reader.name, outcome: 'REFUSED', code: 'permission_denied', tenantId: null },
    ]);
    expect(await logged(unknown)).toEqual([
      { operator: ann!.name, outcome: 'REFUSED', code: 'resource_missing', tenantId: null },
    ]);
    await data((await named()).by(reject, { id: made.id, reason: 'A test' }));
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
    expect(csv.filter((row) => row.startsWith(`${endToEndIdOf(other)},1234.50,INR,2099-12-01,`))).toHaveLength(1);
    expect(csv).toHaveLength(4);
    expect((await fileOf(made.id, 'pdf')).codes).toEqual(['parameter_invalid']);
    // OPERATOR_KEY does not say who has the file, and who has it must not reject the order.
    const nobody = new Speaker(world, '', OPERATOR_KEY, 1);
    for (const { speaker } of [await named('read'), { speaker: nobody }])
      for (const format of ['pain.001', 'csv'])
        expect((await speaker.get(`/operator/payment-orders/${made.id}/${format}`)).codes).toEqual([
          'permission_denied',
        ]);

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
    const [report] = (await bankReport(world.operator, today)).statements.filter(
      (row) => row.account === lastAccount(),
    );
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
        createPaymentOrder(world.operator, { ownAccountId, valueDate: '2099-12-02' }, { id: null, name: 'cron' }),
      ),
    );
    const orders = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(orders.reduce((sum, { payouts }) => sum + payouts!, 0)).toBe(5);
    const rows = await world.sql`select order_id from payout where id = any(${made.map(({ id }) => id)})`;
    expect(rows.every(({ order_id: id }) => orders.some((each) => each.id === id))).toBe(true);
    for (const { id } of orders) await data(ask(reject, { input: { id, reason: 'A test' } }));
    const left = await world.sql`select from payout where id = any(${made.map(({ id }) => id)})
      and order_id is not null`;
    expect(left).toEqual([]);
    // They are in the next one.
    const from = { ownAccountId: await account(), valueDate: '2099-12-03' };
    const actor = { id: null, name: 'cron' };
    const some = await createPaymentOrder(world.operator, from, actor, 2);
    expect([some.status, some.payouts]).toEqual(['proposed', 2]);
    await data(ask(reject, { input: { id: some.id, reason: 'A test' } }));
    const whole = await createPaymentOrder(world.operator, from, actor);
    expect([whole.status, whole.payouts]).toEqual(['proposed', 5]);
    await expect(createPaymentOrder(world.operator, from, actor)).rejects.toThrow(/nothing to pay/);
    // What an interrupted one had is given back by the next.
    await world.sql`update payment_order set status = 'gathering' where id = ${whole.id}`;
    const last = await createPaymentOrder(world.operator, from, actor);
    expect(last).toMatchObject({ status: 'proposed', payouts: 5 });
    await data(ask(reject, { input: { id: last.id, reason: 'A test' } }));
  });

  it('has each payout in one file, when two gateways gather at once from two accounts', async () => {
    const made = [await paid('10.25'), await paid('20.25'), await paid('30.25')];
    for (const amount of ['40.25', '50.25', '60.25']) made.push(await paid(amount, made[0]!.to));
    const origin = await world.another();
    const [from, other] = [await account(), await account()];
    const gather = (by: ReturnType<typeof at>, ownAccountId: string) =>
      by(create, { ownAccountId, valueDate: '2099-12-04' });
    const replies = await atOnce(made[0]!, () => [gather(ann!.by, from), gather(at(origin, ben!), other)]);

    const orders = replies.flatMap(({ body }) => body.data?.createPaymentOrder?.order ?? []);
    // One that has got nothing has been rejected, and says so.
    for (const { codes } of replies.filter(({ body }) => body.errors)) expect(codes).toEqual(['state_conflict']);
    expect(orders.reduce((sum: number, { payouts }: Json) => sum + payouts, 0)).toBe(6);
    expect(sumOf(orders.map(({ total }: Json) => total))).toBe(211_50n);
    const written: string[] = [];
    for (const { id, payouts, total } of orders) {
      await data(at(origin, cleo!)(approve, { id }));
      const { text } = await fileOf(id);
      expect(text).toContain(`<NbOfTxs>${payouts}</NbOfTxs><CtrlSum>${total}</CtrlSum>`);
      const payments = [...text.matchAll(/<EndToEndId>(\w+)<\/EndToEndId>.*?<InstdAmt Ccy="INR">([\d.]+)</g)];
      expect(sumOf(payments.map(([, , amount]) => amount!))).toBe(sumOf([total]));
      written.push(...payments.map(([, reference]) => reference!));
    }
    expect(written.toSorted()).toEqual(made.map(endToEndIdOf).toSorted());
    const rejecting = await named();
    for (const { id } of orders) await data(rejecting.by(reject, { id, reason: 'A test' }));
    await world.endLast();
  });

  it('has each payout in one order, when two gateways gather at once from one account', async () => {
    const made = await Promise.all([1, 2, 3].map((n) => paid(`${n}0.75`)));
    const origin = await world.another();
    const ownAccountId = await account();
    const input = { ownAccountId, valueDate: '2099-12-05' };
    const replies = await atOnce(made[0]!, () => [ann!.by(create, input), at(origin, ben!)(create, input)]);
    // The one that was begun first is rejected for the other, and gives back what it has claimed.
    expect(replies.flatMap(({ codes }) => codes)).toEqual(expect.arrayContaining(['state_conflict']));
    const orders = replies.flatMap(({ body }) => body.data?.createPaymentOrder?.order ?? []);
    const rows = await world.sql`
      select p.order_id as id, count(*)::int as payouts, sum(p.amount)::text as total from payout p
      where p.id = any(${made.map(({ id }) => id)}) and p.order_id is not null group by 1`;
    expect(rows).toEqual(
      orders.map(({ id, payouts, total }: Json) => ({ id, payouts, total: String(sumOf([total])) })),
    );
    for (const { id } of orders) await data(ask(reject, { input: { id, reason: 'A test' } }));
    // What neither has is in the next one.
    const { order: next } = (await data(ann!.by(create, input))).createPaymentOrder;
    expect(next).toMatchObject({ status: 'PROPOSED', payouts: 3, total: '62.25' });
    await data(ask(reject, { input: { id: next.id, reason: 'A test' } }));
    await world.endLast();
  });

  it('claims nothing more once it is rejected while it is gathered', async () => {
    const made = [await paid('10.50'), await paid('20.50')].map(({ id }) => id);
    const [one, other] = await world.sql`select tenant_id as tenant, id from payout where id = any(${made})
      order by created, id`;
    // The other one comes when the first batch is read.
    await world.sql`update payout set order_id = 'payment_order_0' where id = ${other!.id}`;
    const input = { ownAccountId: await account(), valueDate: '2099-12-06' };
    await world.sql.begin(async (later) => {
      let reply: ReturnType<typeof ask>;
      await world.sql.begin(async (tx) => {
        await tx`select from payout where id = ${one!.id} for update`;
        reply = ann!.by(create, input);
        await statementsWaiting({ sql: tx }, 1);
        const [order] = await tx`select id from payment_order where status = 'gathering'`;
        await data(ben!.by(reject, { id: order!.id, reason: 'A test' }));
        const released = [other!.tenant, true, JSON.stringify([other!.id]), 'payment_order_0'];
        await world.database.call('release_payouts', released);
        await later`select from payout where id = ${other!.id} for update`;
      });
      // It would wait for the other one, and has none.
      expect((await reply!).codes).toEqual(['state_conflict']);
    });
    expect(await world.sql`select id from payout where id = any(${made}) and order_id is not null`).toEqual([]);
  });

  it('needs two named operators when OPERATOR_KEY has begun it', async () => {
    await paid('10.00');
    const input = { ownAccountId: await account(), valueDate: '2099-12-01' };
    const made = (await data(ask(create, { input }))).createPaymentOrder.order;
    expect([made.createdBy, made.approvalsLeft]).toEqual(['OPERATOR_KEY', 2]);
    const taken = (await data(ann!.by(approve, { id: made.id }))).approvePaymentOrder.order;
    expect(taken).toMatchObject({ status: 'PROPOSED', createdBy: ann!.name, decidedBy: null, approvalsLeft: 1 });
    // Her answer may have been lost: it is the same, and still one of two.
    expect((await data(ann!.by(approve, { id: made.id }))).approvePaymentOrder.order).toEqual(taken);
    expect((await fileOf(made.id)).codes).toEqual(['status_invalid']);
    const done = (await data(ben!.by(approve, { id: made.id }))).approvePaymentOrder.order;
    expect(done).toMatchObject({ status: 'APPROVED', createdBy: ann!.name, decidedBy: ben!.name, approvalsLeft: 0 });
    expect((await data(ben!.by(approve, { id: made.id }))).approvePaymentOrder.order).toEqual(done);
    expect((await ann!.by(approve, { id: made.id })).codes).toEqual(['status_invalid']);
    const entries = (await data(ask(`{ operatorActions(objectId: "${made.id}") { nodes { operation operator } } }`)))
      .operatorActions.nodes;
    for (const operator of [ann!.name, ben!.name])
      expect(entries).toContainEqual({ operation: 'approvePaymentOrder', operator });
    await data(cleo!.by(reject, { id: made.id, reason: 'A test' }));
  });

  it('is rejected after its approval by a third person alone, and then its payouts can be in others', async () => {
    await paid('10.00');
    const made = await order('sent');
    const reader = await named();
    await reader.speaker.get(`/operator/payment-orders/${made.id}/csv`);
    for (const by of [ann!, ben!, reader])
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
    expect(fates(lines)).toEqual(['unknown_account', 'other_amount', 'other_currency', 'outgoing', 'outgoing']);
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
    // The bank took back what the account had received, she finds: that is no answer to the payout.
    const { data: receipts } = await must(one.to.live.get('/v1/deposits'));
    const receipt = await must(one.to.live.get(`/v1/deposits/${receipts[0].id}/bank_details`));
    const assignment = { addressId: one.to.addressId, originalReference: receipt.reference };
    const taken = await assignLine(world.operator, idOfLine(late[0]), assignment, 'anna');
    expect(taken).toMatchObject({ state: 'booked', payoutId: null, depositId: expect.any(String) });
    expect(await payoutOf(one)).toMatchObject({ status: 'failed', reason_code: 'account_closed' });
    const { data: deposits } = await must(one.to.live.get('/v1/deposits'));
    expect(deposits.map((deposit: Json) => deposit.amount)).toEqual(['-77.00', '77.00']);
    await data(cleo!.by(reject, { id: made.id, reason: 'A test' }));
  });

  it('is answered by a CSV file, where a return has a reason: another credit waits for a person', async () => {
    const [one, two, three] = [await paid('61.00'), await paid('62.00'), await paid('63.00')];
    await order('sent');
    const mapping: CsvMapping = {
      columns: {
        ...{ reference: 'Ref', day: 'Date', amount: 'Amount', endToEndId: 'End to end', returnReason: 'Return' },
        account: 'Account',
      },
      ...{ currency: 'INR', dayFormat: 'YYYY-MM-DD', decimal: '.', delimiter: ',', headerLine: 1 },
    };
    const inCsv = async (...rows: [reference: string, amount: string, of: { id: string }, reason?: string][]) => {
      const lines = rows.map(([reference, amount, of, reason = '']) =>
        [reference, today, amount, endToEndIdOf(of), reason, lastAccount()].join(),
      );
      const text = ['Ref,Date,Amount,End to end,Return,Account', ...lines, ''].join('\n');
      const given = { name: 'answer.csv', open: () => bytesOf(text), mapping };
      const { file } = await storeBankFile(world.operator, given, 'anna');
      await bookLines(world.operator, file.id);
      return fates((await listLines(world.operator, { fileId: file.id })).nodes);
    };
    expect(await inCsv(['C-1', '-61.00', one], ['C-2', '-62.00', two])).toEqual(['booked', 'booked']);
    expect(await payoutOf(one)).toMatchObject({ status: 'completed', bank_reference: 'C-1' });
    expect(await inCsv(['C-3', '62.00', two])).toEqual(['unknown_account']);
    expect(await payoutOf(two)).toMatchObject({ status: 'completed' });
    expect(await inCsv(['C-4', '62.00', two, 'AC04'], ['C-5', '63.00', three, 'BE01'])).toEqual(['booked', 'booked']);
    expect(await payoutOf(two)).toMatchObject({ status: 'returned', reason_code: 'account_closed' });
    expect(await payoutOf(three)).toMatchObject({ status: 'failed', reason_code: 'name_mismatch' });
    expect(await inCsv(['C-4', '62.00', two, 'AC04'])).toEqual(['seen_before']);
  });

  it('is answered on the account alone from which it pays, where the file names one', async () => {
    const [one, two, three] = [await paid('71.00'), await paid('72.00'), await paid('73.00')];
    const elsewhere = `501000${accounts + 1}`;
    await account();
    const made = await order('sent');
    const line = ({ id }: { id: string }, amount: string, reference: string, more: Entry = {}): Entry => ({
      ...{ amount, reference, endToEndId: endToEndIdOf({ id }), direction: 'DBIT', ...more },
    });
    const back: Entry = { direction: 'CRDT', isReversal: true, returnReason: 'AC04' };
    for (const of of [elsewhere, 'UNKNOWN-1'])
      expect(
        fates(await answered([line(one, '71.00', `E-1${of}`), line(one, '71.00', `E-2${of}`, back)], undefined, of)),
      ).toEqual(['other_account', 'other_account']);
    expect(await payoutOf(one)).toMatchObject({ status: 'processing' });
    // The bank's own way to write the account: what it ends with, or its IBAN.
    await world.sql`update own_account set iban = 'DE89370400440532013000', number = null
      where number = ${lastAccount()}`;
    const known = [
      ['DE89370400440532013000', one, '71.00'],
      ['0532013000', two, '72.00'],
    ] as const;
    for (const [of, each, amount] of known)
      expect(fates(await answered([line(each, amount, `E-3${of}`)], undefined, of))).toEqual(['booked']);
    expect(fates(await answered([line(three, '73.00', 'E-4')], undefined, '13000'))).toEqual(['other_account']);
    // Between the reading and the booking of the file, its payout comes into the order of another account.
    const [moved] = await answered(
      [line(three, '73.00', 'E-5')],
      async () => {
        await data(cleo!.by(reject, { id: made.id, reason: 'A test' }));
        await order('sent');
      },
      'DE89370400440532013000',
    );
    expect([moved.state, moved.reason, moved.note]).toEqual([
      ...['unmatched', 'refused', expect.stringContaining('another account')],
    ]);
    expect(fates(await answered([line(three, '73.00', 'E-6')]))).toEqual(['booked']);
  });

  it('is answered once by a person and a file, also when the person is in between', async () => {
    const one = await paid('78.00');
    await order('sent');
    const of = { amount: '78.00', endToEndId: endToEndIdOf(one) };
    const sent: Entry = { ...of, reference: 'H-1', direction: 'DBIT' };
    expect(fates(await answered([sent], () => endPayout(world.operator, one.id, 'completed')))).toEqual([
      'seen_before',
    ]);
    await endPayout(world.operator, one.id, 'returned');
    const back: Entry = { ...of, reference: 'H-2', direction: 'CRDT', isReversal: true, returnReason: 'AC04' };
    expect(fates(await answered([back]))).toEqual(['seen_before']);
    expect(fates(await answered([{ ...back, reference: 'H-3' }]))).toEqual(['repeated']);
    expect(await payoutOf(one)).toMatchObject({ status: 'returned' });
  });

  it('is made once under an Idempotency-Key, and so is an account', async () => {
    const same = { 'idempotency-key': nickname() };
    const content = {
      holder: 'Tidegate',
      currency: 'INR',
      number: `KEY${nickname()}`.replaceAll(/\W/g, '').slice(0, 30),
    };
    const accountsMade = [await ann!.by(addAccount, content, same), await ben!.by(addAccount, content, same)];
    const ids = accountsMade.map(({ body }) => body.data.addOwnAccount.ownAccount.id);
    expect(new Set(ids).size).toBe(1);
    expect(accountsMade.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    const reused = await ann!.by(addAccount, { ...content, holder: 'Another' }, same);
    expect(reused.codes).toEqual(['idempotency_key_reused']);

    const key = { 'idempotency-key': nickname() };
    const input = { ownAccountId: ids[0], valueDate: '2099-12-01' };
    // Nothing waits: that is no answer to repeat.
    expect((await ann!.by(create, input, key)).codes).toEqual(['state_conflict']);
    await paid('10.00');
    const first = await data(ann!.by(create, input, key));
    await paid('20.00');
    const again = await ann!.by(create, input, key);
    expect([again.body.data, again.headers.get('idempotent-replayed')]).toEqual([first, 'true']);
    expect((await ann!.by(create, { ...input, valueDate: '2099-12-02' }, key)).codes).toEqual([
      'idempotency_key_reused',
    ]);
    const { id, total } = first.createPaymentOrder.order;
    expect(total).toBe('10.00');
    // Of calls at once, one may be rejected for another, which then finds what the first has not given back. A repeat
    // of any has the one order.
    const other = { 'idempotency-key': nickname() };
    const at = await Promise.all([1, 2, 3].map(() => ann!.by(create, input, other)));
    const orders = at.flatMap(({ body }) => body.data?.createPaymentOrder?.order.id ?? []);
    const last = (await data(ann!.by(create, input, other))).createPaymentOrder.order;
    expect([...new Set([...orders, last.id])]).toEqual([last.id]);
    expect(await world.sql`select count(*)::int as n from payout where order_id = ${last.id}`).toEqual([{ n: 1 }]);
    for (const each of [id, last.id]) await data(ann!.by(reject, { id: each, reason: 'A test' }));
  });

  it('leaves out what no file can pay, which stays due, and says why', async () => {
    const wire = { global_wire: 'not a BIC, any text <&> ' + 'x'.repeat(180), iban: null };
    const long = 'A ROUTING CODE THAT HAS MORE THAN ITS 35 CHARACTERS';
    const none = { domestic_credit: null, domestic_wire: null, domestic_fast_credit: null };
    const noBank = await paid('1.00', undefined, { ...none, ...wire, domestic_credit: long });
    const noNumber = await paid('2.00');
    // Earlier releases took longer numbers.
    await world.sql`update address set bank_account = bank_account || ${world.sql.json({ number: '9'.repeat(35) })}
      where linked_id = ${noNumber.to.live.id} and category = 'user_payout'`;
    const refused = await ann!.by(create, { ownAccountId: await account(), valueDate: '2099-12-01' });
    expect(refused.codes).toEqual(['state_conflict']);
    expect(refused.body.errors[0].message).toContain('no file can pay them: ');
    const [byRouting, byText, byBic] = [
      await paid('4.00', undefined, wire),
      await paid('8.00', undefined, { ...none, global_wire: 'bank 7 <&>', iban: null }),
      await paid('16.00', undefined, {
        ...none,
        global_wire: 'deut deff xxx',
        number: null,
        iban: 'DE89 3704 0044 0532 0130 00',
      }),
    ];
    const made = await order('approved');
    expect(made).toMatchObject({ total: '28.00', payouts: 3 });
    const left: Json[] = made.leftOut.filter(({ id }: Json) => [noBank.id, noNumber.id].includes(id));
    expect(left).toEqual([
      { id: noBank.id, reason: 'Its address names its bank neither by a BIC nor by a code of at most 35 characters.' },
      { id: noNumber.id, reason: 'Its address has no IBAN and no account number of at most 34 characters.' },
    ]);
    expect((await payoutOf(noBank)).status).toBe('processing');
    const { text } = await fileOf(made.id);
    const bankIn = (id: string) =>
      text
        .split('<CdtTrfTxInf>')
        .find((part) => part.includes(id))!
        .match(/<CdtrAgt>.*<\/CdtrAgt>/)![0];
    const within = (content: string) => `<CdtrAgt><FinInstnId>${content}</FinInstnId></CdtrAgt>`;
    expect(bankIn(byRouting.id)).toBe(
      within('<ClrSysMmbId><ClrSysId><Cd>INFSC</Cd></ClrSysId><MmbId>BOTC0000451</MmbId></ClrSysMmbId>'),
    );
    expect(bankIn(byText.id)).toBe(within('<ClrSysMmbId><MmbId>BANK7&lt;&amp;&gt;</MmbId></ClrSysMmbId>'));
    expect(bankIn(byBic.id)).toBe(within('<BICFI>DEUTDEFFXXX</BICFI>'));
    expect(text).toContain('<CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>');
    // The schema knows what it reads: an order of elements, a length, and an amount.
    const wrong = [
      text.replace(/(<Amt>.*?<\/Amt>)(<CdtrAgt>.*?<\/CdtrAgt>)/, '$2$1'),
      text.replace(/<Nm>/, `<Nm>${'x'.repeat(140)}`),
      text.replace(/(<InstdAmt Ccy="INR">)/, '$1-'),
    ];
    for (const each of wrong) expect(await schemaFaults('pain.001.001.09', each)).not.toEqual([]);
    await data((await named()).by(reject, { id: made.id, reason: 'A test' }));
  });

  it('is for no day in the past', async () => {
    const refused = await ann!.by(create, { ownAccountId: await account(), valueDate: '2020-01-01' });
    expect([refused.codes, refused.body.errors[0].extensions.argumentPath]).toEqual([
      ...[['parameter_invalid'], ['input', 'valueDate']],
    ]);
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
