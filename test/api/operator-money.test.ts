import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { auditLedger as auditAtTheEnd } from '../support/audit.js';
import { accountSettingV1 } from '../../src/resources/account-setting/v1.js';
import { depositV1 } from '../../src/resources/deposit/v1.js';
import { payoutV1 } from '../../src/resources/payout/v1.js';
import { currencyOf, unknownId } from '../support/bodies.js';
import { payOutLive } from '../support/jobs.js';
import { type Edition, givenIn, must, nickname, payoutAddress, Speaker, tenantOf, useWorld } from '../support/world.js';
import {
  agrees,
  issue,
  type Json,
  mutation,
  OPERATOR_KEY,
  operatorIn,
  place,
  setting,
  verify,
} from './operator-fixture.js';
import { operatorDeposit, recordBankNotice } from '../../src/operator/money/bank.js';
import { payoutOf as storedPayout, setServiceHold } from '../../src/operator/money/payouts.js';
import { auditLedger, verifySeals } from '../../src/operator/money/audit.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY, INTROSPECTION: 'false' } });
const given = givenIn(world);
const { ask, data } = operatorIn(world);

auditAtTheEnd(world);

const money = (amount: string, currency = 'USD') => [{ amount, currency }];
let count = 0;
const reference = () => `OPS${String(++count).padStart(8, '0')}`;

const depositFields = `id created livemode tenantId amount currency fromAccountId toAccountId toAddressId paymentMethod
  statementDescriptor status reasonCode pendingRest`;
const payoutFields =
  'id created livemode tenantId accountId addressId amount currency status sourceAmount sourceCurrency rate';
const notice = mutation(
  'recordBankNotice',
  'RecordBankNoticeInput',
  `notice { reference event deposit { ${depositFields} } }`,
);
const reconcile = mutation('reconcileDeposit', 'ReconcileDepositInput', `deposit { ${depositFields} }`);
const settle = mutation('settlePayout', 'SettlePayoutInput', `payout { ${payoutFields} }`);
const giveBack = mutation('returnPayout', 'ReturnPayoutInput', `payout { ${payoutFields} reasonCode bankReference }`);
const fail = mutation('failPayout', 'FailPayoutInput', `payout { ${payoutFields} }`);

const lift = mutation('liftServiceHold', 'LiftServiceHoldInput', setting);
const withdraw = mutation('withdrawBankNotice', 'WithdrawBankNoticeInput', 'notice { reference event amount }');
const setRate = mutation('setRate', 'SetRateInput', 'rate { tenantId source target rate }');

interface Receiver {
  live: Speaker;
  test: Speaker;
  addressId: string;
}

/**
 * A direct user that the operator has activated in live mode, with an address that its bank has issued, all through
 * the graph.
 */
async function receiver(edition: Edition = 1): Promise<Receiver> {
  const { live, test } = await given.directUserBoth(edition);
  await data(ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } }));
  const issued = await data(
    ask(issue, {
      input: { accountId: live.id, currency: currencyOf[edition], bankAccount: { number: '000123456789' } },
    }),
  );
  return { live, test, addressId: issued.issueAddress.address.id };
}

const received = (to: Receiver, more: object = {}) => ({
  input: {
    reference: reference(),
    addressId: to.addressId,
    amount: '10.00',
    currency: currencyOf[to.live.edition],
    ...more,
  },
});

async function receivableOf({ live }: Receiver, amount: string): Promise<string> {
  const currency = currencyOf[live.edition];
  const invoice = {
    amount,
    currency,
    creation_date: '2026-10-01',
    due_date: '2026-12-01',
    reference_number: nickname(),
  };
  const body = { currency, invoice, purpose_code: 'P0802', transaction_type: 'services' };
  return (await must(live.post('/v1/receivables', body))).id;
}

const pendingOf = async (speaker: Speaker) => (await speaker.get('/v1/balance')).body.pending;
const depositsOf = async (speaker: Speaker): Promise<Json[]> => (await speaker.get('/v1/deposits')).body.data;

/** A payout in progress, from a deposit that a bank reported and the operator reconciled. */
async function payoutOf(to: Receiver, amount = '10.00'): Promise<Json> {
  await payoutAddress(to.live);
  const { recordBankNotice } = await data(ask(notice, received(to, { amount })));
  const receivables = [{ id: await receivableOf(to, amount), amount }];
  await data(ask(reconcile, { input: { id: recordBankNotice.notice.deposit.id, receivables } }));
  await payOutLive(to.live);
  return (await to.live.get('/v1/payouts')).body.data[0];
}

