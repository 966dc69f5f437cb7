import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { unknownId } from '../support/bodies.js';
import { payeesIn, submit } from '../support/checkout-fixture.js';
import { payOutLive } from '../support/jobs.js';
import { scale, seedsOf } from '../support/scale.js';
import { must, nickname, payoutAddress, Speaker, tenantOf, useWorld, withLiveAcquirer } from '../support/world.js';
import { banksIn, depositsOf, money, pendingOf, type Receiver, reversed } from './bank-fixture.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';
import { receivableBody } from '../support/bodies.js';
import { createOperator } from '../../src/operator/access/operators.js';
import { approveAdjustment, proposeAdjustment } from '../../src/operator/money/adjustments.js';
import { resolveUnexplained } from '../../src/operator/money/unexplained.js';
import { recordBankNotice } from '../../src/operator/money/bank.js';
import { openDispute } from '../../src/operator/money/disputes.js';
import { endRefund } from '../../src/operator/money/refunds.js';
import type { BankNotice } from '../../src/operator/money/notice.js';

// No worker: tests make live payouts with `payOut`.
const world = useWorld({ worker: false, environment: { OPERATOR_KEY }, acquirers: withLiveAcquirer });
const { reference, receiver, partnerOf, recordNotice, received } = banksIn(world);
const { ask, data } = operatorIn(world);
const payees = payeesIn(world);

auditLedger(world);

const recalled = ({ reference: originalReference, addressId, currency }: BankNotice, amount: bigint, more = {}) => ({
  ...{ reference: reference(), event: 'recalled' as const, addressId, amount, currency, originalReference },
  ...more,
});
const unexplainedOf = ({ row }: Receiver) =>
  world.sql`select amount, covered, status from unexplained where tenant_id = ${row.tenantId}`;
const refusal = (code: string, field: string) => ({ problems: [{ code, field }] });

