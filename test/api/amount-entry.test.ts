import { getNamedType, type GraphQLArgument, type GraphQLSchema, isInputObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { guard } from '../../src/operation/guard.js';
import { buildOperatorGraph } from '../../src/operator/graph/graph.js';
import { operations } from '../../src/resources/registry.js';
import { auditLedger } from '../support/audit.js';
import { receivableBody } from '../support/bodies.js';
import { givenIn, must, nickname, Speaker, tenantOf, useWorld } from '../support/world.js';
import { createRoot, issueAddress, updateRoot, verifyAccount } from '../../src/operator/account/accounts.js';
import { reconcileFor, recordBankNotice } from '../../src/operator/money/bank.js';
import { pathInGraph } from '../../src/types/problem.js';

const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';
const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const given = givenIn(world);

auditLedger(world);

const operator = {
  graph: (query: string, variables: object) =>
    new Speaker(world, '', OPERATOR_KEY, 1).post('/operator/graphql', { query, variables }),
};

/** The paths of the amounts that the mutations of a schema take, such as `createDeposit.input.amount`. */
function amountsOf(schema: GraphQLSchema): string[] {
  const paths = (path: string, { name, type }: Pick<GraphQLArgument, 'name' | 'type'>): string[] => {
    const named = getNamedType(type);
    if (named.name === 'Amount') return [`${path}.${name}`];
    // The filters of an export enter nothing: they are bounds, also of other currencies.
    if (!isInputObjectType(named) || named.name === 'AmountFilter') return [];
    return Object.values(named.getFields()).flatMap((field) => paths(`${path}.${name}`, field));
  };
  return Object.values(schema.getMutationType()!.getFields()).flatMap(({ name, args }) =>
    args.flatMap((argument) => paths(name, argument)),
  );
}

/** A direct user in live mode with 100 yen that a bank reported, and a receivable in yen. */
async function traderInYen() {
  const { account, live, test } = await given.directUserBoth(1);
  const row = await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
  const { id: addressId } = await issueAddress(world.operator, row, {
    ...{ category: 'service_receive', currency: 'USD', bankAccount: { number: '123456789' } },
  });
  const { deposit } = await recordBankNotice(world.operator, {
    ...{ reference: nickname(), event: 'received', addressId, amount: 10_000n, currency: 'JPY', allowCurrency: true },
  });
  const { id: receivableId } = await must(live.post('/v1/receivables', receivableBody({ currency: 'JPY' })));
  return { live, test, addressId, depositId: deposit!.id, receivableId: receivableId as string };
}

const receivableInput = (amount: string, maximum?: string) => ({
  ...{ currency: 'JPY', purposeCode: 'P0802', transactionType: 'SERVICES', amountMaximumReconcilable: maximum },
  invoice: {
    ...{ amount, currency: 'JPY', creationDate: '2026-10-01', dueDate: '2026-12-01', referenceNumber: nickname() },
  },
});

/** A deposit of test mode in yen: none can be created through the APIs, whose currencies all have a minor unit. */
async function depositInYen(user: Speaker): Promise<string> {
  const args = {
    ...{ toAccountId: user.id, toAddressId: null, fromAccountId: null, fromAddressId: null },
    ...{ amount: '10000', currency: 'JPY', paymentMethod: 'domestic_credit' },
  };
  const [row] = await world.database.call('create_deposit', [tenantOf(user), false, '{}', JSON.stringify(args)]);
  await must(user.post(`/v1/test_helpers/deposits/${row!.id}/complete`));
  return String(row!.id);
}

type Trader = Awaited<ReturnType<typeof traderInYen>>;
/** The input of a mutation, and who calls it: the trader in live mode by default. */
type Given = { by?: Speaker } & Record<string, unknown>;
const volume = { estimatedMonthlyVolume: { amount: '10.50', currency: 'JPY' } };
const volumeField = 'account.business_details.estimated_monthly_volume.amount';

/** For each amount that a mutation takes: an input with half a yen there, and the parameter that is refused. */
const entries: Record<string, [field: string, input: (trader: Trader) => Given | Promise<Given>]> = {
  'createAccount.input.businessDetails.estimatedMonthlyVolume.amount': [
    volumeField,
    () => ({ type: 'PARTNER', nickname: nickname(), businessDetails: volume }),
  ],
  'createCheckout.input.amount': [
    'checkout.amount',
    async ({ receivableId }) => ({
      by: await given.directUser(2),
      ...{ amount: '10.50', currency: 'JPY', from: { accountId: 'account_1' }, paymentMethods: ['UPI'] },
      ...{ receivables: [{ id: receivableId }], redirectUrl: 'https://shop.example' },
    }),
  ],
  'createConnectedUser.input.businessDetails.estimatedMonthlyVolume.amount': [
    volumeField,
    async () => ({ by: await given.platform(1), businessDetails: volume }),
  ],
  'createDeposit.input.amount': ['deposit.amount', ({ test }) => ({ by: test, amount: '10.50', currency: 'JPY' })],
  'createReceivable.input.amountMaximumReconcilable': [
    'receivable.amount_maximum_reconcilable',
    () => receivableInput('100.00', '10.50'),
  ],
  'createReceivable.input.invoice.amount': ['receivable.invoice.amount', () => receivableInput('10.50')],
  'createRefund.input.amount': ['refund.amount', ({ depositId }) => ({ depositId, amount: '10.50' })],
  'createTestAdjustment.input.credit.amount': [
    'adjustment.credit.amount',
    ({ test }) => ({ by: test, accountId: test.id, credit: { amount: '10.50', currency: 'JPY' }, reason: 'A fee' }),
  ],
  'createTestAdjustment.input.debit.amount': [
    'adjustment.debit.amount',
    ({ test }) => ({ by: test, accountId: test.id, debit: { amount: '10.50', currency: 'JPY' }, reason: 'A fee' }),
  ],
  'disputeTestDeposit.input.amount': [
    'deposit.amount',
    async ({ test }) => ({ by: test, id: await depositInYen(test), amount: '10.50' }),
  ],
  'payTestCheckout.input.amount': [
    'checkout.amount',
    async () => ({ by: await given.directUser(2), id: 'checkout_1', amount: '10.50', currency: 'JPY' }),
  ],
  'recallTestDeposit.input.amount': [
    'deposit.amount',
    async ({ test }) => ({ by: test, id: await depositInYen(test), amount: '10.50' }),
  ],
  'reconcileDeposit.input.receivables.amount': [
    'deposit.receivables[1].amount',
    ({ depositId, receivableId }) => ({
      ...{ id: depositId },
      receivables: [
        { id: receivableId, amount: '10.00' },
        { id: receivableId, amount: '10.50' },
      ],
    }),
  ],
  'reconcileDeposits.input.deposits.receivables.amount': [
    'deposit.deposits[0].receivables[0].amount',
    ({ depositId, receivableId }) => ({
      deposits: [{ id: depositId, receivables: [{ id: receivableId, amount: '10.50' }] }],
    }),
  ],
  'requestAccountChange.input.businessDetails.estimatedMonthlyVolume.amount': [
    volumeField.replace('account.', 'change_request.'),
    ({ live }) => ({ accountId: live.id, businessDetails: volume }),
  ],
  'updateAccount.input.businessDetails.estimatedMonthlyVolume.amount': [
    volumeField,
    ({ live }) => ({ id: live.id, businessDetails: volume }),
  ],
  'updateReceivable.input.amountMaximumReconcilable': [
    'receivable.amount_maximum_reconcilable',
    ({ receivableId }) => ({ id: receivableId, amountMaximumReconcilable: '10.50' }),
  ],
};

const operatorEntries: typeof entries = {
  'decideTransaction.input.amount': [
    'transaction.amount',
    () => ({ id: 'transaction_0', outcome: 'SUCCEEDED', amount: '10.50', currency: 'JPY' }),
  ],
  'openDispute.input.amount': [
    'deposit.amount',
    ({ depositId }) => ({ id: depositId, amount: '10.50', reasonCode: 'GENERAL', reference: nickname() }),
  ],
  'proposeAdjustment.input.credit.amount': [
    'adjustment.credit.amount',
    ({ live }) => ({ accountId: live.id, credit: { amount: '10.50', currency: 'JPY' }, reason: 'A fee' }),
  ],
  'proposeAdjustment.input.debit.amount': [
    'adjustment.debit.amount',
    ({ live }) => ({ accountId: live.id, debit: { amount: '10.50', currency: 'JPY' }, reason: 'A fee' }),
  ],
  'reconcileDeposit.input.receivables.amount': [
    'deposit.receivables[0].amount',
    ({ depositId, receivableId }) => ({ id: depositId, receivables: [{ id: receivableId, amount: '10.50' }] }),
  ],
  'recordBankNotice.input.amount': [
    'deposit.amount',
    ({ addressId }) => ({ reference: nickname(), addressId, amount: '10.50', currency: 'JPY' }),
  ],
  'recordUnexplained.input.amount': [
    'unexplained.amount',
    ({ depositId }) => ({ depositId, amount: '10.50', reference: nickname(), note: 'A chargeback' }),
  ],
};

/** Calls the mutation of an entry. */
async function call(schema: GraphQLSchema, by: Pick<Speaker, 'graph'>, entry: string, input: object) {
  const mutation = entry.split('.')[0]!;
  const { args } = schema.getMutationType()!.getFields()[mutation]!;
  const select = mutation === several ? 'results { problems { code message path } }' : '__typename';
  return by.graph(`mutation ($input: ${String(args[0]!.type)}) { ${mutation}(input: $input) { ${select} } }`, {
    input,
  });
}

/** The mutation that refuses each of several objects by itself. */
const several = 'reconcileDeposits';

const graphs = { public: buildGraph(), operator: buildOperatorGraph() };

describe('half a yen', () => {
  it('has an input here for each amount that a mutation of either graph takes', () => {
    expect(amountsOf(graphs.public).toSorted()).toEqual(Object.keys(entries));
    expect(amountsOf(graphs.operator).toSorted()).toEqual(Object.keys(operatorEntries));
  });

  it.each(Object.entries(entries))('is refused as %s', async (entry, [field, input]) => {
    const trader = await traderInYen();
    const { by = trader.live, ...given } = await input(trader);
    const reply = await call(graphs.public, by, entry, given);
    const [problem] = reply.body.data?.[several]?.results[0].problems ?? [];
    if (problem) expect([problem.code, problem.path.map(String)]).toEqual(['PARAMETER_INVALID', pathInGraph(field)]);
    else expect(reply.fieldNames).toContain(field);
    expect(reply.text).toContain('must end in .00, since its currency has no minor unit');
  });

  it.each(Object.entries(operatorEntries))("is refused in the operator's graph as %s", async (entry, [, input]) => {
    const reply = await call(graphs.operator, operator, entry, await input(await traderInYen()));
    expect(reply.text).toContain('must end in .00, since its currency has no minor unit');
    expect(reply.body.errors[0].extensions.code).toBe('PARAMETER_INVALID');
  });

  it('is refused for the stored object’s currency on /v1, and nothing of it is stored', async () => {
    const { live, test, depositId, receivableId } = await traderInYen();
    const before = (await live.get('/v1/balance')).body;
    const half = { receivables: [{ id: receivableId, amount: '0.50' }] };
    const replies = [
      await live.post(`/v1/deposits/${depositId}/reconcile`, half),
      await live.post(`/v1/receivables/${receivableId}`, { amount_maximum_reconcilable: '10.50' }),
    ];
    expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual([
      [400, ['parameter_invalid'], ['deposit.receivables[0].amount']],
      [400, ['parameter_invalid'], ['receivable.amount_maximum_reconcilable']],
    ]);
    expect((await live.get('/v1/balance')).body).toEqual(before);
    expect((await live.get(`/v1/receivables/${receivableId}`)).body).toMatchObject({
      ...{ amount_maximum_reconcilable: '100.00', amount_locked: '0.00' },
    });

    const id = await depositInYen(test);
    const dispute = await test.post(`/v1/test_helpers/deposits/${id}/dispute`, { amount: '0.50' });
    expect([dispute.status, dispute.fieldNames]).toEqual([400, ['deposit.amount']]);
  });

  it('is refused to the command line', async () => {
    const { live, depositId, receivableId } = await traderInYen();
    const half = { businessDetails: { estimatedMonthlyVolume: { amount: 1_050n, currency: 'JPY' } } };
    const refused = { problems: [{ code: 'parameter_invalid', field: volumeField }] };
    await expect(createRoot(world.operator, { type: 'user', edition: 1, ...half })).rejects.toMatchObject(refused);
    const row = await world.operator.account(live.id);
    await expect(updateRoot(world.operator, row, half)).rejects.toMatchObject(refused);
    await expect(reconcileFor(world.operator, depositId, [{ id: receivableId, amount: 1_050n }])).rejects.toMatchObject(
      {
        problems: [{ code: 'parameter_invalid', field: 'deposit.receivables[0].amount' }],
      },
    );
    // A whole yen counts.
    await reconcileFor(world.operator, depositId, [{ id: receivableId, amount: 1_000n }]);
  });

  // An amount whose currency nothing says could be half a yen.
  it('has no way in through a new operation: the process does not start with one', () => {
    const { currencyOf: _, ...less } = operations.get('reconcileDeposit')!;
    expect(() => guard(buildGraph(), new Map([...operations, ['reconcileDeposit', less]]))).toThrow(
      'the operation reconcileDeposit has no currency for input.receivables.amount, and declares no currencyOf',
    );
  });
});
