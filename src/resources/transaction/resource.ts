import { everyone } from '../../auth/permissions.js';
import type { Listing } from '../../types/pagination.js';
import { checkoutNow } from '../checkout/now.js';
import { deposit } from '../deposit/table.js';
import { type PaymentRow, payment } from '../payment/table.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, node, one, page, value } from '../edges.js';
import { type TransactionRow, transaction } from './table.js';
import { Transaction, TransactionConnection } from './type.js';
import { transactionV1 } from './v1.js';
import { moneyOf } from '../balance/money.js';
import { methodDetailsOf, methodTexts, PaymentMethod, PaymentMethodDetails } from '../payment/method.js';

const listing: Listing = { object: 'transaction', filters: {}, byAccount: [] };

export default defineResource({
  object: 'transaction',
  node: node('transaction', transaction, Transaction, { listing, connection: TransactionConnection }),
  stored: { transaction: stored(transaction, transactionV1) },
  operations: {
    transaction: {
      reads: one('An attempt to pay a checkout that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      editions: [2],
      routes: [extension.get('/v1/transactions/:id')],
    },
  },
  fields: [
    fields(transaction, {
      method: value(
        () => PaymentMethod,
        (row: TransactionRow) => row.paymentMethod,
        {
          description: methodTexts.method,
          json: (column) => `'"' || upper(${column('paymentMethod')}) || '"'`,
        },
      ),
      methodDetails: value(() => PaymentMethodDetails, methodDetailsOf, {
        nullable: true,
        description: methodTexts.details,
      }),
      ...moneyOf({ amount: 'currency' }),
      checkout: link(checkoutNow, 'checkoutId', { description: 'The checkout that the attempt pays.' }),
      payment: link(payment, 'paymentId', { nullable: true, description: 'The payment that it became.' }),
      deposit: link(deposit, 'depositId', {
        nullable: true,
        description: 'The deposit that it became: a FAILED one where the checkout was paid already.',
      }),
    }),
    fields(payment, {
      transaction: value(
        () => Transaction,
        async (row: PaymentRow, { scope }) => {
          if (row.checkoutId === null) return null;
          const attempts = await scope.all(transaction, transaction.checkoutId, row.checkoutId);
          // The caller can see the payment, and so an attempt with the same acting account.
          return attempts.find((each) => each.paymentId === row.id && each.actingAccountId === row.actingAccountId);
        },
        { nullable: true, description: 'The attempt that became this payment. Null if the payment is of no checkout.' },
      ),
    }),
    fields(deposit, {
      transaction: link(transaction, 'id', {
        by: transaction.depositId,
        nullable: true,
        description: 'The attempt to pay a checkout that became the deposit. Null for a deposit of no checkout.',
      }),
    }),
    fields(checkoutNow, {
      transactions: page(transaction, transaction.checkoutId, { description: 'The attempts to pay it.' }),
    }),
  ],
  events: {
    'transaction.created': 'A payer has begun an attempt to pay a checkout.',
    'transaction.submitted': 'The payer has sent the details of the payment to the acquirer.',
    'transaction.succeeded': 'An attempt to pay a checkout has succeeded.',
    'transaction.failed': 'An attempt to pay a checkout has failed.',
    'transaction.mismatched':
      'The acquirer has reported a success that does not fit the attempt: ' +
      'with other details, or after it was declined.',
  },
});