describe('a recall of a part', () => {
  it('is a deposit with a negative amount, once, and a reversal takes the rest', async () => {
    const to = await receiver(1);
    const notice = received(to, { amount: 10_000n });
    const { deposit } = await recordNotice(notice);
    const recall = recalled(notice, 4_000n, { reasonCode: 'incorrect_amount' });

    const taken = await recordNotice(recall);

    expect([taken.reference, taken.event]).toEqual([recall.reference, 'recalled']);
    expect((await to.live.get(`/v1/deposits/${taken.deposit!.id}`)).body).toMatchObject({
      ...{ amount: '-40.00', currency: 'USD', status: 'completed', reason_code: 'incorrect_amount', livemode: true },
      to: { account_id: to.live.id, address_id: to.addressId },
    });
    const graph = await to.live.graph(`{ node(id: "${taken.deposit!.id}") { ... on Deposit {
      disputedDeposit { id disputed } bankDetails { reference payer { name } text } } } }`);
    expect(graph.body.data.node).toEqual({
      disputedDeposit: { id: deposit!.id, disputed: '40.00' },
      bankDetails: { reference: recall.reference, payer: null, text: null },
    });
    for (const again of [
      recall,
      { ...recall, reference: ` ${recall.reference}\n` },
      { ...recall, reasonCode: undefined },
    ])
      expect((await recordNotice(again)).deposit!.id).toBe(taken.deposit!.id);
    await recordNotice(recalled(notice, 1_000n));
    expect(await pendingOf(to.live)).toEqual(money('50.00'));

    await recordNotice(reversed(notice));
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    expect((await depositsOf(to.live)).map((d) => [d.amount, d.status])).toEqual([
      ['-10.00', 'completed'],
      ['-40.00', 'completed'],
      ['100.00', 'reversed'],
    ]);
    await expect(recordNotice(recalled(notice, 1n))).rejects.toMatchObject(refusal('status_invalid', 'deposit.status'));
    expect((await recordNotice(recall)).deposit!.id).toBe(taken.deposit!.id);
  });

  it('beside a refund that fails later takes the money of the refund, too', async () => {
    const to = await receiver(1);
    const notice = received(to, { amount: 10_000n });
    const { deposit } = await recordNotice(notice);
    const refund = await must(to.live.post('/v1/refunds', { deposit_id: deposit!.id, amount: '40.00' }));
    const taken = await recordNotice(recalled(notice, 10_000n));
    expect(taken.deposit!.amount).toBe(-6_000n);
    await endRefund(world.operator, refund.id, 'failed', {});
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    const amounts = (await depositsOf(to.live)).map(({ amount }) => amount);
    expect(amounts.toSorted()).toEqual(['-40.00', '-60.00', '100.00']);
    expect(await unexplainedOf(to)).toEqual([{ amount: '-4000', covered: '4000', status: 'resolved' }]);
  });

  it.each(['succeeded', 'failed'] as const)(
    'by a reversal beside a refund that has %s is all explained',
    async (end) => {
      const to = await receiver(1);
      const notice = received(to, { amount: 10_000n });
      const { deposit } = await recordNotice(notice);
      const refund = await must(to.live.post('/v1/refunds', { deposit_id: deposit!.id, amount: '40.00' }));
      await recordNotice(reversed(notice));
      // The bank has taken 100.00, of which 40.00 are on their way to the payer.
      expect(await unexplainedOf(to)).toEqual([{ amount: '-4000', covered: '0', status: 'open' }]);
      await endRefund(world.operator, refund.id, end, {});
      expect(await pendingOf(to.live)).toEqual(money('0.00'));
      expect(await unexplainedOf(to)).toMatchObject([
        end === 'failed' ? { covered: '4000', status: 'resolved' } : { covered: '0', status: 'open' },
      ]);
    },
  );

  it('beside a refund leaves a reversal the rest, and a refund that fails covers both', async () => {
    const to = await receiver(1);
    const notice = received(to, { amount: 10_000n });
    const { deposit } = await recordNotice(notice);
    const refund = await must(to.live.post('/v1/refunds', { deposit_id: deposit!.id, amount: '40.00' }));
    await recordNotice(recalled(notice, 8_000n));
    await recordNotice(reversed(notice));
    const rows = async () => (await unexplainedOf(to)).map(({ amount, covered }) => `${amount} ${covered}`);
    expect(await rows()).toEqual(['-2000 0', '-2000 0']);
    await endRefund(world.operator, refund.id, 'failed', {});
    expect(await rows()).toEqual(['-2000 2000', '-2000 2000']);
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
  });

  it('that its bank gives up is a new receipt, and what its refunds had paid stays with the operator', async () => {
    const to = await receiver(1);
    const notice = received(to, { amount: 10_000n });
    const { deposit } = await recordNotice(notice);
    const refund = await must(to.live.post('/v1/refunds', { deposit_id: deposit!.id, amount: '40.00' }));
    await endRefund(world.operator, refund.id, 'succeeded', {});
    await recordNotice(reversed(notice));
    const [row] = await world.sql`select id from unexplained where tenant_id = ${to.row.tenantId}`;
    const again = await recordNotice(received(to, { amount: 10_000n }));
    expect([await unexplainedOf(to), await pendingOf(to.live)]).toEqual([
      [{ amount: '-4000', covered: '0', status: 'open' }],
      money('100.00'),
    ]);
    // The account has 40.00 more than it would have without the reversal.
    const receivable = await must(to.live.post('/v1/receivables', receivableBody({ amount: '100.00' })));
    const receivables = [{ id: receivable.id, amount: '100.00' }];
    await must(to.live.post(`/v1/deposits/${again.deposit!.id}/reconcile`, { receivables }));
    const [ann, ben] = await Promise.all(
      [nickname(), nickname()].map((name) => createOperator(world.operator, name, 'operate', 'a test')),
    );
    const correction = { reason: 'Reversal given up', debit: { amount: 4_000n, currency: 'USD' } };
    const given = { accountId: to.row.id, livemode: true, ...correction };
    const { id } = await proposeAdjustment(world.operator, given, ann!.operator);
    await approveAdjustment(world.operator, id, ben!.operator);
    expect((await must(to.live.get('/v1/balance'))).available).toEqual(money('60.00'));
    await resolveUnexplained(world.operator, row!.id, `Given up, ${id}`, 'Ann');
    expect(await unexplainedOf(to)).toEqual([{ amount: '-4000', covered: '0', status: 'resolved' }]);
  });

  it('of everything leaves a reversal nothing to take', async () => {
    const to = await receiver(1);
    const notice = received(to);
    await recordNotice(notice);
    await recordNotice(recalled(notice, 1_000n));
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    const { deposit } = await recordNotice(reversed(notice));
    expect(deposit!.status).toBe('reversed');
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
  });

  it('takes what is pending first, then available money below zero, and nothing from a payout in flight', async () => {
    const to = await receiver(2);
    await payoutAddress(to.live);
    const notice = received(to);
    const { deposit } = await recordNotice(notice);
    const { id } = await must(to.live.post('/v1/receivables', receivableBody({ amount: '6.00', currency: 'INR' })));
    await must(to.live.post(`/v1/deposits/${deposit!.id}/reconcile`, { receivables: [{ id, amount: '6.00' }] }));
    await payOutLive(to.live);

    await recordNotice(recalled(notice, 500n));

    expect((await to.live.get('/v1/balance')).body).toMatchObject({
      available: money('-1.00', 'INR'),
      pending: money('0.00', 'INR'),
      payout_processing: money('6.00', 'INR'),
    });
  });

  it("takes what came to a partner's address from the partner", async () => {
    const to = await receiver(1);
    const partner = await partnerOf(to);
    const notice = received(to, { addressId: partner.addressId });
    await recordNotice(notice);
    await recordNotice(recalled(notice, 300n));
    expect(await pendingOf(to.live, partner.id)).toEqual(money('7.00'));
  });

  const cases: [what: string, more: (to: Receiver) => Partial<BankNotice>, code: string, field: string][] = [
    ['of nothing', () => ({ amount: 0n }), 'parameter_invalid', 'amount'],
    ['of less than nothing', () => ({ amount: -1n }), 'parameter_invalid', 'amount'],
    ['of more than was received', () => ({ amount: 1_001n }), 'amount_exceeds_deposit', 'amount'],
    ['in another currency', () => ({ currency: 'EUR' }), 'state_conflict', 'currency'],
    ['of part of a yen', () => ({ currency: 'JPY', amount: 150n }), 'parameter_invalid', 'amount'],
    [
      'of a transfer that was not received',
      () => ({ originalReference: 'UTR?' }),
      'resource_missing',
      'original_reference',
    ],
    ['that names no transfer', () => ({ originalReference: undefined }), 'parameter_missing', 'original_reference'],
    ['that names white space', () => ({ originalReference: ' \t' }), 'parameter_invalid_empty', 'original_reference'],
    ['without a reference', () => ({ reference: ' ' }), 'parameter_invalid_empty', 'reference'],
    ['with a reference that is too long', () => ({ reference: 'x'.repeat(256) }), 'parameter_invalid', 'reference'],
    ['with a control character', () => ({ reference: 'A\u0001B' }), 'parameter_invalid', 'reference'],
    ['with an invisible character', () => ({ reference: 'A\u200BB' }), 'parameter_invalid', 'reference'],
    ['with NUL', () => ({ reference: 'A\u0000B' }), 'parameter_invalid', 'reference'],
    ['at an unknown address', () => ({ addressId: unknownId('address') }), 'resource_missing', 'address_id'],
    ['with words about the payer', () => ({ text: 'INV 7' }), 'parameter_invalid', 'text'],
    ['with a payer', (to) => ({ fromAccountId: to.live.id }), 'parameter_invalid', 'from_account_id'],
  ];
  describe('that is refused and takes nothing:', () => {
    let to: Receiver;
    let notice: BankNotice;
    beforeAll(async () => {
      to = await receiver(1);
      notice = received(to);
      await recordNotice(notice);
      await recordNotice(recalled(notice, 400n));
    });

    it.each(cases)('%s', async (_, more, code, name) => {
      await expect(recordNotice({ ...recalled(notice, 100n), ...more(to) })).rejects.toMatchObject(
        refusal(code, `deposit.${name}`),
      );
      expect(await pendingOf(to.live)).toEqual(money('6.00'));
    });

    it('with other content under its reference, and under the reference of the transfer', async () => {
      const to = await receiver(1);
      const notice = received(to);
      await recordNotice(notice);
      const recall = recalled(notice, 100n, { reasonCode: 'duplicate' });
      await recordNotice(recall);
      const conflict = refusal('state_conflict', 'deposit.reference');
      const other = received(to);
      await recordNotice(other);
      for (const more of [{ amount: 99n }, { reasonCode: 'general' as const }, { originalReference: other.reference }])
        await expect(recordNotice({ ...recall, ...more })).rejects.toMatchObject(conflict);
      await expect(recordNotice({ ...recall, reference: notice.reference })).rejects.toMatchObject(conflict);
      expect(await pendingOf(to.live)).toEqual(money('19.00'));
    });

    it('at another address than the transfer', async () => {
      const { addressId } = await partnerOf(to);
      await expect(recordNotice({ ...recalled(notice, 1n), addressId })).rejects.toMatchObject(
        refusal('state_conflict', 'deposit.address_id'),
      );
    });

    it('that was reported before its transfer, or by members of another event', async () => {
      const waiting = received(to);
      await recordNotice(reversed(waiting));
      await expect(recordNotice(recalled(waiting, 1n))).rejects.toMatchObject(
        refusal('resource_missing', 'deposit.original_reference'),
      );
      for (const more of [{ originalReference: 'UTR' }, { reasonCode: 'general' as const }])
        await expect(recordNotice(received(to, more))).rejects.toMatchObject({
          problems: [{ code: 'parameter_invalid' }],
        });
    });

    it('of another tenant', async () => {
      const outsider = await receiver(1);
      await expect(recordNotice({ ...recalled(notice, 1n), addressId: outsider.addressId })).rejects.toMatchObject(
        refusal('resource_missing', 'deposit.original_reference'),
      );
    });
  });

  it('has a reference of 255 characters at most, without the white space around it', async () => {
    const to = await receiver(1);
    const notice = received(to, { reference: 'R'.repeat(255) });
    await recordNotice({ ...notice, reference: `\u00A0${notice.reference}\t` });
    const recall = recalled(notice, 100n, { reference: 'é'.repeat(255) });
    const { deposit } = await recordNotice({ ...recall, reference: `${recall.reference} ` });
    expect((await recordNotice(recall)).deposit!.id).toBe(deposit!.id);
    expect((await must(to.live.get(`/v1/deposits/${deposit!.id}/bank_details`))).reference).toBe(recall.reference);
    expect(await pendingOf(to.live)).toEqual(money('9.00'));
  });

  it('takes money once when two gateways record it at once', async () => {
    const to = await receiver(1);
    const notice = received(to);
    await recordNotice(notice);
    const origins = [world.origin, await world.another({ environment: { OPERATOR_KEY } })];
    const recall = recalled(notice, 300n);
    const { originalReference, addressId, currency } = recall;
    const input = { reference: recall.reference, event: 'RECALLED', originalReference, addressId, currency };
    const query = mutation(
      'recordBankNotice',
      'RecordBankNoticeInput',
      'notice { event amount deposit { id amount } }',
    );
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        new Speaker({ ...world, origin: origins[n % 2]! }, '', OPERATOR_KEY, 1).post('/operator/graphql', {
          query,
          variables: { input: { ...input, amount: '3.00' } },
        }),
      ),
    );
    const notices = replies.map(({ body }) => body.data.recordBankNotice.notice);
    expect(new Set(notices.map(({ deposit }) => deposit.id)).size).toBe(1);
    expect(notices[0]).toMatchObject({ event: 'RECALLED', amount: '3.00', deposit: { amount: '-3.00' } });
    expect(await pendingOf(to.live)).toEqual(money('7.00'));
  });

  it('takes money once when its first attempt died before its commit, or its answer was lost', async () => {
    const to = await receiver(1);
    const notice = received(to);
    await recordNotice(notice);
    const recall = recalled(notice, 300n);
    const content = { toAccountId: to.live.id, toAddressId: to.addressId, amount: '300', currency: 'USD' };
    const args = { reference: recall.reference, originalReference: notice.reference, content };
    // To the database, a gateway that dies before its commit is a transaction that ends without one.
    const died = world.sql.begin(async (sql) => {
      await sql`select * from record_bank_recall(
        ${tenantOf(to.live)}, true, '{}', ${JSON.stringify(args)}::text::jsonb)`;
      throw new Error('the gateway died');
    });
    await expect(died).rejects.toThrow('the gateway died');
    expect(await pendingOf(to.live)).toEqual(money('10.00'));
    const { deposit } = await recordNotice(recall);
    expect((await recordNotice(recall)).deposit!.id).toBe(deposit!.id);
    expect(await pendingOf(to.live)).toEqual(money('7.00'));
  });
});

