import { beforeAll, describe, expect, it } from 'vitest';
import { type RefundRow, refund } from '../../src/resources/refund/table.js';
import { DepositReasonCode } from '../../src/resources/deposit/table.js';
import { auditLedger } from '../support/audit.js';
import { type PayeeFixture, upiCode } from '../support/checkout-fixture.js';
import { must, useWorld } from '../support/world.js';
import { acquirerSettings, reportsIn, unexplainedIn } from './acquirer-fixture.js';
import { depositsOf, funds } from './checkout-fixture.js';
import { type Json, mutation, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: acquirerSettings });
const { ask, data } = operatorIn(world);

auditLedger(world);

const listed = unexplainedIn(world);
const reports = reportsIn(world);
const { send, paid, declined, attempted, balances, work, stored } = reports;

describe('a report of an acquirer about a dispute', () => {
  let payee: PayeeFixture;
  beforeAll(() => {
    payee = reports.payee();
  });

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

  const refusedReport = async (report: object) => {
    const { status, body } = await send(report);
    return [status, body.errors[0].code];
  };
  const refundOf = (depositId: string, amount?: string): Promise<Json> =>
    must(payee.live.post('/v1/refunds', { deposit_id: depositId, ...(amount && { amount }) }));
  const refundEnds = ({ id }: Json, status: string) => send({ type: 'refund.decided', data: { id, status } });
  /** The unexplained money of disputes of a deposit. */
  const keptOf = async (depositId: string): Promise<Json[]> => {
    const debits = (await disputesOf(depositId)).map(({ debit_deposit_id: id }) => id as string);
    return (await listed(payee.tenantId)).filter((row) => [depositId, ...debits].includes(row.depositId));
  };
  const inr = async () => {
    const of = await funds(payee.live);
    return { available: Number(of['available INR'] ?? 0), pending: Number(of['pending INR'] ?? 0) };
  };
  const won = {
    ...{ decision: 'WON', status: 'RESOLVED', resolvedBy: 'tidegate' },
    resolution: 'The acquirer decided the dispute for the account: the money came back.',
  };

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

  it('has each of the seven reasons, and the acquirer’s own words', async () => {
    const { id, depositId } = await credited();
    const reasons = Object.values(DepositReasonCode);
    expect(reasons).toHaveLength(7);
    for (const [i, reason] of reasons.entries())
      expect(
        (await send(opening(id, { id: `R-${i}`, amount: '1.00', reason_code: reason, reason: `Code ${i}` }))).status,
      ).toBe(200);
    const disputes = (await disputesOf(depositId)).toSorted((a, b) => (a.reference < b.reference ? -1 : 1));
    expect(disputes.map(({ reason_code: code, acquirer_reason: words }) => [code, words])).toEqual(
      reasons.map((reason, i) => [reason, `Code ${i}`]),
    );
    const { body } = await payee.live.graph(
      `{ disputes(first: 20) { nodes { reference reasonCode acquirerReason } } }`,
    );
    expect(body.data.disputes.nodes.filter(({ reference }: Json) => reference.startsWith('R-'))).toHaveLength(7);
  });

  it('takes them once the attempt is credited, and its opening has come, whatever comes first', async () => {
    const { checkout, id } = await attempted();
    const notYet = [503, 'service_unavailable'];
    expect(await refusedReport(opening(id))).toEqual(notYet);
    await send(paid(id));
    // Its success is known, and not carried out.
    expect(await refusedReport(opening(id))).toEqual(notYet);
    expect(await refusedReport(deciding(id, 'won'))).toEqual(notYet);
    await work();
    expect(await refusedReport(deciding(id, 'won'))).toEqual(notYet);
    expect((await send(opening(id))).status).toBe(200);
    expect((await send(deciding(id, 'won'))).status).toBe(200);
    const [{ id: depositId }] = (await depositsOf(payee.live, checkout.id)) as [Json];
    expect(await disputesOf(depositId)).toMatchObject([{ status: 'won' }]);
  });

  it('decides them once', async () => {
    const { id, depositId } = await credited();
    const early = await send(deciding(id, 'won'));
    expect([early.status, early.body.errors[0].code]).toEqual([503, 'service_unavailable']);
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
    expect(early.status).toBe(503);
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
    const refused = (more: object) => refusedReport(opening(id, more));
    expect(await refused({ amount: '999.00' })).toEqual([409, 'state_conflict']);
    expect(await refused({ amount: '1000.00', currency: 'USD' })).toEqual([409, 'state_conflict']);
    expect(await refused({ id: `${of}-2`, amount: '2000.00' })).toEqual([402, 'amount_exceeds_deposit']);
    // The operator's dispute under the reference is the same money.
    const opened = mutation('openDispute', 'OpenDisputeInput', 'dispute { id } unexplained { id amount covered }');
    const input = { id: depositId, amount: '1000.00', reasonCode: 'HIGH_RISK', reference: of };
    const [{ id: keptId }] = (await kept()) as [Json];
    const known = { dispute: null, unexplained: { id: keptId, amount: '-1000.00', covered: '0.00' } };
    expect((await data(ask(opened, { input }))).openDispute).toEqual(known);
    for (let i = 0; i < 2; i++) expect((await send(deciding(id, 'lost'))).status).toBe(200);
    expect(await refusedReport(deciding(id, 'won'))).toEqual([409, 'state_conflict']);
    expect(await kept()).toMatchObject([{ id: keptId, decision: 'LOST', status: 'OPEN' }]);

    await send({ type: 'refund.decided', data: { id: refundId, status: 'failed' } });
    expect(await kept()).toMatchObject([{ id: keptId, status: 'RESOLVED' }]);
    expect((await send(opening(id, { amount: '1000.00' }))).status).toBe(200);
    const covered = { ...known, unexplained: { ...known.unexplained, covered: '1000.00' } };
    expect((await data(ask(opened, { input }))).openDispute).toEqual(covered);
    expect(await must(payee.live.get(`/v1/deposits/${depositId}`))).toMatchObject({ status: 'completed' });
    const [paidBack] = await world.sql`select disputed from deposit where id = ${depositId}`;
    expect(paidBack).toEqual({ disputed: '100000' });
  });

  it('won of what nothing was left for, brings it back, and to the account what a refund had covered', async () => {
    // Nothing of it, a part of it and all of it was covered.
    for (const [first, fails, covered] of [
      ['1000.00', [], '0.00'],
      ['700.00', [1], '300.00'],
      ['1000.00', [0], '1000.00'],
    ] as const) {
      const { id, depositId } = await credited();
      const start = await inr();
      const refunds = [await refundOf(depositId, first)];
      if (first === '700.00') refunds.push(await refundOf(depositId));
      await send(opening(id, { amount: '1000.00' }));
      for (const n of fails) await refundEnds(refunds[n], 'failed');
      expect(await keptOf(depositId)).toMatchObject([{ amount: '-1000.00', covered, decision: null }]);
      const before = await inr();
      const reports = await Promise.all([1, 2, 3].map(() => send(deciding(id, 'won'))));
      expect(reports.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await keptOf(depositId)).toMatchObject([{ amount: '-1000.00', covered, ...won }]);
      const after = { ...before, pending: before.pending + Number(covered) };
      expect(await inr()).toEqual(after);
      expect((await send(deciding(id, 'won'))).status).toBe(200);
      expect((await send(opening(id, { amount: '1000.00' }))).status).toBe(200);
      expect(await refusedReport(deciding(id, 'lost'))).toEqual([409, 'state_conflict']);
      // A refund that fails later is the account's again.
      if (covered !== '1000.00') await refundEnds(refunds[0], 'failed');
      const { available, pending } = await inr();
      expect(available + pending).toBe(start.available + start.pending);
      expect(await keptOf(depositId)).toMatchObject([{ covered, ...won }]);
    }
  });

  it('won of what was more than was left, brings all of it back', async () => {
    const { id, depositId } = await credited();
    const refunded = await refundOf(depositId, '400.00');
    await send(opening(id, { amount: '1000.00' }));
    expect(await keptOf(depositId)).toMatchObject([{ amount: '-400.00', reason: 'BEYOND_DEPOSIT', decision: null }]);
    const before = await inr();
    for (let i = 0; i < 2; i++) expect((await send(deciding(id, 'won'))).status).toBe(200);
    expect(await keptOf(depositId)).toMatchObject([{ amount: '-400.00', covered: '0.00', ...won }]);
    expect(await inr()).toEqual({ ...before, pending: before.pending + 600 });
    await refundEnds(refunded, 'failed');
    expect(await keptOf(depositId)).toMatchObject([{ covered: '0.00', ...won }]);
    expect(await refusedReport(deciding(id, 'lost'))).toEqual([409, 'state_conflict']);
  });

  it('that no balance had is decided by the operator, too', async () => {
    const decide = (name: 'win' | 'lose', id: string) => {
      const [field, type] = name === 'win' ? ['winDispute', 'WinDisputeInput'] : ['loseDispute', 'LoseDisputeInput'];
      return ask(mutation(field, type, 'dispute { id } unexplained { id status decision }'), { input: { id } });
    };
    const { id, depositId } = await credited();
    await refundOf(depositId);
    await send(opening(id, { amount: '1000.00' }));
    const [{ id: keptId }] = (await keptOf(depositId)) as [Json];
    const decided = { dispute: null, unexplained: { id: keptId, status: 'RESOLVED', decision: 'WON' } };
    for (let i = 0; i < 2; i++) expect((await data(decide('win', keptId))).winDispute).toEqual(decided);
    expect((await decide('lose', keptId)).body.errors[0].extensions.code).toBe('STATE_CONFLICT');
    expect((await send(deciding(id, 'won'))).status).toBe(200);
    expect((await decide('win', 'unexplained_0')).body.errors[0].extensions.code).toBe('RESOURCE_MISSING');
    // What an acquirer took beyond an attempt is no dispute.
    const other = await attempted();
    await send(paid(other.id, '1200.00'));
    await work();
    const beyond = (await listed(payee.tenantId)).find(({ transactionId }) => transactionId === other.id);
    expect((await decide('win', beyond.id)).body.errors[0].extensions.code).toBe('STATE_CONFLICT');
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

  it('of an attempt in another currency is unexplained, as what it took is, and is won or lost', async () => {
    const { id } = await attempted();
    // It has taken nothing yet.
    const early = opening(id, { amount: '12.00', currency: 'USD' });
    expect(await refusedReport(early)).toEqual([503, 'service_unavailable']);
    await send(paid(id, '12.00', 'USD'));
    await work();
    const credit = await credited();
    await send(opening(credit.id));
    const before = await balances();
    const of = { amount: '12.00', currency: 'USD' };
    const rowsOf = async () =>
      (await listed(payee.tenantId)).filter(({ transactionId }) => transactionId === id).toReversed();
    const disputes = await Promise.all([1, 2, 3].map(() => send(opening(id, of))));
    expect(disputes.map(({ status }) => status)).toEqual([200, 200, 200]);
    const took = { amount: '12.00', currency: 'USD', reason: 'OTHER_CURRENCY', status: 'OPEN', depositId: null };
    const lost = { ...took, amount: '-12.00', covered: '0.00', reason: 'RECORDED', decision: null };
    expect(await rowsOf()).toMatchObject([took, lost]);
    const [row] = await world.sql`select reference, note from unexplained where transaction_id = ${id} and amount < 0`;
    expect(row).toEqual({ reference: `D-${id}`, note: 'Chargeback, high_risk: 10.4 Card absent' });
    // Another amount, currency or attempt under the reference, more than it took, and what the operator records.
    const refused = (more: object) => refusedReport(opening(id, { ...of, ...more }));
    expect(await refused({ amount: '11.00' })).toEqual([409, 'state_conflict']);
    expect(await refused({ currency: 'INR' })).toEqual([409, 'state_conflict']);
    expect(await refused({ id: 'D-more', amount: '12.01' })).toEqual([402, 'amount_exceeds_deposit']);
    expect(await refusedReport(opening(credit.id, { id: `D-${id}` }))).toEqual([409, 'state_conflict']);
    expect(await refused({ id: `D-${credit.id}` })).toEqual([409, 'state_conflict']);
    const opened = mutation('openDispute', 'OpenDisputeInput', 'dispute { id } unexplained { id amount currency }');
    const input = { id, amount: '12.00', reasonCode: 'HIGH_RISK', reference: `D-${id}` };
    const [, { id: keptId }] = (await rowsOf()) as [Json, Json];
    const known = { dispute: null, unexplained: { id: keptId, amount: '-12.00', currency: 'USD' } };
    expect((await data(ask(opened, { input }))).openDispute).toEqual(known);
    const decided = await Promise.all([1, 2, 3].map(() => send(deciding(id, 'won'))));
    expect(decided.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await rowsOf()).toMatchObject([took, { ...lost, ...won }]);
    expect(await refusedReport(deciding(id, 'lost'))).toEqual([409, 'state_conflict']);
    // By the operator, by default of all that it took, and lost: what it took back stays as it is.
    const second = { id, reasonCode: 'GENERAL', reference: `D-${id}-2` };
    const {
      openDispute: { unexplained },
    } = await data(ask(opened, { input: second }));
    expect(unexplained).toEqual({ ...known.unexplained, id: expect.not.stringMatching(keptId) });
    const deciding2 = mutation('loseDispute', 'LoseDisputeInput', 'unexplained { status decision }');
    const lose = { input: { id: unexplained.id } };
    expect((await data(ask(deciding2, lose))).loseDispute.unexplained).toEqual({ status: 'OPEN', decision: 'LOST' });
    expect((await send(deciding(id, 'lost', { id: `D-${id}-2` }))).status).toBe(200);
    expect(await rowsOf()).toMatchObject([took, { ...lost, ...won }, { ...lost, decision: 'LOST' }]);
    const refusedInput = (more: object) => ask(opened, { input: { ...second, reference: 'D-other', ...more } });
    const codeOf = async (more: object) => (await refusedInput(more)).body.errors[0].extensions.code;
    expect(await codeOf({ amount: '12.01' })).toBe('AMOUNT_EXCEEDS_DEPOSIT');
    expect(await codeOf({ id: 'transaction_0' })).toBe('RESOURCE_MISSING');
    expect(await codeOf({ id: credit.id })).toBe('STATE_CONFLICT');
    const [outside] = await world.sql`
      select sum(c.amount) filter (where c.contra = 'acquirer')::int as acquirer,
        sum(c.amount) filter (where c.contra = 'dispute')::int as dispute,
        sum(c.amount) filter (where c.contra = 'unexplained')::int as unexplained
      from unexplained u
      join posting p on (p.tenant_id, p.cause) = (u.tenant_id, u.id)
      join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
      where u.transaction_id = ${id}`;
    expect(outside).toEqual({ acquirer: -1_200, dispute: 1_200, unexplained: 0 });
    expect(await balances()).toEqual(before);
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
    const failed = await attempted();
    await send(declined(failed.id));
    await work();
    const before = await stored();
    const refused = refusedReport;
    expect(await refused(opening(failed.id))).toEqual([409, 'state_conflict']);
    expect(await refused(deciding(failed.id, 'won'))).toEqual([404, 'resource_missing']);
    expect(await refused(opening('transaction_0'))).toEqual([404, 'resource_missing']);
    const wrong = [
      ...[{ amount: '0.00' }, { amount: '1' }, { reason_code: 'fraud' }, { reason: '' }, { id: 'x'.repeat(256) }],
      ...['-1.00', '1e3', '10.005', '99999999999999.00', ''].map((amount) => ({ amount })),
      ...[{ respond_by: 'soon' }, { respond_by: '9999-01-01T00:00:00Z' }, { currency: 'JPY', amount: '1.50' }],
    ];
    for (const each of wrong) expect(await refused(opening(id, each))).toEqual([400, 'body_invalid']);
    expect(await refused(deciding(id, 'accepted'))).toEqual([400, 'body_invalid']);
    expect(await stored()).toEqual(before);
  });
});