describe('a bank notice', () => {
  it('in another currency than its address, or by the other edition’s method, is refused unless allowed', async () => {
    const to = await receiver(1);
    const input = received(to, { currency: 'EUR', paymentMethod: 'UPI' }).input;
    const method = await ask(notice, { input });
    expect([method.codes, method.fieldNames]).toEqual([['parameter_invalid'], ['deposit.payment_method']]);
    expect(method.body.errors[0].extensions.argumentPath).toEqual(['input', 'paymentMethod']);
    const inEuros = { ...input, paymentMethod: 'GLOBAL_WIRE' };
    for (const more of [{}, { allowCurrency: false }, { allowCurrency: null }]) {
      const reply = await ask(notice, { input: { ...inEuros, ...more } });
      expect([reply.codes, reply.fieldNames]).toEqual([['parameter_invalid'], ['deposit.currency']]);
      expect(reply.body.errors[0].extensions.argumentPath).toEqual(['input', 'currency']);
    }
    expect((await to.live.get('/v1/deposits')).body.data).toEqual([]);
    const { deposit } = (await data(ask(notice, { input: { ...inEuros, allowCurrency: true } }))).recordBankNotice
      .notice;
    expect([deposit.currency, deposit.status, deposit.paymentMethod]).toEqual(['EUR', 'COMPLETED', 'GLOBAL_WIRE']);
  });

  it('creates a deposit, equal to that of the Operator class and of /v1', async () => {
    const to = await receiver();
    const partner = await to.live.partner();
    const input = received(to, {
      ...{ amount: '1234.56', fromAccountId: partner.id, paymentMethod: 'GLOBAL_WIRE', statementDescriptor: 'INV 7' },
    });

    const recorded = (await data(ask(notice, input))).recordBankNotice.notice;

    expect([recorded.reference, recorded.event]).toEqual([input.input.reference, 'RECEIVED']);
    const [deposit] = await depositsOf(to.live);
    agrees(recorded.deposit, deposit);
    expect(recorded.deposit).toMatchObject({
      ...{ tenantId: tenantOf(to.live), fromAccountId: partner.id, toAccountId: to.live.id, toAddressId: to.addressId },
      ...{ status: 'COMPLETED', amount: '1234.56', pendingRest: '1234.56', livemode: true },
    });
    for (const whose of ['', `, tenantId: "${recorded.deposit.tenantId}"`])
      expect(await data(ask(`{ deposit(id: "${deposit.id}"${whose}) { ${depositFields} } }`))).toEqual({
        deposit: recorded.deposit,
      });
    const elsewhere = await ask(`{ deposit(id: "${deposit.id}", tenantId: "0") { id } }`);
    expect([elsewhere.codes, elsewhere.fieldNames]).toEqual([['resource_missing'], ['deposit.id']]);
    // The command line calls the same function, for which the notice is already recorded.
    const again = await recordBankNotice(world.operator, {
      ...{
        reference: recorded.reference,
        event: 'received',
        addressId: to.addressId,
        amount: 123_456n,
        currency: 'USD',
      },
      ...{ fromAccountId: partner.id, paymentMethod: 'global_wire', statementDescriptor: 'INV 7' },
    });
    expect(depositV1(again.deposit!)).toEqual(deposit);
    expect(await depositsOf(to.live)).toHaveLength(1);
  });

  it('counts once when it is sent several times at once', async () => {
    const to = await receiver();
    const input = received(to);

    const recorded = await Promise.all(Array.from({ length: 16 }, () => data(ask(notice, input))));

    expect(new Set(recorded.map(({ recordBankNotice }) => recordBankNotice.notice.deposit.id)).size).toBe(1);
    expect([await pendingOf(to.live), (await depositsOf(to.live)).length]).toEqual([money('10.00'), 1]);
  });

  it('may come in any order: a reversal waits for its deposit, and both may be repeated and concurrent', async () => {
    const to = await receiver();
    const input = received(to);
    const back = { input: { ...input.input, event: 'REVERSED' } };

    expect((await data(ask(notice, back))).recordBankNotice.notice).toEqual({
      ...{ reference: input.input.reference, event: 'REVERSED', deposit: null },
    });
    const waits = {
      ...{ tenantId: tenantOf(to.live), addressId: to.addressId, reference: input.input.reference },
      ...{ amount: '10.00', currency: 'USD' },
    };
    const seen = (await data(ask('{ waitingBankNotices { tenantId addressId reference amount currency } }')))
      .waitingBankNotices;
    expect(seen.filter(({ tenantId }: any) => tenantId === waits.tenantId)).toEqual([waits]);
    // After its withdrawal nothing of it is left.
    const { addressId, reference } = waits;
    const withdrawn = await data(ask(withdraw, { input: { addressId, reference } }));
    expect(withdrawn.withdrawBankNotice.notice).toEqual({ reference, event: 'REVERSED', amount: '10.00' });
    const gone = await ask(withdraw, { input: { addressId, reference } });
    expect([gone.codes, gone.fieldNames]).toEqual([['resource_missing'], ['deposit.reference']]);
    await data(ask(notice, back));
    await Promise.all(Array.from({ length: 16 }, (_, i) => data(ask(notice, i % 2 ? input : back))));

    expect((await depositsOf(to.live)).map(({ status }) => status)).toEqual(['reversed']);
    expect(await pendingOf(to.live)).toEqual(money('0.00'));
  });

  it('is a conflict with different content, and changes nothing', async () => {
    const to = await receiver();
    const input = received(to);
    await data(ask(notice, input));

    const { body } = await ask(notice, { input: { ...input.input, amount: '11.00' } });

    expect(body.errors[0].extensions).toMatchObject({
      ...{ code: 'STATE_CONFLICT', httpStatus: 409, argumentPath: ['input', 'reference'] },
      error: { code: 'state_conflict', metadata: { field_name: 'deposit.reference' } },
    });
    expect(await pendingOf(to.live)).toEqual(money('10.00'));
  });

  it('belongs to one tenant, and creates no deposit of another one', async () => {
    const [one, other] = [await receiver(), await receiver()];
    const outsider = await other.live.partner();
    const input = received(one);

    await data(ask(notice, input));
    await data(ask(notice, { input: { ...input.input, addressId: other.addressId, amount: '7.77' } }));
    const { body } = await ask(notice, received(one, { fromAccountId: outsider.id }));

    expect([await pendingOf(one.live), await pendingOf(other.live)]).toEqual([money('10.00'), money('7.77')]);
    expect(body.errors[0].extensions).toMatchObject({
      code: 'RESOURCE_MISSING',
      argumentPath: ['input', 'fromAccountId'],
    });
    expect(await depositsOf(one.live)).toHaveLength(1);
  });

  it('is one deposit whatever white space is around its reference, and earlier duplicates are listed', async () => {
    const to = await receiver();
    const given = received(to);
    const { reference: plain } = given.input;
    const ids = [];
    for (const reference of [plain, `${plain} `, `\t${plain}`, `${plain}\n`, `${plain}\u00A0`]) {
      const { recordBankNotice } = await data(ask(notice, { input: { ...given.input, reference } }));
      expect(recordBankNotice.notice.reference).toBe(plain);
      ids.push(recordBankNotice.notice.deposit.id);
    }
    expect(new Set(ids).size).toBe(1);
    const { body } = await ask(notice, { input: { ...given.input, reference: 'A\tB' } });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'PARAMETER_INVALID',
      argumentPath: ['input', 'reference'],
    });

    // What an earlier release stored.
    const other = received(to);
    await data(ask(notice, other));
    await world.sql`update bank_notice set reference = ${`${plain} `}
      where tenant_id = ${tenantOf(to.live)} and reference = ${other.input.reference}`;
    const query = '{ duplicateBankNotices { tenantId reference event amount deposit { id status } } }';
    const { duplicateBankNotices: found } = await data(ask(query));
    expect(found.filter(({ tenantId }: Json) => tenantId === tenantOf(to.live))).toMatchObject([
      { reference: plain, event: 'RECEIVED', amount: '10.00', deposit: { id: ids[0], status: 'COMPLETED' } },
      { reference: `${plain} `, deposit: { status: 'COMPLETED' } },
    ]);
  });

  it('is refused for an address that receives nothing, with the categories as the graph names them', async () => {
    const to = await receiver();
    await payoutAddress(to.live);
    const [payout] = (await to.live.get('/v1/addresses?category=user_payout')).body.data;

    const { body } = await ask(notice, received(to, { addressId: payout.id }));

    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining('category SERVICE_RECEIVE or SERVICE_FEE_ADVANCE.'),
      extensions: { code: 'ADDRESS_UNUSABLE', argumentPath: ['input', 'addressId'] },
    });
  });

  const wrong: [what: string, more: (to: Receiver) => object, problems: [code: string, field: string][]][] = [
    ['no amount', () => ({ amount: undefined }), [['parameter_missing', 'amount']]],
    ['nothing', () => ({ amount: '0.00' }), [['parameter_invalid', 'amount']]],
    ['a number', () => ({ amount: 10 }), [['parameter_invalid', 'amount']]],
    ['a fraction of a yen', () => ({ amount: '10.50', currency: 'JPY' }), [['parameter_invalid', 'amount']]],
    ['an unknown currency', () => ({ currency: 'XYZ' }), [['parameter_invalid', 'currency']]],
    ['an empty reference', () => ({ reference: '' }), [['parameter_invalid_empty', 'reference']]],
    ['a blank reference', () => ({ reference: ' ' }), [['parameter_invalid_empty', 'reference']]],
    ['a reference that is too long', () => ({ reference: 'R'.repeat(256) }), [['parameter_invalid', 'reference']]],
    ['a reference with NUL', () => ({ reference: 'a\u0000' }), [['parameter_invalid', 'reference']]],
    ['another event', () => ({ event: 'LOST' }), [['parameter_invalid', 'event']]],
    ['an unknown parameter', () => ({ amout: '1.00' }), [['parameter_unknown', 'amout']]],
    ['an unknown address', () => ({ addressId: unknownId('address') }), [['resource_missing', 'addressId']]],
    [
      'an address of test mode',
      ({ test }) => ({ addressId: addressOf.get(test.id) }),
      [['parameter_invalid', 'addressId']],
    ],
    [
      'several things at once',
      () => ({ amount: 'ten', currency: 'XYZ', reference: undefined }),
      [
        ['parameter_missing', 'reference'],
        ['parameter_invalid', 'amount'],
        ['parameter_invalid', 'currency'],
      ],
    ],
  ];
  const addressOf = new Map<string, string>();
  it.each(wrong)("with %s is refused with the parameter's name, and nothing is stored", async (_, more, problems) => {
    const to = await receiver();
    const [own] = (await to.test.get('/v1/addresses?category=service_receive')).body.data;
    addressOf.set(to.test.id, own.id);

    const { body } = await ask(notice, received(to, more(to)));

    const reported = body.errors.map(({ extensions }: Json) => [extensions.error.code, extensions.argumentPath]);
    expect(reported).toEqual(problems.map(([code, field]) => [code, ['input', field]]));
    expect(body.errors[0].extensions.error.metadata.field_name).toMatch(/^deposit\./);
    expect(await depositsOf(to.live)).toEqual([]);
    const [stored] = await world.sql`select count(*)::int as n from bank_notice where tenant_id = ${tenantOf(to.live)}`;
    expect(stored!.n).toBe(0);
  });
});

