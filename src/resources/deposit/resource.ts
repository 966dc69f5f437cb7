import { everyone, testOnly } from '../../auth/permissions.js';
import { idempotency } from '../../operation/table.js';
import { bankNotice } from '../../operator/table.js';
import { defineResource, extension, post, stored } from '../define.js';
import { fields, fieldsOfType, link, many, node, object, one, page, value } from '../edges.js';
import { account } from '../account/table.js';
import { address } from '../address/table.js';
import { payment } from '../payment/table.js';
import { DepositArgs, DepositOfAccountArgs, depositListing } from './listing.js';
import { receivable } from '../receivable/table.js';
import { matchesMax, ReceivableMatch, receivableMatches } from './receivable-matches.js';
import { depositProblems, reconcileLimits } from './rules.js';
import { depositsOf, reconciliationProblems, reconciliationResults } from './reconciliation.js';
import { DepositResolver } from './resolver.js';
import { type DepositRow, deposit } from './table.js';
import {
  BankDetails,
  bankDetailsJson,
  bankDetailsOf,
  Deposit,
  DepositConnection,
  DepositParty,
  DepositReconciliation,
  ReconcileDepositsPayload,
} from './type.js';
import { bankDetailsV1, bankNoticeV1, depositV1, exportedDepositV1 } from './v1.js';
import { momentOf } from '../ledger/completed.js';
import { moneyOf } from '../balance/type.js';
import { methodDetailsOf, methodTexts, PaymentMethod, PaymentMethodDetails } from '../payment/method.js';
import { searchLimits } from '../../types/list-search.js';
import { weights } from '../../types/weights.js';

const helpers = '/v1/test_helpers/deposits/:id';

