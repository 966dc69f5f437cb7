import { describe, expect, it } from 'vitest';
import { camel } from '../../src/errors/problems.js';
import { compartments, inputOf, receivableBody } from '../support/bodies.js';
import {
  details,
  type Edition,
  givenIn,
  inputTypeOf,
  nickname,
  payoutAddressBody,
  Speaker,
  type Transport,
  transports,
  useWorld,
} from '../support/world.js';
import { auditLedger } from '../../src/operator/money/audit.js';
import { passTime } from '../../src/operator/job/test-clock.js';

type Json = any;

const OPERATOR_KEY = 'op_2b7d0e4c9a1f4836b5c8d7e6f1a2b3c4';
// No worker runs: the story advances the clock, and the due work is done before the next step.
const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const given = givenIn(world);

/**
 * An operation of the exporter, by its mutation: its path on /v1, and the returned object.
 */
const operations = {
  createAccount: ['/v1/accounts', 'account'],
  activateAccount: ['/v1/accounts/:id/activate', 'account'],
  createAddress: ['/v1/addresses', 'address'],
  createReceivable: ['/v1/receivables', 'receivable'],
  createDeposit: ['/v1/deposits', 'deposit'],
  completeTestDeposit: ['/v1/test_helpers/deposits/:id/complete', 'deposit'],
  reconcileDeposit: ['/v1/deposits/:id/reconcile', 'deposit'],
  settleTestPayout: ['/v1/test_helpers/payouts/:id/settle', 'payout'],
  disputeTestDeposit: ['/v1/test_helpers/deposits/:id/dispute', 'deposit'],
} as const;

/**
 * One operation through one API: its status, the codes and fields of its errors, or the object as /v1 shows it
 * afterwards.
 */
async function ask(speaker: Speaker, transport: Transport, name: keyof typeof operations, body: object, id?: string) {
  const [path, object] = operations[name];
  if (transport === 'REST') {
    const { status, codes, fieldNames, body: answered } = await speaker.post(path.replace(':id', id ?? ''), body);
    return { status, codes, fieldNames, object: answered };
  }
  const reply = await speaker.graph(
    `mutation ($input: ${inputTypeOf(name)}!) { ${name}(input: $input) { ${object} { id status } } }`,
    { input: { ...inputOf(body), ...(id && { id }) } },
  );
  const { codes, fieldNames } = reply;
  const status: number = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  const answered = reply.body.data?.[name]?.[object];
  if (!answered) return { status, codes, fieldNames, object: undefined };
  const shown = (await speaker.get(`/v1/${object}${object.endsWith('s') ? 'es' : 's'}/${answered.id}`)).body;
  expect(answered).toEqual({ id: shown.id, status: shown.status.toUpperCase() });
  return { status, codes, fieldNames, object: shown };
}

/** An account's balance: the amounts of its currencies in order, per compartment. */
type Held = Partial<Record<(typeof compartments)[number], string[]>>;

/** An account's complete balance, which must be the same through both APIs. */
async function heldBy(speaker: Speaker, id: string) {
  const { body } = await speaker.get(`/v1/balance?account_id=${id}`);
  const { body: graph } = await speaker.graph(
    'query ($id: ID!) { balance(accountId: $id) { ' +
      `${compartments.map((c) => `${camel(c)} { amount currency }`).join(' ')} } }`,
    { id },
  );
  const amounts = Object.fromEntries(compartments.map((c) => [c, body[c]]));
  expect(graph.data.balance).toEqual(inputOf(amounts));
  return Object.fromEntries(compartments.map((c) => [c, amounts[c].map((m: Json) => `${m.amount} ${m.currency}`)]));
}

/** The audit through the command line and through the operator's graph. */
async function audited() {
  const operator = new Speaker(world, '', OPERATOR_KEY, 1);
  const { body } = await operator.post('/operator/graphql', {
    query: '{ ledgerAudit { violations { rule what } } }',
  });
  return [(await auditLedger(world.operator)).violations, body.data.ledgerAudit.violations];
}

const stories = transports.flatMap((transport) =>
  ([1, 2] as const).map((edition) => [edition, transport] as [Edition, Transport]),
);