const dispute = mutation(
  'openDispute',
  'OpenDisputeInput',
  'dispute { id amount reasonCode status tenantId debitDepositId }',
);

describe('a chargeback that the operator records', () => {
  it('disputes a live deposit once, by default all that is left', async () => {
    const to = await receiver(1);
    const { deposit } = await recordNotice(received(to));
    const input = { id: deposit!.id, reasonCode: 'HIGH_RISK', reference: reference() };
    const key = { 'idempotency-key': randomUUID() };
    const part = { ...input, reference: reference(), amount: '4.00' };
    const first = (await data(ask(dispute, { input: part }, key))).openDispute.dispute;
    expect(first).toMatchObject({ amount: '4.00', reasonCode: 'HIGH_RISK', status: 'NEEDS_RESPONSE' });
    for (const headers of [key, {}, { 'idempotency-key': randomUUID() }])
      expect((await data(ask(dispute, { input: part }, headers))).openDispute.dispute).toEqual(first);
    const rest = (await data(ask(dispute, { input: { ...input, tenantId: to.live.id } }))).openDispute.dispute;
    expect(rest.amount).toBe('6.00');
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    for (const more of [{ amount: '5.00' }, { reasonCode: 'GENERAL' }, { id: first.debitDepositId }])
      expect((await ask(dispute, { input: { ...input, ...more } })).codes).toEqual(['state_conflict']);

    const log = await data(
      ask(`query ($id: ID!) { operatorActions(objectId: $id) { nodes { operation outcome resultId details } } }`, {
        id: deposit!.id,
      }),
    );
    expect(log.operatorActions.nodes).toContainEqual(
      expect.objectContaining({ operation: 'openDispute', outcome: 'SUCCEEDED', resultId: first.id }),
    );
  });

  it("disputes a checkout's deposit, which has no reference of a bank", async () => {
    const payee = await payees.open();
    const checkout = await payee.checkoutFixture({ speaker: payee.live, partnerId: await payee.goLive() });
    expect((await submit(`${checkout.url}/upi`, { attempt: `${randomUUID()}-upi` })).status).toBe(303);
    const [{ id }] = await payee.attempts(checkout);
    await world.sql`select settle_transaction(${payee.tenantId}, true, '{}', ${id}, 'succeeded', null)`;
    const [paid] = await depositsOf(payee.live);
    expect([paid.status, paid.amount]).toEqual(['completed', '1000.00']);
    expect((await payee.live.get(`/v1/deposits/${paid.id}/bank_details`)).status).toBe(404);
    const input = { id: paid.id, amount: '250.00', reasonCode: 'UNMATCHED_DETAILS', reference: 'CB-1' };
    const taken = (await data(ask(dispute, { input }))).openDispute.dispute;
    expect((await payee.live.get('/v1/balance')).body.available).toEqual(money('750.00', 'INR'));
    const [receivable] = await world.sql`select amount_locked::text as locked from receivable
      where id = ${checkout.receivableIds[0]!}`;
    expect(receivable!.locked).toBe('75000');
    expect((await must(payee.live.get(`/v1/deposits/${taken.debitDepositId}/bank_details`))).reference).toBe('CB-1');
  });

  it('is refused for what is no live deposit that is completed, and for more than is left', async () => {
    const to = await receiver(1);
    const notice = received(to);
    const { deposit } = await recordNotice(notice);
    const ofTest = await must(to.test.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));
    const good = { id: deposit!.id, reasonCode: 'general' as const, reference: reference() };
    const given = (more: Partial<typeof good> & { amount?: bigint; respondBy?: number }) =>
      openDispute(world.operator, { ...good, ...more });
    await expect(given({ id: ofTest.id })).rejects.toMatchObject(refusal('parameter_invalid', 'deposit.id'));
    await expect(given({ id: unknownId('deposit') })).rejects.toMatchObject(refusal('resource_missing', 'deposit.id'));
    await expect(given({ amount: 1_001n })).rejects.toMatchObject(refusal('amount_exceeds_deposit', 'deposit.amount'));
    for (const amount of [0n, -1n])
      await expect(given({ amount })).rejects.toMatchObject(refusal('parameter_invalid', 'deposit.amount'));
    for (const bad of ['x'.repeat(256), 'A\u0007B'])
      await expect(given({ reference: bad })).rejects.toMatchObject(refusal('parameter_invalid', 'deposit.reference'));
    await expect(given({ reference: reference(), respondBy: 1_577_836_800 })).rejects.toMatchObject(
      refusal('parameter_invalid', 'dispute.respond_by'),
    );
    const taken = (await given({ amount: 1n })).dispute!;
    // The same again is what it was, when the moment has passed.
    expect((await given({ amount: 1n, respondBy: 1_577_836_800 })).dispute!.id).toBe(taken.id);
    await expect(given({ id: taken.debitDepositId, reference: reference() })).rejects.toMatchObject(
      refusal('status_invalid', 'deposit.status'),
    );
    await recordNotice(reversed(notice));
    await expect(given({ reference: reference() })).rejects.toMatchObject(refusal('status_invalid', 'deposit.status'));
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
    const yen = received(to, { amount: 50_000n, currency: 'JPY', allowCurrency: true });
    const { deposit: inYen } = await recordNotice(yen);
    await expect(given({ id: inYen!.id, reference: reference(), amount: 150n })).rejects.toMatchObject(
      refusal('parameter_invalid', 'deposit.amount'),
    );
  });
});

