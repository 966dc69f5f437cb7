import { everyone, testOnly } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { moneyOf } from '../balance/type.js';
import { checkoutNow } from '../checkout/now.js';
import { defineResource, extension, stored } from '../define.js';
import { deposit } from '../deposit/table.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { momentOf } from '../ledger/completed.js';
import { payment } from '../payment/table.js';
import { PaymentSource, sourceOf } from './payment-source.js';
import { RefundArgs, refundListing, RefundOfAccountArgs } from './listing.js';
import { RefundResolver } from './resolver.js';
import { refundProblems } from './rules.js';
import { type RefundRow, refund } from './table.js';
import { Refund, RefundConnection } from './type.js';
import { refundV1 } from './v1.js';

export default defineResource({
  object: 'refund',
  node: node('refund', refund, Refund, { listing: refundListing, connection: RefundConnection, compiled: true }),
  stored: { refund: stored(refund, refundV1) },
  resolvers: [RefundResolver],
  operations: {
    refund: {
      reads: one('A refund that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/refunds/:id')],
    },
    refunds: {
      reads: many(RefundArgs, "The refunds of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/refunds')],
    },
    createRefund: {
      access: 'write',
      callers: everyone,
      rules: refundProblems,
      currencyOf: { depositId: deposit, checkoutId: checkoutNow },
      refusals: ['status_invalid', 'amount_exceeds_deposit', 'balance_insufficient'],
      routes: [extension.post('/v1/refunds')],
    },
    succeedTestRefund: {
      ...testOnly,
      textLengthMax: 255,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/test_helpers/refunds/:id/succeed')],
    },
    failTestRefund: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/test_helpers/refunds/:id/fail')],
    },
  },
  fields: [
    fields(refund, {
      completedAt: momentOf(
        ({ id, status }: RefundRow) => (status === 'succeeded' ? ['refund_end', id] : null),
        'When the money left the balance for good. Null unless the refund has SUCCEEDED.',
      ),
      failedAt: momentOf(
        ({ id, status }: RefundRow) => (status === 'failed' ? ['refund_end', id] : null),
        'When the money came back to where it was taken from. Null unless the refund has FAILED.',
      ),
      ...moneyOf({ amount: 'currency', fromPending: 'currency' }),
      account: link(account, 'accountId', { description: 'The account that had received the deposit.' }),
      deposit: link(deposit, 'depositId', { description: 'The deposit that is refunded.' }),
      checkout: link(checkoutNow, 'checkoutId', {
        nullable: true,
        description: 'The checkout that the deposit came through. Null if it came through none.',
      }),
      payment: link(payment, 'paymentId', { description: 'The payment of this refund.' }),
    }),
    fields(account, {
      refunds: page(refund, refund.accountId, {
        args: RefundOfAccountArgs,
        description: 'Refunds of deposits to the account.',
      }),
    }),
    fields(deposit, {
      refunds: page(refund, refund.depositId, { description: 'The refunds of this deposit.' }),
    }),
    fields(checkoutNow, {
      refunds: page(refund, refund.checkoutId, { description: 'The refunds of its deposit.' }),
    }),
    fields(payment, {
      source: value(() => PaymentSource, sourceOf, {
        nullable: true,
        description:
          'What the payment is of. Null for a TRANSFER, which is nothing else, and where the caller cannot see the ' +
          'object.',
      }),
    }),
  ],
  events: {
    'refund.created': 'A refund was created, and its money is on its way to the payer.',
    'refund.succeeded': 'The payer has the money of a refund.',
    'refund.failed': 'A refund has failed, and its money is back where it came from.',
  },
});