describe('a reconciliation', () => {
  it("makes the same locks as the user's own, and happens once under its key", async () => {
    const to = await receiver();
    const { recordBankNotice } = await data(ask(notice, received(to)));
    const { id } = recordBankNotice.notice.deposit;
    const receivable = await receivableOf(to, '10.00');
    const input = { id, receivables: [{ id: receivable, amount: '4.00' }] };
    const key = { 'idempotency-key': nickname() };

    const first = await ask(reconcile, { input }, key);
    const again = await ask(reconcile, { input }, key);
    const other = await ask(reconcile, { input: { ...input, receivables: [{ id: receivable, amount: '5.00' }] } }, key);

    expect(first.body.data.reconcileDeposit.deposit.pendingRest).toBe('6.00');
    expect([again.body.data, again.headers.get('idempotent-replayed')]).toEqual([first.body.data, 'true']);
    expect(other.body.errors[0].extensions.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await to.live.get(`/v1/receivables/${receivable}`)).body.amount_locked).toBe('4.00');
    expect(depositV1(await operatorDeposit(world.operator, id))).toEqual((await depositsOf(to.live))[0]);
  });

  it("refuses what the user could not do either, with the parameter's name", async () => {
    const [to, other] = [await receiver(), await receiver()];
    const { recordBankNotice } = await data(ask(notice, received(to)));
    const { id } = recordBankNotice.notice.deposit;
    const [own, foreign] = [await receivableOf(to, '10.00'), await receivableOf(other, '10.00')];
    const attempt = async (deposit: string, receivables: object[]) => {
      const { body } = await ask(reconcile, { input: { id: deposit, receivables } });
      return body.errors.map(({ extensions }: Json) => [extensions.code, extensions.argumentPath]);
    };

    expect(await attempt(unknownId('deposit'), [{ id: own, amount: '1.00' }])).toEqual([
      ['RESOURCE_MISSING', ['input', 'id']],
    ]);
    expect(await attempt(id, [{ id: own, amount: '0.00' }])).toEqual([
      ['PARAMETER_INVALID', ['input', 'receivables', 0, 'amount']],
    ]);
    expect((await attempt(id, [{ id: foreign, amount: '1.00' }]))[0][0]).toBe('RESOURCE_MISSING');
    expect((await attempt(id, [{ id: own, amount: '10.01' }]))[0][0]).toBe('AMOUNT_EXCEEDS_RECONCILABLE');
    expect(await pendingOf(to.live)).toEqual(money('10.00'));
  });
});