describe.each(seedsOf('api/bank-recall'))('histories of what banks and acquirers take back, seed %i', (seed) => {
  it('leave the money that arrived and was not taken back', async () => {
    const to = await receiver(1);
    const act = fc.record({
      what: fc.constantFrom('recall', 'recall', 'recall', 'chargeback', 'again', 'again', 'reverse'),
      transfer: fc.nat(3),
      share: fc.integer({ min: 1, max: 12 }),
    });
    const history = fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 30 }), async (acts) => {
      const before = pence(await pendingOf(to.live));
      const transfers = Array.from({ length: 4 }, (_, n) => ({
        notice: received(to, { amount: BigInt(n * 700 + 300) }),
      }));
      const state: { id: string; left: bigint; open: boolean }[] = [];
      for (const { notice } of transfers) {
        const { deposit } = await recordNotice(notice);
        state.push({ id: deposit!.id, left: notice.amount, open: true });
      }
      const done: (() => Promise<string>)[] = [];
      for (const { what, transfer, share } of acts) {
        const [{ notice }, at] = [transfers[transfer]!, state[transfer]!];
        if (what === 'again') {
          const same = done[share % Math.max(done.length, 1)];
          if (same) await same();
        } else if (what === 'reverse') {
          if (share > 3) continue;
          expect((await recordNotice(reversed(notice))).deposit!.status).toBe('reversed');
          Object.assign(at, { left: 0n, open: false });
        } else {
          // A share beyond ten tenths is more than there is.
          const amount = (notice.amount * BigInt(share)) / 10n;
          const recall = recalled(notice, amount);
          const take =
            what === 'recall'
              ? async () => {
                  const { deposit, unexplained } = await recordBankNotice(world.operator, recall);
                  return (deposit ?? unexplained!).id;
                }
              : async () => {
                  const { reference: of } = recall;
                  const given = { id: at.id, amount, reasonCode: 'general' as const, reference: of };
                  const { dispute: opened, unexplained } = await openDispute(world.operator, given);
                  return (opened ?? unexplained).id;
                };
          const tooMuch = amount > notice.amount && 'amount_exceeds_deposit';
          const expected = at.open ? tooMuch : 'status_invalid';
          if (expected) await expect(take()).rejects.toMatchObject({ problems: [{ code: expected }] });
          else {
            const id = await take();
            // What is beyond it is unexplained.
            at.left -= amount < at.left ? amount : at.left;
            done.push(async () => {
              const again = await take();
              expect(again).toBe(id);
              return again;
            });
          }
        }
        expect(pence(await pendingOf(to.live)) - before).toBe(state.reduce((sum, { left }) => sum + left, 0n));
      }
    });
    await fc.assert(history, { seed, numRuns: Math.max(3, Math.min(20, scale.histories.runs)) });
  });
});

const pence = ([funds]: Json[]) => BigInt(funds.amount.replace('.', ''));
