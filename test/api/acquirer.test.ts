import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Acquirers } from '../../src/hosted/acquirer.js';
import { type Acquirer, acquirers } from '../../src/hosted/acquirer.js';
import { payerScope } from '../../src/hosted/session.js';
import { pollStatus, sendRefunds } from '../../src/hosted/status-poll.js';
import { refund, type RefundRow } from '../../src/resources/refund/table.js';
import { transaction } from '../../src/resources/transaction/table.js';
import { auditLedger } from '../support/audit.js';
import {
  type CheckoutFixture,
  type PayeeFixture,
  payeesIn,
  submit,
  submitAccepted,
  upiCode,
} from '../support/checkout-fixture.js';
import { must, useWorld } from '../support/world.js';
import { checkoutsIn, depositsOf, funds, locksOf, look, pay, refusalOf, transactionsOf } from './checkout-fixture.js';
import { acquirerSettings, reportsIn, secret, type Sending, StandIn, unexplainedIn } from './acquirer-fixture.js';
import { type Json, mutation, operatorIn } from './operator-fixture.js';
import { config } from '../../src/config/config.js';
import { acquirersOf } from '../../src/hosted/adapter/client.js';
import { advanceClock, runAllJobs } from '../support/jobs.js';

const world = useWorld({ worker: false, environment: acquirerSettings });
const { opened } = checkoutsIn(world);
const { ask, data } = operatorIn(world);

auditLedger(world);

const listed = unexplainedIn(world);
const reports = reportsIn(world);
const { send, decided, paid, declined, attempted, balances, work, stored } = reports;

const resolving = mutation(
  'resolveUnexplained',
  'ResolveUnexplainedInput',
  'unexplained { id status resolution resolvedBy }',
);

describe('what an acquirer really takes', () => {
  it('is credited up to the amount of the checkout; the rest waits for an operator as unexplained', async () => {
    const { user, id, receivable } = await opened();
    const { amount, gross_amount: gross, currency } = await look(user, id);
    const beyond = (Number(gross) + 12.5).toFixed(2);
    await pay(user, id, { amount: beyond });
    expect(await depositsOf(user, id)).toMatchObject([{ amount, currency, status: 'completed' }]);
    expect((await locksOf(user, receivable))[0]).toBe(amount);
    const [row] = await listed(user.id);
    const [attempt] = await transactionsOf(user, id);
    expect(row).toMatchObject({
      ...{ transactionId: attempt.id, amount: '12.50', currency, reason: 'BEYOND_ATTEMPT', status: 'OPEN' },
      ...{ resolution: null, resolvedBy: null },
    });
    const before = await funds(user);
    const resolution = 'The acquirer refunded it, ARN 7';
    const resolved = await data(ask(resolving, { input: { id: row.id, resolution } }));
    expect(resolved.resolveUnexplained.unexplained).toEqual({
      ...{ id: row.id, status: 'RESOLVED', resolution, resolvedBy: 'OPERATOR_KEY' },
    });
    expect(await funds(user)).toEqual(before);
    const again = await ask(resolving, { input: { id: row.id, resolution } });
    expect(again.body.errors[0].extensions.code).toBe('STATUS_INVALID');
    const unknown = await ask(resolving, { input: { id: 'unexplained_0', resolution } });
    expect(unknown.body.errors[0].extensions.code).toBe('RESOURCE_MISSING');
  });

  it('completes a checkout that is underpaid: its deposit is what was taken, and locks as far as it goes', async () => {
    const { user, id, receivable } = await opened();
    const paid = await pay(user, id, { amount: '40.00' });
    expect(paid.status).toBe('completed');
    expect(await depositsOf(user, id)).toMatchObject([{ amount: '40.00', status: 'completed' }]);
    expect((await locksOf(user, receivable))[0]).toBe('40.00');
    expect(await funds(user)).toEqual({ 'available INR': '40.00' });
    expect(await listed(user.id)).toEqual([]);
  });

  it('pays nothing in another currency: all of it is unexplained', async () => {
    const { user, id } = await opened();
    const paid = await pay(user, id, { amount: '9.00', currency: 'USD' });
    expect(paid.status).toBe('initialized');
    expect(await funds(user)).toEqual({});
    expect(await listed(user.id)).toMatchObject([{ amount: '9.00', currency: 'USD', reason: 'OTHER_CURRENCY' }]);
  });

  it('is more than nothing', async () => {
    const { user, id } = await opened();
    const reply = await user.post(`/v1/test_helpers/checkouts/${id}/pay`, { amount: '0.00' });
    expect(refusalOf(reply)).toEqual([400, ['parameter_invalid'], ['checkout.amount']]);
    await must(user.post(`/v1/test_helpers/checkouts/${id}/pay`));
  });
});

