import { everyone } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { Account } from '../account/type.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
// These imports set the order in the schema: persons and receivables come before payments, and payouts after them.
import '../person/resource.js';
import '../receivable/resource.js';
import { PaymentArgs, paymentListing } from './listing.js';
import { type PaymentRow, payment } from './table.js';
import { Payment, PaymentConnection } from './type.js';
import { paymentV1 } from './v1.js';
import { moneyOf } from '../balance/type.js';

export default defineResource({
  object: 'payment',
  node: node('payment', payment, Payment, { listing: paymentListing, connection: PaymentConnection, compiled: true }),
  stored: { payment: stored(payment, paymentV1) },
  operations: {
    payment: {
      reads: one('A payment that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/payments/:id')],
    },
    payments: {
      reads: many(PaymentArgs, "The payments of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/payments')],
    },
  },
  fields: [
    fields(payment, {
      ...moneyOf({ amount: 'currency' }),
      account: link(account, 'accountId', { description: 'The account whose money it moved.' }),
      counterpart: value(
        () => Account,
        async (row: PaymentRow, { scope }) =>
          row.type === 'transfer' ? scope.find(account, (await scope.find(account, row.accountId))?.ownerId) : null,
        {
          nullable: true,
          description:
            'Of a TRANSFER, the aggregator platform that received the money, or gave it back where the amount is ' +
            'negative. Null for other payments, and where the caller cannot see the platform.',
        },
      ),
    }),
    fields(account, {
      payments: page(payment, payment.accountId, { description: "The account's payments." }),
    }),
  ],
  events: {
    'payment.completed':
      'Money of a user of an aggregator was transferred to the balance of the aggregator, or with a negative amount ' +
      'back from it; or the service has adjusted available money.',
  },
});