describe('a live payout', () => {
  it.each([
    ['settlePayout', settle, 'COMPLETED'],
    ['failPayout', fail, 'FAILED'],
  ])('is listed with its destination until %s ends it, once', async (name, document, status) => {
    const to = await receiver(2);
    const payout = await payoutOf(to);
    const waiting = `query ($tenant: ID) { payouts(status: PROCESSING, mode: LIVE, tenantId: $tenant) {
      nodes { ${payoutFields} account { id status } address { id status bankAccount { number bankName } } } next } }`;
    const { payouts } = await data(ask(waiting, { tenant: tenantOf(to.live) }));
    const [{ account, address, ...shown }] = payouts.nodes;
    agrees(shown, payout);
    expect([payouts.nodes.length, payouts.next, shown.rate, shown.tenantId]).toEqual([1, null, '1', tenantOf(to.live)]);
    expect([account, address]).toEqual([
      { id: to.live.id, status: 'ACTIVATED' },
      {
        id: payout.address_id,
        status: 'ACTIVATED',
        bankAccount: { number: '004501551234', bankName: 'Bank of the Coast' },
      },
    ]);

    const ended = (await data(ask(document, { input: { id: payout.id } })))[name].payout;

    expect(ended).toEqual({ ...shown, status });
    expect(await data(ask(`{ payout(id: "${payout.id}") { ${payoutFields} } }`))).toEqual({ payout: ended });
    expect(payoutV1(await storedPayout(world.operator, payout.id))).toEqual(
      (await to.live.get('/v1/payouts')).body.data[0],
    );
    for (const again of [settle, fail]) {
      const { body } = await ask(again, { input: { id: payout.id } });
      expect(body.errors.map(({ extensions }: Json) => extensions.error)).toEqual([
        { code: 'status_invalid', message: expect.any(String), metadata: { field_name: 'payout.status' } },
      ]);
    }
    expect((await data(ask(waiting, { tenant: tenantOf(to.live) }))).payouts.nodes).toEqual([]);
  });

  it("is replayed under its Idempotency-Key, and its event has the request's id", async () => {
    const to = await receiver(2);
    const payout = await payoutOf(to);
    const key = { 'idempotency-key': nickname() };

    const first = await ask(settle, { input: { id: payout.id } }, key);
    const again = await ask(settle, { input: { id: payout.id } }, key);
    const other = await ask(fail, { input: { id: payout.id } }, key);

    expect([first.body.errors, first.headers.get('idempotent-replayed')]).toEqual([undefined, null]);
    expect([again.body.data, again.headers.get('idempotent-replayed')]).toEqual([first.body.data, 'true']);
    expect(other.body.errors[0].extensions.code).toBe('IDEMPOTENCY_KEY_REUSED');
    const events =
      await world.sql`select request_id from event where object_id = ${payout.id} and type = 'payout.completed'`;
    expect(events).toEqual([{ request_id: first.headers.get('request-id') }]);
  });

  it('ends once under concurrent requests', async () => {
    const payout = await payoutOf(await receiver(2));
    const ends = await Promise.all(
      Array.from({ length: 16 }, (_, i) => ask(i % 2 ? settle : fail, { input: { id: payout.id } })),
    );
    expect(ends.filter(({ body }) => !body.errors)).toHaveLength(1);
  });

  it('comes back after it has arrived, once, with what the bank says, and is paid out again', async () => {
    const to = await receiver(2);
    const { id } = await payoutOf(to);
    const report = { id, reasonCode: 'ACCOUNT_CLOSED' };
    const early = await ask(giveBack, { input: report });
    expect(early.body.errors[0].extensions.error).toMatchObject({ code: 'status_invalid' });
    for (const [bankReference, code] of [
      ['\u00a0', 'parameter_invalid_empty'],
      ['U'.repeat(256), 'parameter_invalid'],
      ['UTR\u0000', 'parameter_invalid'],
    ]) {
      const { codes, fieldNames } = await ask(settle, { input: { id, bankReference } });
      expect([codes, fieldNames]).toEqual([[code], ['payout.bank_reference']]);
    }
    await data(ask(settle, { input: { id, bankReference: ' UTR 0001\u3000' } }));
    const [{ id: receivable }] = (await to.live.get('/v1/receivables')).body.data;
    const amounts = async () => {
      const { amount_locked, amount_settled_payouts } = (await to.live.get(`/v1/receivables/${receivable}`)).body;
      return { amount_locked, amount_settled_payouts };
    };
    expect(await amounts()).toEqual({ amount_locked: '0.00', amount_settled_payouts: '10.00' });

    const ends = await Promise.all(Array.from({ length: 8 }, () => ask(giveBack, { input: report })));

    const returned = ends.filter(({ body }) => !body.errors);
    expect(returned).toHaveLength(1);
    const { payout } = returned[0]!.body.data.returnPayout;
    const said = { status: 'RETURNED', reasonCode: 'ACCOUNT_CLOSED', bankReference: 'UTR 0001' };
    expect(payout).toMatchObject(said);
    expect((await to.live.get(`/v1/payouts/${id}`)).body).toMatchObject({
      ...{ status: 'returned', reason_code: 'account_closed', bank_reference: 'UTR 0001', expected_arrival: null },
    });
    expect((await to.live.get('/v1/balance')).body).toMatchObject({
      available: money('10.00', 'INR'),
      payout_processing: money('0.00', 'INR'),
    });
    expect(await amounts()).toEqual({ amount_locked: '10.00', amount_settled_payouts: '0.00' });
    await payOutLive(to.live);
    const [again] = (await to.live.get('/v1/payouts')).body.data;
    expect([again.id === id, again.status, again.amount]).toEqual([false, 'processing', '10.00']);
    await data(ask(settle, { input: { id: again.id } }));
    expect(await amounts()).toEqual({ amount_locked: '0.00', amount_settled_payouts: '10.00' });
  });

  it('that did not arrive is said of its address, and of its account why nothing is paid out', async () => {
    const to = await receiver(2);
    const { id, address_id: addressId } = await payoutOf(to);
    const others = (await receiver(1)).live.id;
    const of = 'payoutsBlockedBy { reasonCode currency }';
    const shown = async () => {
      const asked = `{
        account(id: "${to.live.id}") { ${of} addresses { id payoutProblem } }
        other: account(id: "${others}") { ${of} } }`;
      const { account, other } = await data(ask(asked));
      const own = (
        await must(
          to.live.graph(`{ account(id: "${to.live.id}") {
        ${of} addresses(first: 9) { nodes { id payoutProblem } } } }`),
        )
      ).data.account;
      expect(account).toEqual({ ...own, addresses: expect.arrayContaining(own.addresses.nodes) });
      expect(other.payoutsBlockedBy).toEqual([{ reasonCode: 'ADDRESS_MISSING', currency: null }]);
      const problem = account.addresses.find((each: Json) => each.id === addressId).payoutProblem;
      return [problem, ...account.payoutsBlockedBy.map(({ reasonCode }: Json) => reasonCode)];
    };
    expect(await shown()).toEqual([null]);
    await data(ask(fail, { input: { id, reasonCode: 'NAME_MISMATCH' } }));
    expect(await shown()).toEqual(['NAME_MISMATCH']);
    await data(ask(place, { input: { accountId: to.live.id } }));
    expect(await shown()).toEqual(['NAME_MISMATCH', 'SERVICE_HOLD']);
    await data(ask(lift, { input: { accountId: to.live.id } }));
    await payOutLive(to.live);
    expect(await shown()).toEqual([null]);
  });

  it('that does not exist cannot be ended', async () => {
    for (const document of [settle, fail, giveBack]) {
      const { status, body } = await ask(document, { input: { id: unknownId('payout') } });
      expect([status, body.errors[0].extensions]).toEqual([
        200,
        expect.objectContaining({ code: 'RESOURCE_MISSING', httpStatus: 404, argumentPath: ['input', 'id'] }),
      ]);
      expect(body.errors[0].message).toBe('There is no such payout. Check the id.');
    }
  });
});

