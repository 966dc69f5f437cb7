import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Acquirer, acquirers } from '../../src/hosted/acquirer.js';
import { payerScope } from '../../src/hosted/session.js';
import { sendRefunds } from '../../src/hosted/status-poll.js';
import { type RefundRow, refund } from '../../src/resources/refund/table.js';
import { transaction } from '../../src/resources/transaction/table.js';
import { auditLedger } from '../support/audit.js';
import { type PayeeFixture, payeesIn, submit, upiCode } from '../support/checkout-fixture.js';
import { must, useWorld, withLiveAcquirer } from '../support/world.js';
import { reportsTo, secret, type Sending } from './acquirer-fixture.js';
import { checkoutsIn, depositsOf, funds, locksOf, look, pay, refusalOf, transactionsOf } from './checkout-fixture.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

// No adapter listens there: these tests send its reports.
const environment = { OPERATOR_KEY, ACQUIRER_URL: 'http://127.0.0.1:9', ACQUIRER_SECRET: secret };
const world = useWorld({ worker: false, environment });
const { opened } = checkoutsIn(world);
const { ask, data } = operatorIn(world);

auditLedger(world);

const listed = async (tenantId: string): Promise<Json[]> =>
  (
    await data(
      ask(
        `query ($tenantId: ID!) { unexplained(tenantId: $tenantId) {
          nodes { id transactionId depositId amount currency reason status resolution resolvedBy } next } }`,
        { tenantId },
      ),
    )
  ).unexplained.nodes;
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
  let partnerId: string;
  beforeAll(async () => {
    payee = await payeesIn(world).open();
    partnerId = await payee.goLive();
    // At its first code the customer gets its UPI address, from the acquirer of a gateway that has one.
    const origin = await world.another({ acquirers: withLiveAcquirer });
    const first = await payee.checkoutFixture({ speaker: payee.live, partnerId });
    await upiCode(payee, { ...first, url: `${origin}${first.path}` });
    await world.endLast();
  });

  const send = reportsTo(world);
  const decided = (id: string, data: object) => ({ type: 'attempt.decided', data: { id, ...data } });
  const paid = (id: string, amount = '1000.00', currency = 'INR') =>
    decided(id, { status: 'succeeded', amount, currency, details: { upi: { vpa: 'asha@bank' } } });
  const declined = (id: string) => decided(id, { status: 'failed', reason_code: 'declined' });

  /** A live checkout of 1000.00 with an attempt that nobody has paid. */
  async function attempted() {
    const checkout = await payee.checkoutFixture({ speaker: payee.live, partnerId });
    return { checkout, id: await upiCode(payee, checkout) };
  }
  const balances = () => payee.live.get('/v1/balances').then(({ body }) => body);
  const work = () => world.database.call('run_jobs', [payee.tenantId, true, 200]);
  const seen = async (id: string): Promise<Json> => (await payee.live.get(`/v1/checkouts/${id}`)).body;
  const attempt = async (id: string): Promise<Json> =>
    (
      await world.sql`select status, reason_code, taken_amount, mismatch, payment_method_details as details
      from transaction where id = ${id}`
    )[0];
  /** All that a report could store. */
  const stored = async () =>
    (
      await world.sql`select (select count(*) from event)::int as events, (select count(*) from job)::int as jobs,
      (select count(*) from posting)::int as postings, (select sum(version) from transaction)::int as versions`
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

  describe('of disputes', () => {
    /** A paid attempt: 1000.00 INR. */
    async function credited() {
      const { checkout, id } = await attempted();
      await send(paid(id));
      await work();
      const [{ id: depositId }] = (await depositsOf(payee.live, checkout.id)) as [Json];
      return { checkout, id, depositId: depositId as string };
    }
    const opening = (attemptId: string, data: object = {}) => ({
      type: 'dispute.opened',
      data: {
        ...{ id: `D-${attemptId}`, attempt: attemptId, amount: '250.00', currency: 'INR', reason_code: 'high_risk' },
        ...{ reason: '10.4 Card absent', respond_by: '2030-01-02T03:04:05.999Z', ...data },
      },
    });
    const deciding = (attemptId: string, status: string, data: object = {}) => ({
      type: 'dispute.decided',
      data: { id: `D-${attemptId}`, attempt: attemptId, status, ...data },
    });
    const disputesOf = async (depositId: string): Promise<Json[]> =>
      (await must(payee.live.get('/v1/disputes'))).data.filter((each: Json) => each.deposit_id === depositId);

    it('opens them once, with what was taken back', async () => {
      const { id, depositId } = await credited();
      const statuses = await Promise.all([1, 2, 3].map(() => send(opening(id))));
      expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200]);
      const disputes = await disputesOf(depositId);
      expect(disputes).toMatchObject([
        {
          ...{ amount: '250.00', currency: 'INR', status: 'needs_response', reason_code: 'high_risk' },
          ...{ acquirer_reason: '10.4 Card absent', reference: `D-${id}`, respond_by: 1_893_553_445 },
        },
      ]);
      expect((await must(payee.live.get(`/v1/deposits/${disputes[0]!.debit_deposit_id}`))).amount).toBe('-250.00');
      const other = await send(opening(id, { amount: '300.00' }));
      expect([other.status, other.body.errors[0].code]).toEqual([409, 'state_conflict']);
      // What the operator recorded before under the reference is the same dispute.
      const second = await credited();
      const opened = mutation('openDispute', 'OpenDisputeInput', 'dispute { id }');
      const input = { id: second.depositId, amount: '250.00', reasonCode: 'HIGH_RISK', reference: `D-${second.id}` };
      await data(ask(opened, { input }));
      expect((await send(opening(second.id))).status).toBe(200);
      expect(await disputesOf(second.depositId)).toHaveLength(1);
    });

    it('decides them once', async () => {
      const { id, depositId } = await credited();
      const early = await send(deciding(id, 'won'));
      expect([early.status, early.body.errors[0].code]).toEqual([404, 'resource_missing']);
      await send(opening(id));
      const equal = await Promise.all(Array.from({ length: 6 }, () => send(deciding(id, 'won'))));
      expect(equal.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      expect((await send(deciding(id, 'won'))).status).toBe(200);
      expect(await disputesOf(depositId)).toMatchObject([{ status: 'won' }]);
      const contradiction = await send(deciding(id, 'lost'));
      expect([contradiction.status, contradiction.body.errors[0].code]).toEqual([409, 'state_conflict']);
      // A dispute that was accepted is lost.
      await send(opening(id, { id: 'D-accepted' }));
      const accepted = (await disputesOf(depositId)).find(({ reference }) => reference === 'D-accepted');
      await must(payee.live.post(`/v1/disputes/${accepted.id}/accept`));
      expect((await send(deciding(id, 'lost', { id: 'D-accepted' }))).status).toBe(200);
      expect((await send(deciding(id, 'won', { id: 'D-accepted' }))).status).toBe(409);
    });

    it('keeps what is beyond the deposit as unexplained', async () => {
      const { id, depositId } = await credited();
      const { id: refundId } = await must(payee.live.post('/v1/refunds', { deposit_id: depositId, amount: '400.00' }));
      await send({ type: 'refund.decided', data: { id: refundId, status: 'succeeded' } });
      for (let i = 0; i < 2; i++) expect((await send(opening(id, { amount: '1000.00' }))).status).toBe(200);
      const [dispute] = await disputesOf(depositId);
      expect(dispute.amount).toBe('600.00');
      const rows = (await listed(payee.tenantId)).filter((row) => row.depositId === dispute.debit_deposit_id);
      expect(rows).toMatchObject([
        { amount: '-400.00', currency: 'INR', reason: 'BEYOND_DEPOSIT', status: 'OPEN', transactionId: null },
      ]);
    });

    it('keeps what nothing is left for as unexplained, and takes it from a refund that fails', async () => {
      const { id, depositId } = await credited();
      const { id: refundId } = await must(payee.live.post('/v1/refunds', { deposit_id: depositId }));
      const of = `D-${id}`;
      const early = await send(deciding(id, 'lost'));
      expect(early.status).toBe(404);
      const [before, earlier] = [await balances(), await listed(payee.tenantId)];
      const reports = await Promise.all([1, 2, 3].map(() => send(opening(id, { amount: '1000.00' }))));
      expect(reports.map(({ status }) => status)).toEqual([200, 200, 200]);
      const kept = async () =>
        (await listed(payee.tenantId)).filter((row) => !earlier.some((each) => each.id === row.id));
      expect(await kept()).toMatchObject([
        { amount: '-1000.00', currency: 'INR', reason: 'RECORDED', status: 'OPEN', depositId, transactionId: null },
      ]);
      const [row] = await world.sql`select reference, note from unexplained where deposit_id = ${depositId}`;
      expect(row).toEqual({ reference: of, note: 'Chargeback, high_risk: 10.4 Card absent' });
      expect([await balances(), await disputesOf(depositId)]).toEqual([before, []]);
      const refused = async (more: object) => {
        const { status, body } = await send(opening(id, more));
        return [status, body.errors[0].code];
      };
      expect(await refused({ amount: '999.00' })).toEqual([409, 'state_conflict']);
      expect(await refused({ amount: '1000.00', currency: 'USD' })).toEqual([409, 'state_conflict']);
      expect(await refused({ id: `${of}-2`, amount: '2000.00' })).toEqual([402, 'amount_exceeds_deposit']);
      // The operator's dispute under the reference is the same money.
      const opened = mutation('openDispute', 'OpenDisputeInput', 'dispute { id } unexplained { id amount covered }');
      const input = { id: depositId, amount: '1000.00', reasonCode: 'HIGH_RISK', reference: of };
      const [{ id: keptId }] = (await kept()) as [Json];
      const known = { dispute: null, unexplained: { id: keptId, amount: '-1000.00', covered: '0.00' } };
      expect((await data(ask(opened, { input }))).openDispute).toEqual(known);
      expect((await send(deciding(id, 'lost'))).status).toBe(200);
      const won = await send(deciding(id, 'won'));
      expect([won.status, won.body.errors[0].code]).toEqual([409, 'state_conflict']);

      await send({ type: 'refund.decided', data: { id: refundId, status: 'failed' } });
      expect(await kept()).toMatchObject([{ id: keptId, status: 'RESOLVED' }]);
      expect((await send(opening(id, { amount: '1000.00' }))).status).toBe(200);
      const covered = { ...known, unexplained: { ...known.unexplained, covered: '1000.00' } };
      expect((await data(ask(opened, { input }))).openDispute).toEqual(covered);
      expect(await must(payee.live.get(`/v1/deposits/${depositId}`))).toMatchObject({ status: 'completed' });
      const [paidBack] = await world.sql`select disputed from deposit where id = ${depositId}`;
      expect(paidBack).toEqual({ disputed: '100000' });
    });

    it('keeps what the second payment of a checkout, or another currency, lost as unexplained', async () => {
      const { checkout } = await attempted();
      const [one, second] = [await upiCode(payee, checkout), await upiCode(payee, checkout)];
      await send(paid(one));
      await send(paid(second));
      await work();
      const before = await balances();
      const [{ id: depositId }] = (await depositsOf(payee.live, checkout.id)).filter(
        ({ status }: Json) => status === 'completed',
      ) as [Json];
      for (let i = 0; i < 2; i++) {
        expect((await send(opening(second, { amount: '1000.00' }))).status).toBe(200);
        expect((await send(opening(one, { amount: '12.00', currency: 'USD' }))).status).toBe(200);
      }
      const claimed: RefundRow[] = await world.database.write(
        ...['claim_refunds' as const, payee.tenantId, true, null, { limit: 10, duplicates: true }, refund],
      );
      await send({ type: 'refund.decided', data: { id: claimed[0]!.id, status: 'succeeded' } });
      expect([await balances(), await disputesOf(depositId)]).toEqual([before, []]);
      const rows = await world.sql`select amount, currency from unexplained
        where reference in (${`D-${one}`}, ${`D-${second}`}) order by amount`;
      expect(rows).toEqual([
        { amount: '-100000', currency: 'INR' },
        { amount: '-1200', currency: 'USD' },
      ]);
    });

    it('lets an operator record what was taken back of a deposit that was refunded whole', async () => {
      const { id, depositId } = await credited();
      const { id: refundId } = await must(payee.live.post('/v1/refunds', { deposit_id: depositId }));
      await send({ type: 'refund.decided', data: { id: refundId, status: 'succeeded' } });
      const recording = mutation(
        'recordUnexplained',
        'RecordUnexplainedInput',
        'unexplained { id amount currency reason reference note depositId status }',
      );
      const input = { depositId, amount: '250.00', reference: `D-${id}`, note: 'After its refund' };
      const { recordUnexplained: recorded } = await data(ask(recording, { input }));
      expect(recorded.unexplained).toMatchObject({
        ...{ amount: '-250.00', currency: 'INR', reason: 'RECORDED', reference: `D-${id}`, note: 'After its refund' },
        ...{ depositId, status: 'OPEN' },
      });
      expect((await data(ask(recording, { input }))).recordUnexplained).toEqual(recorded);
      // The report of it that comes later is the same money.
      expect((await send(opening(id))).status).toBe(200);
      expect((await listed(payee.tenantId)).filter((row) => row.depositId === depositId)).toHaveLength(1);
      const refused = async (more: object) =>
        (await ask(recording, { input: { ...input, ...more } })).body.errors[0].extensions.code;
      expect(await refused({ amount: '0.00' })).toBe('PARAMETER_INVALID');
      expect(await refused({ note: '' })).toMatch(/^PARAMETER_/);
      expect(await refused({ depositId: 'deposit_0' })).toBe('RESOURCE_MISSING');
      expect(await refused({ note: 'Another' })).toBe('STATE_CONFLICT');
    });

    it('refuses what credited nothing, and what is none', async () => {
      const { id } = await credited();
      const open = await attempted();
      const before = await stored();
      const refused = async (body: object) => {
        const { status, body: answer } = await send(body);
        return [status, answer.errors[0].code];
      };
      expect(await refused(opening(open.id))).toEqual([409, 'state_conflict']);
      expect(await refused(opening('transaction_0'))).toEqual([404, 'resource_missing']);
      const wrong = [
        ...[{ amount: '0.00' }, { amount: '1' }, { reason_code: 'fraud' }, { reason: '' }, { id: 'x'.repeat(256) }],
        ...[{ respond_by: 'soon' }, { respond_by: '9999-01-01T00:00:00Z' }, { currency: 'JPY', amount: '1.50' }],
      ];
      for (const each of wrong) expect(await refused(opening(id, each))).toEqual([400, 'body_invalid']);
      expect(await refused(deciding(id, 'accepted'))).toEqual([400, 'body_invalid']);
      expect(await stored()).toEqual(before);
    });
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
    const checkout = await payee.checkoutFixture({ speaker: payee.live.at(origin), partnerId });
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
    ['that is too old', 401, paid, { at: new Date(Date.now() - 360_000) }],
    ['of the future', 401, paid, { at: new Date(Date.now() + 360_000) }],
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