describe('a report of an acquirer', () => {
  let payee: PayeeFixture;
  beforeAll(() => {
    payee = reports.payee();
  });
  const seen = async (id: string): Promise<Json> => (await payee.live.get(`/v1/checkouts/${id}`)).body;
  const attempt = async (id: string): Promise<Json> =>
    (
      await world.sql`select status, reason_code, taken_amount, mismatch, payment_method_details as details
      from transaction where id = ${id}`
    )[0];
  it('credits what was taken, once, however often and in whatever order reports come', async () => {
    const { checkout, id } = await attempted();
    for (let i = 0; i < 3; i++) expect(await send(paid(id, '600.00'))).toEqual({ status: 200, body: {} });
    await work();
    expect(await send(paid(id, '600.00'))).toEqual({ status: 200, body: {} });
    expect((await send(declined(id))).status).toBe(200);
    await work();
    expect(await seen(checkout.id)).toMatchObject({ status: 'completed', amount: '1000.00' });
    expect(await attempt(id)).toMatchObject({
      ...{ status: 'succeeded', taken_amount: '60000', mismatch: null, details: { upi: { vpa: 'asha@bank' } } },
    });
    expect(await depositsOf(payee.live, checkout.id)).toMatchObject([{ amount: '600.00', status: 'completed' }]);
    // Another amount than the first report's is a mismatch, and credits nothing.
    expect((await send(paid(id, '1000.00'))).status).toBe(200);
    await work();
    expect(await depositsOf(payee.live, checkout.id)).toHaveLength(1);
    const { transactionMismatches } = await data(
      ask('{ transactionMismatches { transactionId credited reportedAmount reportedCurrency } }'),
    );
    expect(transactionMismatches).toContainEqual({
      ...{ transactionId: id, credited: true, reportedAmount: '1000.00', reportedCurrency: 'INR' },
    });
  });

  it('may come late: a success counts after the attempt has expired, a failure does not', async () => {
    const { checkout, id } = await attempted();
    await world.sql`update transaction set expires_at = created where id = ${id}`;
    await world.sql`update job set due = 0 where subject_id = ${id} and kind = 'expire_transaction'`;
    await work();
    expect((await send(declined(id))).status).toBe(200);
    expect(await attempt(id)).toMatchObject({ status: 'failed', reason_code: 'expired' });
    expect((await send(paid(id))).status).toBe(200);
    await work();
    expect(await seen(checkout.id)).toMatchObject({ effective_transaction: { id, status: 'succeeded' } });
  });

  it('ends an attempt that was declined', async () => {
    const { id } = await attempted();
    expect((await send(declined(id))).status).toBe(200);
    await work();
    expect(await attempt(id)).toMatchObject({ status: 'failed', reason_code: 'declined' });
  });

  it('says how a refund has ended, once', async () => {
    const { checkout, id } = await attempted();
    await send(paid(id));
    await work();
    const [{ id: depositId }] = (await depositsOf(payee.live, checkout.id)) as [Json];
    const ended = (refundId: string, more: object) => send({ type: 'refund.decided', data: { id: refundId, ...more } });
    const refunded = async (amount: string) =>
      (await must(payee.live.post('/v1/refunds', { deposit_id: depositId, amount }))).id as string;
    const look = async (refundId: string) => (await payee.live.get(`/v1/refunds/${refundId}`)).body;
    const [one, other] = [await refunded('100.00'), await refunded('50.00')];
    for (let i = 0; i < 2; i++)
      expect((await ended(one, { status: 'succeeded', reference: 'ARN 7' })).status).toBe(200);
    expect(await look(one)).toMatchObject({ status: 'succeeded', bank_reference: 'ARN 7' });
    const contradiction = await ended(one, { status: 'failed' });
    expect([contradiction.status, contradiction.body.errors[0].code]).toEqual([409, 'state_conflict']);
    expect((await ended(other, { status: 'failed', failure_reason: 'Card closed' })).status).toBe(200);
    expect(await look(other)).toMatchObject({ status: 'failed', failure_reason: 'Card closed' });
    expect((await ended('refund_0', { status: 'succeeded' })).status).toBe(404);
    // Equal reports at once are all taken, and of contradicting ones those that came second are conflicts.
    const third = await refunded('20.00');
    const equal = await Promise.all(Array.from({ length: 12 }, () => ended(third, { status: 'failed' })));
    expect(equal.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    const fourth = await refunded('30.00');
    const both = ['failed', 'succeeded', 'failed', 'succeeded', 'failed', 'succeeded'];
    const answers = await Promise.all(both.map((status) => ended(fourth, { status })));
    const { status: first } = await look(fourth);
    expect(answers.map(({ status }) => status)).toEqual(both.map((status) => (status === first ? 200 : 409)));
  });

  it('alone ends a refund that was submitted to it, unless the operator says so for it', async () => {
    const { checkout, id } = await attempted();
    await send(paid(id));
    await work();
    const [{ id: depositId }] = (await depositsOf(payee.live, checkout.id)) as [Json];
    const refunded = async (amount: string) =>
      (await must(payee.live.post('/v1/refunds', { deposit_id: depositId, amount }))).id as string;
    const end = (to: 'succeed' | 'fail', input: object) =>
      to === 'fail'
        ? ask(mutation('failRefund', 'FailRefundInput', 'refund { status }'), { input })
        : ask(mutation('succeedRefund', 'SucceedRefundInput', 'refund { status }'), { input });
    const untouched = await refunded('10.00');
    expect((await end('fail', { id: untouched })).body.data.failRefund.refund.status).toBe('FAILED');
    const [one, other] = [await refunded('20.00'), await refunded('30.00')];
    const claimed: RefundRow[] = await world.database.write(
      ...['claim_refunds' as const, payee.tenantId, true, null, { limit: 10, duplicates: false }, refund],
    );
    expect(claimed.map((each) => each.id).toSorted()).toEqual([one, other].toSorted());
    for (const to of ['fail', 'succeed'] as const) {
      const refused = await end(to, { id: one });
      expect([refused.codes, refused.fieldNames]).toEqual([['state_conflict'], ['refund.status']]);
      expect(refused.body.errors[0].message).toContain('--told-by-acquirer');
    }
    const ended = await end('fail', { id: one, toldByAcquirer: true });
    expect(ended.body.data.failRefund.refund.status).toBe('FAILED');
    // The worker that has claimed it before does not submit it any more: its money is back.
    const submitted: string[] = [];
    const acquirer: Acquirer = {
      ...acquirers.test!,
      refund: async (given) => {
        submitted.push(given.id);
        return { status: 'pending' };
      },
    };
    const faults: unknown[] = [];
    const scope = payerScope(world.database, { tenantId: payee.tenantId, livemode: true });
    await sendRefunds(scope, claimed, (fault) => faults.push(fault), { ...acquirers, live: acquirer });
    expect([submitted, faults]).toEqual([[other], []]);
    await data(end('succeed', { id: other, toldByAcquirer: true }));
  });

  it('that cannot be asked about a card has charged nothing; an attempt that it may have waits for it', async () => {
    let away = true;
    const card = { brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2034 };
    const gone = async () => {
      throw new TypeError('fetch failed');
    };
    const cardOf = () => (away ? gone() : Promise.resolve(card));
    const live: Acquirer = {
      ...acquirers.test,
      ...{ cardFields: { url: 'https://fields.example', cardOf }, submit: gone },
    };
    const origin = await world.another({ acquirers: { ...acquirers, live } });
    const checkout = await reports.checkout(payee.live.at(origin));
    const url = `${origin}${checkout.path}`;
    const form = { attempt: `${randomUUID()}-card`, token: 'tok_00000000' };
    const refused = await submit(`${url}/card`, form);
    expect([refused.status, await refused.text()]).toEqual([
      503,
      expect.stringContaining('The card cannot be checked at the moment. You have not been charged.'),
    ]);
    expect(await payee.attempts(checkout)).toEqual([]);
    away = false;
    expect((await submit(`${url}/card`, form)).status).toBe(303);
    expect(await payee.attempts(checkout)).toMatchObject([{ status: 'processing', details: { card } }]);
    const page = await (await fetch(url)).text();
    expect(page).toMatch(/Please do not pay\s+again\./);
    await world.endLast();
  });

  it('refunds the second payment of a checkout by itself', async () => {
    const { checkout, id } = await attempted();
    const again = await upiCode(payee, checkout);
    const third = await upiCode(payee, checkout);
    await send(paid(id));
    await send(paid(again));
    await send(paid(third, '1200.00'));
    await work();
    const claim = (duplicates: boolean) =>
      world.database.call('claim_refunds', [payee.tenantId, true, '{}', JSON.stringify({ limit: 10, duplicates })]);
    expect(await claim(false)).toEqual([]);
    const before = await balances();
    expect(await claim(true)).toHaveLength(2);
    expect(await claim(true)).toEqual([]);
    const refunds: Json[] = (await must(payee.live.get('/v1/refunds'))).data.filter(
      (each: Json) => each.checkout_id === checkout.id,
    );
    expect(refunds.map(({ amount, status, from_pending }) => [amount, status, from_pending]).toSorted()).toEqual([
      ['1000.00', 'pending', '0.00'],
      ['1200.00', 'pending', '0.00'],
    ]);
    const [big, small] = [
      refunds.find(({ amount }) => amount === '1200.00'),
      refunds.find((r) => r.amount !== '1200.00'),
    ];
    const deposit = await must(payee.live.get(`/v1/deposits/${big.deposit_id}`));
    expect(deposit).toMatchObject({ status: 'failed', reason_code: 'duplicate' });
    const ended = (refundId: string, more: object) => send({ type: 'refund.decided', data: { id: refundId, ...more } });
    expect((await ended(small.id, { status: 'succeeded', reference: 'ARN 8' })).status).toBe(200);
    for (let i = 0; i < 2; i++) expect((await ended(big.id, { status: 'failed' })).status).toBe(200);
    expect(await balances()).toEqual(before);
    const payment = await must(payee.live.get(`/v1/payments/${small.payment_id}`));
    expect(payment).toMatchObject({ type: 'refund', amount: '-1000.00', status: 'completed' });
    // What the acquirer cannot send back is the operator's.
    const rows = (await listed(payee.tenantId)).filter(({ transactionId }) => transactionId === third);
    expect(rows).toMatchObject([{ amount: '1200.00', currency: 'INR', reason: 'DUPLICATE', status: 'OPEN' }]);
  });

  it('is recorded by the operator where the acquirer tells another way', async () => {
    const { checkout, id } = await attempted();
    const other = await attempted();
    const list = `query ($after: String) { pendingTransactions(first: 1, after: $after) {
      nodes { id tenantId livemode amount currency status created expiresAt paymentMethod nextPollAt } next } }`;
    const pending = async (): Promise<Json[]> => {
      const nodes: Json[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const page: Json = (await data(ask(list, { after }))).pendingTransactions;
        nodes.push(...page.nodes);
        after = page.next;
      }
      return nodes.filter((each) => [id, other.id].includes(each.id));
    };
    // Until their time is over, the payer may still pay.
    expect(await pending()).toEqual([]);
    await world.sql`update transaction set expires_at = created - 1 where id in (${id}, ${other.id})`;
    const attemptOf = { tenantId: payee.tenantId, livemode: true, amount: '1000.00', currency: 'INR' };
    expect(await pending()).toMatchObject([
      { id, ...attemptOf, status: 'PROCESSING', paymentMethod: 'UPI' },
      { id: other.id, ...attemptOf },
    ]);
    // Whether the acquirer is still asked or not, the attempt waits for somebody to decide it.
    await world.sql`update job set due = 0 where subject_id = ${other.id} and kind = 'inquire_transaction'`;
    await world.sql`update transaction
      set expires_at = created - ${31 * 86_400}, status = 'failed', reason_code = 'expired' where id = ${other.id}`;
    await world.database.write(
      ...['claim_status_polls' as const, payee.tenantId, true, null, { limit: 50 }, transaction],
    );
    expect(await pending()).toMatchObject([
      { id, nextPollAt: expect.any(String) },
      { id: other.id, nextPollAt: null },
    ]);
    expect((await ask(list, { after: 'nonsense' })).body.errors[0].extensions.code).toBe('PARAMETER_INVALID');
    const decide = mutation('decideTransaction', 'DecideTransactionInput', 'transaction { id status checkoutId }');
    const taking = (input: object) => ask(decide, { input: { id, outcome: 'SUCCEEDED', ...input } });
    const refused = async (input: object) => (await taking(input)).body.errors[0].extensions.code;
    expect(await refused({ id: 'transaction_0' })).toBe('RESOURCE_MISSING');
    expect(await refused({ outcome: 'FAILED', amount: '1.00' })).toBe('PARAMETER_INVALID');
    expect(await refused({ amount: '0.00' })).toBe('PARAMETER_INVALID');
    expect(await refused({ currency: 'USD' })).toBe('PARAMETER_MISSING');
    expect(await refused({ currency: 'JPY', amount: '10.50' })).toBe('PARAMETER_INVALID');
    for (let i = 0; i < 2; i++)
      expect((await data(taking({ amount: '990.00' }))).decideTransaction.transaction).toMatchObject({
        ...{ id, status: 'PROCESSING', checkoutId: checkout.id },
      });
    await work();
    expect(await depositsOf(payee.live, checkout.id)).toMatchObject([{ amount: '990.00', status: 'completed' }]);
    await data(ask(decide, { input: { id: other.id, outcome: 'FAILED' } }));
    await work();
    expect(await pending()).toEqual([]);
    expect(await attempt(other.id)).toMatchObject({ status: 'failed', reason_code: 'expired' });
  });

  const failed = { status: 'failed', reason_code: 'declined' };
  const upi = (vpa: string) => ({ upi: { vpa } });
  it.each<[string, number, (id: string) => object | string, Sending]>([
    ['about an unknown attempt', 404, () => paid('transaction_0'), {}],
    ['signed with another secret', 401, paid, { by: `whsec_${Buffer.alloc(32, 8).toString('base64')}` }],
    ['that is too old', 401, paid, { at: new Date(Date.now() - 86_400_000) }],
    ['of the future', 401, paid, { at: new Date(Date.now() + 86_400_000) }],
    ['without a signature', 401, paid, { headers: { 'webhook-signature': '' } }],
    ['with the signature of another body', 401, paid, { headers: { 'webhook-id': 'msg_other' } }],
    ['that is not JSON', 400, () => '{"type":', {}],
    ['of an unknown type', 400, (id) => ({ type: 'attempt.lost', data: { id } }), {}],
    ['of a success without an amount', 400, (id) => decided(id, { status: 'succeeded' }), {}],
    ['of half a yen', 400, (id) => paid(id, '10.50', 'JPY'), {}],
    ['of nothing', 400, (id) => paid(id, '0.00'), {}],
    ['in no currency', 400, (id) => paid(id, '1.00', 'ZZZ'), {}],
    ['with an amount as a number', 400, (id) => decided(id, { status: 'succeeded', amount: 5, currency: 'INR' }), {}],
    ['with a character that no text has', 400, (id) => decided(id, { ...failed, details: upi('a\u0000@b') }), {}],
    ['that is too large', 400, (id) => ({ ...paid(id), more: 'x'.repeat(70_000) }), {}],
    ['in a mode that has no adapter', 404, paid, { mode: 'test' }],
    ['in another content type', 400, paid, { headers: { 'content-type': 'text/plain' } }],
  ])('%s is refused with %i, and stores nothing', async (_, status, report, sending) => {
    const { id } = await attempted();
    const before = await stored();
    const answer = await send(report(id), sending);
    expect([answer.status, answer.body.errors]).toEqual([
      status,
      [expect.objectContaining({ message: expect.any(String) })],
    ]);
    expect(await stored()).toEqual(before);
  });

  it('about an attempt of the other mode is refused', async () => {
    const checkout = await payee.checkoutFixture();
    const id = await upiCode(payee, checkout);
    expect((await send(paid(id))).status).toBe(404);
  });
});

describe('an acquirer that is away for a day', () => {
  const acquirer = new StandIn();
  let acquirers: Acquirers;
  let payee: PayeeFixture;
  let origin: string;

  beforeAll(async () => {
    const [TEST_ACQUIRER_URL, TEST_ACQUIRER_FIELDS_URL] = [await acquirer.start(), 'https://fields.example'];
    const settings = { PORT: '0', TEST_ACQUIRER_URL, TEST_ACQUIRER_SECRET: secret, TEST_ACQUIRER_FIELDS_URL };
    acquirers = acquirersOf(config({ serves: true }, settings));
    payee = await payeesIn(world).open();
    origin = await world.another({ acquirers });
  });
  afterAll(() => acquirer.stop());

  /** A checkout whose payer has sent a card, with the id of the attempt. */
  async function attempted(): Promise<{ checkout: CheckoutFixture; id: string }> {
    const checkout = await payee.checkoutFixture();
    await submitAccepted(`${origin}${checkout.path}/card`, { attempt: `${randomUUID()}-card`, token: 'tok_00000000' });
    const [attempt] = await payee.attempts(checkout);
    expect(attempt).toMatchObject({ status: 'processing', reason_code: null });
    return { checkout, id: attempt.id };
  }

  /** What the worker does of an hour: it asks about attempts, submits refunds, and runs the due jobs. */
  async function hour(): Promise<{ asked: number; faults: number }> {
    await advanceClock(payee.user, 3_600);
    const { database } = world;
    const place = [payee.tenantId, false, null] as const;
    const attempts = await database.write('claim_status_polls', ...place, { limit: 50 }, transaction);
    const args = { limit: 50, duplicates: true, submits: true };
    const refunds = await database.write('claim_refunds', ...place, args, refund);
    const scope = payerScope(database, { tenantId: payee.tenantId, livemode: false });
    let faults = 0;
    await pollStatus(scope, attempts, () => faults++, acquirers);
    await sendRefunds(scope, refunds, () => faults++, acquirers);
    await runAllJobs(payee.user);
    return { asked: attempts.length + refunds.length, faults };
  }

  it('is asked about each attempt and refund in every hour, and none is lost', async () => {
    const paid = await attempted();
    const taken = { status: 'succeeded', amount: '1000.00', currency: 'INR' };
    acquirer.attempts.set(paid.id, taken);
    expect(await hour()).toEqual({ asked: 1, faults: 0 });
    const [deposit] = (await must(payee.user.get('/v1/deposits'))).data;
    const begun = [await attempted(), await attempted(), await attempted()];
    const sent = await must(payee.user.at(origin).post('/v1/refunds', { deposit_id: deposit.id, amount: '100.00' }));
    const ids = [...begun.map(({ id }) => id), sent.id as string];

    acquirer.away = 'hangs up';
    acquirer.asked.clear();
    // On the day after an attempt has expired, which it does in the first of these hours.
    const hours = 23;
    for (let n = 1; n <= hours; n++) {
      if (n === 12) acquirer.away = 'refuses';
      expect([n, await hour()]).toEqual([n, { asked: ids.length, faults: ids.length }]);
    }
    expect(Object.fromEntries(acquirer.asked)).toEqual(Object.fromEntries(ids.map((id) => [id, hours])));
    for (const { checkout } of begun)
      expect(await payee.attempts(checkout)).toMatchObject([{ status: 'failed', reason_code: 'expired' }]);
    expect(await must(payee.user.get(`/v1/refunds/${sent.id}`))).toMatchObject({ status: 'pending' });

    // Meanwhile it has taken the money of two, declined one, and sent the refund.
    const [one, other, declined] = begun as [(typeof begun)[0], (typeof begun)[0], (typeof begun)[0]];
    for (const { id } of [one, other]) acquirer.attempts.set(id, taken);
    acquirer.attempts.set(declined.id, { status: 'failed', reason_code: 'declined' });
    acquirer.refunds.set(sent.id, { status: 'succeeded', reference: 'ARN 1' });
    acquirer.away = undefined;
    expect(await hour()).toEqual({ asked: ids.length, faults: 0 });
    for (const { checkout } of [one, other])
      expect(await payee.attempts(checkout)).toMatchObject([{ status: 'succeeded', deposit_id: expect.any(String) }]);
    expect(await payee.attempts(declined.checkout)).toMatchObject([{ status: 'failed', deposit_id: null }]);
    expect(await must(payee.user.get(`/v1/refunds/${sent.id}`))).toMatchObject({ status: 'succeeded' });
    expect((await must(payee.user.get('/v1/balance'))).available).toMatchObject([
      { amount: '2900.00', currency: 'INR' },
    ]);
    // Nothing is open any more.
    expect(await hour()).toEqual({ asked: 0, faults: 0 });
  });
});