describe('a service hold', () => {
  it('is placed and lifted in one mode, and the account shows the reason', async () => {
    const to = await receiver();
    const shown = async (speaker: Speaker) => (await speaker.get('/v1/account_settings')).body.data[0].payouts;

    const placed = (await data(ask(place, { input: { accountId: to.live.id } }))).placeServiceHold.accountSetting;

    expect(placed).toEqual({
      ...{ accountId: to.live.id, livemode: true, serviceHold: true, platformHold: false, payoutsEnabled: false },
      ...{ payoutsReason: 'SERVICE_HOLD', payoutsInterval: 'DAILY' },
    });
    expect([(await shown(to.live)).reason_code_not_enabled, (await shown(to.test)).enabled]).toEqual([
      'service_hold',
      true,
    ]);
    const lifted = (await data(ask(lift, { input: { accountId: to.live.id, mode: 'LIVE' } }))).liftServiceHold;
    expect(lifted.accountSetting).toMatchObject({ serviceHold: false, payoutsEnabled: true, payoutsReason: null });
    const row = await world.operator.account(to.live.id, true);
    expect(accountSettingV1(await setServiceHold(world.operator, row, false)).payouts).toEqual(await shown(to.live));
  });

  it('requires an account with payouts, and refuses a partner', async () => {
    const { live } = await given.directUserBoth(1);
    const partner = await live.partner();
    const before = await world.sql`select count(*)::int as n from event where tenant_id = ${tenantOf(live)}`;
    const { body } = await ask(place, { input: { accountId: partner.id } });
    expect(body.errors[0].extensions).toMatchObject({
      ...{ code: 'ACCOUNT_TYPE_INVALID', httpStatus: 400, argumentPath: ['input', 'accountId'] },
      error: { metadata: { field_name: 'account_setting.account_id' } },
    });
    expect(await world.sql`select count(*)::int as n from event where tenant_id = ${tenantOf(live)}`).toEqual(before);
    const { account } = await data(ask(`{ account(id: "${partner.id}") { setting { serviceHold } } }`));
    expect(account.setting.serviceHold).toBe(false);
  });

  it('reports an account that does not exist', async () => {
    const { body } = await ask(place, { input: { accountId: unknownId('account') } });
    expect(body.errors[0].extensions).toMatchObject({
      ...{ code: 'RESOURCE_MISSING', argumentPath: ['input', 'accountId'] },
      error: { metadata: { field_name: 'account_setting.account_id' } },
    });
  });
});

