import { defineResource, stored, extension } from '../define.js';
import { node, one, fields, value, link, page } from '../edges.js';
import { transaction, type TransactionRow } from './table.js';
import { Transaction, TransactionConnection } from './type.js';
import { transactionListing } from './listing.js';
import { transactionV1 } from './v1.js';
import { everyone } from '../../auth/permissions.js';
import { PaymentMethod, methodTexts, PaymentMethodDetails, methodDetailsOf } from '../payment/method.js';
import { moneyOf } from '../balance/type.js';
import { checkoutNow } from '../checkout/now.js';
import { payment, type PaymentRow } from '../payment/table.js';
import { deposit } from '../deposit/table.js';

export default defineResource({
  object: 'transaction',
  node: node('transaction', transaction, Transaction, {
    listing: transactionListing,
    connection: TransactionConnection,
  }),
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
