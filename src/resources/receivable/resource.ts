import { sql } from 'drizzle-orm';
import { receivableProblems, receivableUpdateLimits, receivableUpdateProblems } from './rules.js';
import { everyone } from '../../auth/permissions.js';
import { Metadata } from '../../types/scalars.js';
import { account } from '../account/table.js';
import { deposit } from '../deposit/table.js';
import { file } from '../file/table.js';
import { usedByReceivable } from '../file/reference.js';
import { defineResource, extension, get, post, stored } from '../define.js';
import { fields, fieldsOfType, link, links, many, node, one, page, through, value } from '../edges.js';
import {
  AgeingCustomersArgs,
  AgeingCustomers,
  AgeingOfCustomer,
  ageingCustomers,
  customersOfAgeing,
} from './ageing-by-customer.js';
import {
  AgeingBucket,
  AgeingOfBucket,
  AgeingOfCurrency,
  billedAgeing,
  BilledAgeingArgs,
  ReceivableAgeing,
  receivableAgeing,
  ReceivableAgeingArgs,
  receivablesOfBucket,
} from './ageing.js';
import { purposeCodes } from './purpose-codes.js';
import { PurposeCodeResolver, ReceivableResolver } from './resolver.js';
import { purposeCodesV1, receivableV1 } from './v1.js';
import { Owed, owes } from './owed.js';
import { ReceivableArgs, receivableListing, ReceivableOfAccountArgs } from './listing.js';
import { type ReceivableRow, receivable, receivableLock, ReceivableStatus } from './table.js';
import { ReceivableTotals, receivableTotals, ReceivableTotalsArgs } from './totals.js';
import { Receivable, ReceivableConnection, SystemMessage } from './type.js';
import { moneyOf } from '../balance/type.js';
import { currenciesOfFigure } from '../balance/range.js';
import { CursorArgs } from '../../types/pagination.js';
import { searchLimits } from '../../types/list-search.js';

/** A lock that still has an amount: a dispute or a reversal may have taken back all of it. */
const counts = sql`${receivableLock.amount} > 0`;