describe('an exchange rate', () => {
  const rates = (root: Speaker) =>
    data(ask('query ($tenant: ID!) { rates(tenantId: $tenant) { source target rate } }', { tenant: root.id }));
  const give = (root: Speaker, more: object = {}, headers = {}) =>
    ask(setRate, { input: { accountId: root.id, source: 'USD', target: 'INR', rate: '83.25', ...more } }, headers);

  it('belongs to a tenant, the latest one applies, and each one emits an event', async () => {
    const [one, other] = [await given.platformBoth(1), await given.platformBoth(1)];

    expect((await data(give(one.live))).setRate.rate).toEqual({
      ...{ tenantId: tenantOf(one.live), source: 'USD', target: 'INR', rate: '83.25' },
    });
    await data(give(one.live, { rate: '84.5' }));
    await data(give(one.live, { source: 'EUR' }));

    expect(await rates(one.live)).toEqual({
      rates: [
        { source: 'EUR', target: 'INR', rate: '83.25' },
        { source: 'USD', target: 'INR', rate: '84.5' },
      ],
    });
    expect(await rates(other.live)).toEqual({ rates: [] });
    await world.database.call('number_events', [tenantOf(one.live), true, 50]);
    const events = (await one.live.get('/v1/events?type=rate.set')).body.data;
    expect(events.map((event: Json) => event.data.object)).toEqual(
      [
        ['EUR', '83.25'],
        ['USD', '84.5'],
        ['USD', '83.25'],
      ].map(([source, rate]) => ({
        ...{ object: 'rate', created: expect.any(Number), livemode: true, source, target: 'INR', rate },
      })),
    );
    const { body } = await one.live.graph('{ events(type: ["rate.set"]) { nodes { objectId } } }');
    expect(body.data.events.nodes).toEqual(Array(3).fill({ objectId: one.live.id }));
    expect((await other.live.get('/v1/events?type=rate.set')).body.data).toEqual([]);
    expect((await one.test.get('/v1/events?type=rate.set')).body.data).toEqual([]);
  });

  it('that is repeated under its key is stored once', async () => {
    const { live } = await given.platformBoth(1);
    const key = { 'idempotency-key': nickname() };
    const [first, again] = [await give(live, {}, key), await give(live, {}, key)];
    expect([again.body.data, again.headers.get('idempotent-replayed')]).toEqual([first.body.data, 'true']);
    const events = await world.sql`select from event where tenant_id = ${tenantOf(live)} and type = 'rate.set'`;
    expect(events).toHaveLength(1);
  });

  it.each([
    ['0', 'rate'],
    ['0.00', 'rate'],
    ['-1', 'rate'],
    ['NaN', 'rate'],
    ['Infinity', 'rate'],
    ['1e3', 'rate'],
    ['1.12345678901234567', 'rate'],
    ['10000000', 'rate'],
    ['', 'rate'],
  ])('cannot be %j', async (rate, field) => {
    const { live } = await given.platformBoth(1);
    const { body } = await give(live, { rate });
    expect(body.errors[0].extensions).toMatchObject({ httpStatus: 400, argumentPath: ['input', field] });
    expect(await rates(live)).toEqual({ rates: [] });
  });

  it('needs two currencies and an existing tenant of live mode', async () => {
    const { live, test } = await given.platformBoth(1);
    const user = await test.connectedUser();
    const at = async (more: object) => (await give(live, more)).body.errors[0].extensions;
    expect(await at({ target: 'USD' })).toMatchObject({ argumentPath: ['input', 'target'] });
    expect(await at({ source: 'usd' })).toMatchObject({ argumentPath: ['input', 'source'] });
    for (const accountId of [unknownId('account'), user.id])
      expect(await at({ accountId })).toMatchObject({ code: 'RESOURCE_MISSING', argumentPath: ['input', 'accountId'] });
    expect(await rates(live)).toEqual({ rates: [] });
  });
});