export default defineResource({
  object: 'deposit',
  node: node('deposit', deposit, Deposit, { listing: depositListing, connection: DepositConnection, compiled: true }),
  stored: { deposit: stored(deposit, depositV1), bank_notice: stored(bankNotice, bankNoticeV1) },
  resolvers: [DepositResolver],
  operations: {
    deposit: {
      reads: one('A deposit that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/deposits/:id')],
    },
    deposits: {
      reads: many(DepositArgs, "The deposits of the accounts on the caller's list, on either side."),
      access: 'read',
      limits: searchLimits,
      callers: everyone,
      refusals: ['parameter_missing'],
      routes: [extension.list('/v1/deposits', { exported: exportedDepositV1 })],
    },
    bankDetails: {
      access: 'read',
      callers: everyone,
      v1: bankDetailsV1,
      routes: [extension.get('/v1/deposits/:id/bank_details')],
    },
    // Spec: Create a Deposit. "Works only in test mode."
    createDeposit: {
      ...testOnly,
      rules: depositProblems,
      refusals: ['address_unusable'],
      routes: [post('/v1/deposits')],
    },
    reconcileDeposit: {
      access: 'write',
      callers: everyone,
      rules: depositProblems,
      currencyOf: { id: deposit },
      limits: reconcileLimits,
      refusals: ['status_invalid', 'amount_exceeds_reconcilable'],
      routes: [extension.post('/v1/deposits/:id/reconcile')],
    },
    // The graph alone: a client of /v1 sends a request for each. The resolver compares the amounts of each deposit with
    // its currency.
    reconcileDeposits: {
      access: 'write',
      callers: everyone,
      rules: reconciliationProblems,
      currencyOf: {},
      answers: idempotency,
    },
    processTestDeposit: { ...testOnly, refusals: ['status_invalid'], routes: [extension.post(`${helpers}/process`)] },
    completeTestDeposit: { ...testOnly, refusals: ['status_invalid'], routes: [extension.post(`${helpers}/complete`)] },
    failTestDeposit: { ...testOnly, refusals: ['status_invalid'], routes: [extension.post(`${helpers}/fail`)] },
    cancelTestDeposit: { ...testOnly, refusals: ['status_invalid'], routes: [extension.post(`${helpers}/cancel`)] },
    reverseTestDeposit: { ...testOnly, refusals: ['status_invalid'], routes: [extension.post(`${helpers}/reverse`)] },
    disputeTestDeposit: {
      ...testOnly,
      rules: depositProblems,
      currencyOf: { id: deposit },
      refusals: ['status_invalid', 'amount_exceeds_deposit'],
      routes: [extension.post(`${helpers}/dispute`)],
    },
    recallTestDeposit: {
      ...testOnly,
      rules: depositProblems,
      currencyOf: { id: deposit },
      refusals: ['status_invalid', 'amount_exceeds_deposit'],
      routes: [extension.post(`${helpers}/recall`)],
    },
  },
  fields: [
    fields(deposit, {
      completedAt: momentOf(
        // A dispute is complete when it is created.
        ({ id, created, disputesId }: DepositRow) => (disputesId === null ? ['deposit', id] : created),
        'When the money came into the balance. Null for a deposit that was never COMPLETED.',
      ),
      method: value(
        () => PaymentMethod,
        (row: DepositRow) => row.paymentMethod,
        {
          description: methodTexts.method,
          json: (column) => `'"' || upper(${column('paymentMethod')}) || '"'`,
        },
      ),
      methodDetails: value(() => PaymentMethodDetails, methodDetailsOf, {
        nullable: true,
        description: methodTexts.details,
      }),
      bankDetails: value(() => BankDetails, bankDetailsOf, {
        nullable: true,
        description: 'What the bank says of the transfer. Null for deposits in test mode and those of checkouts.',
        jsonb: (column) => bankDetailsJson(column('bankDetails')),
      }),
      receivableMatches: value(() => [ReceivableMatch], receivableMatches, {
        nullable: true,
        description:
          `The open receivables that the deposit may pay, the best first and at most ${matchesMax}. None for a ` +
          'deposit that is not COMPLETED or has nothing left.',
      }),
      ...moneyOf({ amount: 'currency', pendingRest: 'currency', disputed: 'currency' }),
      from: object(
        () => DepositParty,
        { accountId: 'fromAccountId', addressId: 'fromAddressId' },
        { description: 'The source of the deposit, by its ids.' },
      ),
      to: object(
        () => DepositParty,
        { accountId: 'toAccountId', addressId: 'toAddressId' },
        { description: 'The destination of the deposit, by its ids.' },
      ),
      fromAccount: link(account, 'fromAccountId', {
        nullable: true,
        description: 'The account that paid. Null if it is not known.',
      }),
      fromAddress: link(address, 'fromAddressId', {
        nullable: true,
        description: 'The address that paid. Null if it is not known.',
      }),
      toAccount: link(account, 'toAccountId', { nullable: true, description: 'The account that received.' }),
      toAddress: link(address, 'toAddressId', { nullable: true, description: 'The address that received.' }),
      payment: link(payment, 'paymentId', { description: 'The payment of this deposit.' }),
      disputedDeposit: link(deposit, 'disputesId', {
        nullable: true,
        description: 'The deposit that this one disputes. Null if this deposit is no dispute.',
      }),
      disputes: link(deposit, 'disputesId', {
        nullable: true,
        description: 'The deposit that this one disputes.',
        deprecationReason: 'Since 0.3.0 this one deposit has a name in the singular: use `disputedDeposit`.',
      }),
      disputedBy: page(deposit, deposit.disputesId, { description: 'The deposits that dispute this one.' }),
    }),
    fieldsOfType(ReconcileDepositsPayload, {
      results: value(() => [DepositReconciliation], reconciliationResults, {
        description: 'What became of each deposit, in the order of the input.',
      }),
    }),
    fieldsOfType(ReceivableMatch, {
      receivable: link(receivable, 'receivableId', { description: 'The receivable.' }),
    }),
    fields(account, {
      depositsIn: page(deposit, deposit.toAccountId, {
        args: DepositOfAccountArgs,
        description: 'Deposits to the account.',
      }),
      depositsOut: page(deposit, deposit.fromAccountId, {
        args: DepositOfAccountArgs,
        description: 'Deposits from the account.',
      }),
    }),
    fields(address, {
      deposits: page(deposit, deposit.toAddressId, {
        args: DepositOfAccountArgs,
        description: 'The deposits that came in to this address.',
      }),
    }),
    fields(payment, {
      deposit: link(deposit, 'depositId', { nullable: true, description: 'The deposit that the payment is of.' }),
    }),
  ],
  weights: {
    'Deposit.receivableMatches': 'lookups',
    'Mutation.reconcileDeposits': (argument) => weights.write * depositsOf(argument),
  },
  sizes: {
    'Deposit.receivableMatches': matchesMax,
    'ReconcileDepositsPayload.results': depositsOf,
    'DepositReconciliation.problems': 0,
  },
  events: {
    'deposit.initialized': 'A deposit was announced, or its payment was begun.',
    'deposit.processing': 'The money of a deposit is on its way.',
    'deposit.completed': 'The money of a deposit has arrived.',
    'deposit.failed': 'A deposit has failed.',
    'deposit.cancelled': 'A deposit was cancelled before its money was sent.',
    'deposit.reversed': 'The money of a completed deposit was taken back.',
    'deposit.disputed': 'The payer disputes a deposit, in whole or in part.',
    'deposit.reconciled': 'A deposit counts towards receivables from now on.',
    'bank_notice.waiting': {
      when: 'A bank has reported that it takes money back before it has reported that money.',
      modes: ['live'],
    },
    'bank_notice.withdrawn': {
      when: 'The operator has withdrawn a notice of a bank that was waiting.',
      modes: ['live'],
    },
  },
});