export default defineResource({
  object: 'receivable',
  node: node('receivable', receivable, Receivable, {
    listing: receivableListing,
    connection: ReceivableConnection,
    compiled: true,
  }),
  stored: { receivable: stored(receivable, receivableV1) },
  resolvers: [ReceivableResolver, PurposeCodeResolver],
  operations: {
    receivable: {
      reads: one('A receivable that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [get('/v1/receivables/:id')],
    },
    receivables: {
      reads: many(ReceivableArgs, "The receivables of the accounts on the caller's list."),
      access: 'read',
      limits: searchLimits,
      callers: everyone,
      refusals: ['parameter_missing'],
      routes: [extension.list('/v1/receivables')],
    },
    purposeCodes: {
      object: 'purpose_code',
      access: 'read',
      callers: everyone,
      v1: purposeCodesV1,
      routes: [extension.get('/v1/purpose_codes')],
    },
    createReceivable: {
      imports: { kind: 'receivables' },
      access: 'write',
      callers: everyone,
      rules: receivableProblems,
      refusals: ['account_type_invalid', 'status_invalid', 'amount_exceeds_reconcilable'],
      routes: [extension.post('/v1/receivables')],
    },
    updateReceivable: {
      access: 'write',
      callers: everyone,
      rules: receivableUpdateProblems,
      currencyOf: { id: receivable },
      limits: receivableUpdateLimits,
      refusals: ['account_type_invalid', 'amount_exceeds_reconcilable', 'status_invalid'],
      routes: [post('/v1/receivables/:id')],
    },
    voidReceivable: {
      access: 'write',
      callers: everyone,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/receivables/:id/void')],
    },
  },
  fields: [
    fields(receivable, {
      ...moneyOf({
        amountLocked: 'currency',
        amountMaximumReconcilable: 'currency',
        amountReconcilable: 'currency',
        amountSettledPayouts: 'currency',
      }),
      purposeCodeDescription: value(
        () => String,
        (row: ReceivableRow) => purposeCodes[row.purposeCode] ?? null,
        {
          nullable: true,
          description: 'The meaning of the purpose code, as the Reserve Bank of India (RBI) words it.',
        },
      ),
      metadata: value(
        () => Metadata,
        (row: ReceivableRow) => row.metadata ?? {},
        {
          description: "The client's own keys and values. Empty if there are none.",
        },
      ),
      systemMessages: value(
        () => [SystemMessage],
        (row: ReceivableRow) => row.systemMessage,
        { description: 'Messages of the service about the receivable, oldest first.' },
      ),
      account: link(account, 'accountId', { description: 'The account that the money is owed to.' }),
      customer: link(account, 'customerId', {
        nullable: true,
        description: 'The customer: the partner that the invoice bills. Null if it is not known.',
      }),
      document: link(file, ['invoice', 'document'], {
        nullable: true,
        description: 'The file behind `invoice.document`.',
      }),
      lockedDeposits: links(deposit, 'depositIdsAmountLocked', {
        description: 'The deposits whose locks are not paid out yet.',
      }),
      deposits: links(deposit, through(receivableLock, receivableLock.receivableId, receivableLock.depositId, counts), {
        description: 'The deposits that count towards it, paid out or not.',
      }),
    }),
    fieldsOfType(AgeingOfBucket, {
      receivables: value(() => ReceivableConnection, receivablesOfBucket, {
        args: CursorArgs,
        description:
          'The receivables of the bucket, the earliest due date first. Null for those whose customer is not known, ' +
          'in an ageing by customer.',
      }),
    }),
    fieldsOfType(AgeingOfCurrency, {
      byCustomer: value(() => AgeingCustomers, ageingCustomers, {
        args: AgeingCustomersArgs,
        description: 'The same receivables by the customers that they bill.',
      }),
    }),
    fieldsOfType(AgeingOfCustomer, {
      customer: link(account, 'customerId', {
        nullable: true,
        description: 'The customer. Null for the receivables of which it is not known.',
      }),
    }),
    fields(file, {
      usedByReceivables: page(receivable, usedByReceivable, {
        description: 'The receivables whose invoice the file is.',
      }),
    }),
    fields(account, {
      receivables: page(receivable, receivable.accountId, {
        args: ReceivableOfAccountArgs,
        description: "The account's receivables.",
      }),
      billedReceivables: page(receivable, receivable.customerId, {
        args: ReceivableOfAccountArgs,
        description: 'The receivables whose invoices bill the account, which is a partner.',
      }),
      owes: value(() => Owed, owes, {
        nullable: true,
        description:
          'What the account owes by the invoices that bill it: `amountReconcilable` of its OPEN ' +
          '`billedReceivables`, by currency.',
      }),
      receivableTotals: value(() => ReceivableTotals, receivableTotals, {
        args: ReceivableTotalsArgs,
        description: "The account's receivables together, by currency and status.",
      }),
      receivableAgeing: value(() => ReceivableAgeing, receivableAgeing, {
        args: ReceivableAgeingArgs,
        description: "The account's OPEN receivables by currency, and by how long they are overdue at `viewer.now`.",
      }),
      billedAgeing: value(() => ReceivableAgeing, billedAgeing, {
        args: BilledAgeingArgs,
        description:
          'The OPEN receivables whose invoices bill the account, by currency, and by how long they are overdue at ' +
          '`viewer.now`.',
      }),
    }),
    fields(deposit, {
      receivables: links(
        receivable,
        through(receivableLock, receivableLock.depositId, receivableLock.receivableId, counts),
        { description: 'The receivables that the deposit counts towards.' },
      ),
    }),
  ],
  weights: {
    'Account.owes': 'figure',
    'Account.receivableAgeing': 'figure',
    'Account.billedAgeing': 'figure',
    'AgeingOfCurrency.byCustomer': 'figure',
    'Account.receivableTotals': 'figure',
  },
  sizes: {
    'Owed.currencies': 0,
    'ReceivableAgeing.currencies': currenciesOfFigure,
    'AgeingOfCurrency.buckets': Object.keys(AgeingBucket).length,
    'AgeingCustomers.customers': customersOfAgeing,
    'AgeingOfCustomer.buckets': Object.keys(AgeingBucket).length,
    'ReceivableTotals.currencies': currenciesOfFigure,
    'ReceivableTotalOfCurrency.statuses': Object.keys(ReceivableStatus).length,
    'Query.purposeCodes': Object.keys(purposeCodes).length,
    'Deposit.receivables': 10,
    'Receivable.lockedDeposits': 10,
    'Receivable.deposits': 10,
    'Receivable.systemMessage': 0,
    'Receivable.systemMessages': 0,
  },
  events: {
    'receivable.created': 'A receivable was created.',
    'receivable.updated': 'Details of a receivable were changed, or how much of it is reconciled or paid out.',
    'receivable.voided': 'A receivable was voided.',
  },
});