describe.each(stories)('the story of an exporter, Edition %i, over %s', (edition, transport) => {
  it('goes from a partner to a payout and a dispute, with correct balances and ledger at every step', async () => {
    const exporter = await given.directUser(edition);
    const currency = edition === 1 ? 'USD' : 'INR';
    const perform = async (name: keyof typeof operations, body: object = {}, id?: string): Promise<Json> => {
      const { object, ...reply } = await ask(exporter, transport, name, body, id);
      expect([name, reply]).toEqual([name, { status: 200, codes: [], fieldNames: [] }]);
      return object;
    };
    const pass = (seconds: number) =>
      passTime(world.operator, { tenantId: exporter.id.replace('account_', '') }, seconds);
    const look = async (path: string) => (await exporter.get(path)).body;
    const receivingAddresses = async (id: string) =>
      (await look(`/v1/addresses?linked_id=${id}&category=service_receive`)).data;
    // The currencies of the exporter's balance; a payout in another currency adds that one.
    let currencies = [currency];
    const holds = async (expected: { exporter?: Held; partner?: Held }) => {
      const whole = (held: Held = {}, of = [currency]) => ({
        ...Object.fromEntries(compartments.map((c) => [c, held[c] ?? of.map((name) => `0.00 ${name}`)])),
        fee_advance: [],
      });
      expect(await heldBy(exporter, exporter.id)).toEqual(whole(expected.exporter, currencies));
      expect(await heldBy(exporter, partner.id)).toEqual(whole(expected.partner));
      expect(await audited()).toEqual([[], []]);
    };
    // Noon, twelve hours from the midnights at which payouts are made.
    const { now } = (await exporter.post('/v1/test_helpers/clock', { advance_seconds: 1 })).body;
    await pass(86_400 + 43_200 - (now % 86_400));

    // A partner: a draft without an address.
    const partner = await perform('createAccount', {
      type: 'partner',
      nickname: nickname(),
      business_details: details('Northwind Home'),
    });
    expect([partner.status, partner.address, await receivingAddresses(partner.id)]).toEqual([
      'draft',
      'deactivated',
      [],
    ]);
    await holds({});

    // Activated: the sandbox verifies it, and its bank issues a receiving address.
    expect((await perform('activateAccount', {}, partner.id)).status).toBe('verifying');
    for (let second = 0; second < 5; second++) await pass(1);
    const activated = await look(`/v1/accounts/${partner.id}`);
    expect([activated.status, activated.address]).toEqual(['activated', 'activated']);
    const [address, ...others] = await receivingAddresses(partner.id);
    expect([address.status, address.currency, others]).toEqual(['activated', currency, []]);
    await holds({});

    // An invoice, and the exporter's payout address.
    const { id: receivable } = await perform('createReceivable', receivableBody({ currency }));
    const counted = async () => {
      const r = await look(`/v1/receivables/${receivable}`);
      return [r.amount_locked, r.amount_settled_payouts, r.amount_reconcilable, r.deposit_ids_amount_locked];
    };
    const { id: payoutAddress } = await perform('createAddress', payoutAddressBody(exporter.id));
    await holds({});

    // A deposit from the partner. In Edition 1 its customers pay at its own address; in Edition 2 it pays the exporter.
    const [own] = await receivingAddresses(exporter.id);
    const to =
      edition === 1
        ? { account_id: partner.id, address_id: address.id }
        : { account_id: exporter.id, address_id: own.id };
    const begun = await perform('createDeposit', {
      amount: '80.00',
      currency,
      from: { account_id: partner.id },
      to: { account_id: to.account_id },
      ...(edition === 2 && { payment_method: 'upi' }),
    });
    expect([begun.status, begun.from.account_id, begun.to]).toEqual(['initialized', partner.id, to]);
    const [paidFrom] = (await look(`/v1/addresses?linked_id=${partner.id}&category=partner_payment`)).data;
    expect(begun.from.address_id).toBe(paidFrom.id);
    await holds({});

    // Completed: the money is pending at the receiver.
    const deposit = await perform('completeTestDeposit', {}, begun.id);
    expect(deposit.status).toBe('completed');
    const holder = edition === 1 ? 'partner' : 'exporter';
    await holds({ [holder]: { pending: [`80.00 ${currency}`] } });
    const aggregate = edition === 1 ? '80.00' : '0.00';
    expect((await look('/v1/balance/aggregate')).pending).toEqual([{ amount: aggregate, currency }]);

    // Reconciled: what counts towards the invoice is available to the exporter, and locked.
    await perform('reconcileDeposit', { receivables: [{ id: receivable, amount: '60.00' }] }, deposit.id);
    const available = { available: [`60.00 ${currency}`] };
    const pending = { pending: [`20.00 ${currency}`] };
    const reconciled =
      edition === 1 ? { exporter: available, partner: pending } : { exporter: { ...available, ...pending } };
    await holds(reconciled);
    expect(await counted()).toEqual(['60.00', '0.00', '40.00', [deposit.id]]);

    // More than the rest of the deposit: refused, and nothing changes.
    const beyond = await ask(
      exporter,
      transport,
      'reconcileDeposit',
      { receivables: [{ id: receivable, amount: '20.01' }] },
      deposit.id,
    );
    expect([beyond.status, beyond.codes, beyond.fieldNames]).toEqual([
      402,
      ['amount_exceeds_reconcilable'],
      ['deposit.receivables[0].amount'],
    ]);
    await holds(reconciled);

    // The next day it is paid out, in the currency of the payout address.
    const sent = edition === 1 ? '4980.00' : '60.00';
    const rest = edition === 1 ? {} : { pending: ['20.00 INR'] };
    const partnerKeeps = edition === 1 ? { partner: pending } : {};
    await pass(86_400);
    const [payout] = (await look('/v1/payouts')).data;
    expect(payout).toEqual({
      id: expect.stringMatching(/^payout_/),
      object: 'payout',
      created: expect.any(Number),
      livemode: false,
      account_id: exporter.id,
      address_id: payoutAddress,
      amount: sent,
      currency: 'INR',
      status: 'processing',
      payment_id: expect.stringMatching(/^payment_/),
      source_amount: '60.00',
      source_currency: edition === 1 ? 'USD' : 'INR',
      rate: edition === 1 ? '83' : '1',
      reason_code: null,
      bank_reference: null,
      expected_arrival: payout.created + 60,
    });
    currencies = edition === 1 ? ['INR', 'USD'] : ['INR'];
    const underWay = edition === 1 ? ['4980.00 INR', '0.00 USD'] : ['60.00 INR'];
    await holds({ exporter: { ...rest, payout_processing: underWay }, ...partnerKeeps });
    expect(await counted()).toEqual(['60.00', '0.00', '40.00', [deposit.id]]);

    // It arrives: the money leaves the balance, and that part of the invoice is settled.
    const settled = await perform('settleTestPayout', {}, payout.id);
    expect(settled).toEqual({ ...payout, status: 'completed' });
    await holds({ exporter: rest, ...partnerKeeps });
    expect(await counted()).toEqual(['0.00', '60.00', '40.00', []]);

    // Disputed: it takes the deposit's pending money first, then the exporter's available funds, below zero.
    const dispute = await perform(
      'disputeTestDeposit',
      { reason_code: 'incorrect_amount', amount: '30.00' },
      deposit.id,
    );
    expect(dispute).toMatchObject({ amount: '-30.00', reason_code: 'incorrect_amount', status: 'completed', to });
    const owed = { exporter: { available: edition === 1 ? ['0.00 INR', '-10.00 USD'] : ['-10.00 INR'] } };
    await holds(owed);
    expect(await counted()).toEqual(['0.00', '60.00', '40.00', []]);

    // More than what is left to dispute: refused, and nothing changes.
    const tooMuch = await ask(exporter, transport, 'disputeTestDeposit', { amount: '50.01' }, deposit.id);
    expect([tooMuch.status, tooMuch.codes]).toEqual([402, ['amount_exceeds_deposit']]);
    await holds(owed);
  });
});