describe('the ledger', () => {
  it('is audited and its seal is verified, as by the command line', async () => {
    const to = await receiver();
    await data(ask(notice, received(to)));
    await world.database.call('seal_postings', [tenantOf(to.live), true, 50]);
    const query = `{ ledgerAudit { accounts postings violationCount violations { tenantId livemode rule what } }
      ledgerSeal { tenantId livemode blocks firstBroken } }`;

    const { ledgerAudit, ledgerSeal } = await data(ask(query));

    expect(ledgerAudit).toEqual(await auditLedger(world.operator));
    const chains = await verifySeals(world.operator);
    expect(new Set(ledgerSeal)).toEqual(
      new Set(chains.map(({ tenant, ...chain }) => ({ tenantId: tenant, ...chain }))),
    );
    expect(ledgerSeal).toContainEqual({ tenantId: tenantOf(to.live), livemode: true, blocks: 1, firstBroken: null });
  });

  it('shows its violations', async () => {
    const to = await receiver();
    await data(ask(notice, received(to)));
    await world.database.call('seal_postings', [tenantOf(to.live), true, 50]);
    const tenant = tenantOf(to.live);
    // A superuser makes the change, because even the database's owner cannot: the ledger is append-only.
    const admin = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1 });
    const tamper = async (change: number) => {
      await admin`update balance set pending = pending + ${change} where tenant_id = ${tenant} and livemode`;
      await admin`update seal_block set postings = postings + ${change} where tenant_id = ${tenant} and livemode`;
    };
    await tamper(1);

    const { ledgerAudit, ledgerSeal } = await data(
      ask(
        '{ ledgerAudit { violations { tenantId livemode rule what } } ledgerSeal { tenantId livemode firstBroken } }',
      ),
    ).finally(() => tamper(-1));
    await admin.end();

    expect(ledgerAudit.violations).toContainEqual({
      ...{ tenantId: tenant, livemode: true, rule: expect.any(String), what: expect.any(String) },
    });
    expect(ledgerSeal).toContainEqual({ tenantId: tenant, livemode: true, firstBroken: 1 });
  });
});
