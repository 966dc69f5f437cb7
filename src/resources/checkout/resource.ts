import { everyone, testOnly } from '../../auth/permissions.js';
import type { Context } from '../../operation/context.js';
import { defineResource, extension, post, stored } from '../define.js';
import { fields, link, links, many, node, object, one, page, value } from '../edges.js';
import type { CheckoutPlace } from './link.js';
import { type CheckoutNow, checkoutNow } from './now.js';
import { account } from '../account/table.js';
import { type DepositRow, deposit } from '../deposit/table.js';
import { payment } from '../payment/table.js';
import { receivable } from '../receivable/table.js';
import { transaction } from '../transaction/table.js';
import { Metadata, URL } from '../../types/scalars.js';
import { CheckoutArgs, CheckoutOfAccountArgs, checkoutListing, ofReceivable } from './listing.js';
import { checkoutLimits, checkoutProblems, takenProblems } from './rules.js';
import { CheckoutResolver } from './resolver.js';
import { type CheckoutRow, CheckoutType, checkout } from './table.js';
import { Checkout, CheckoutConnection, CheckoutParty } from './type.js';
import { checkoutV1 } from './v1.js';
import { momentOf } from '../ledger/completed.js';
import { moneyOf } from '../balance/type.js';
import { methodOfCheckout, PaymentMethod } from '../payment/method.js';

const helpers = '/v1/test_helpers/checkouts/:id';

/** Spec: Editions. Edition 1 has no checkouts. */
export default defineResource({
  object: 'checkout',
  node: node('checkout', checkoutNow, Checkout, { listing: checkoutListing, connection: CheckoutConnection }),
  stored: { checkout: stored(checkout, checkoutV1) },
  resolvers: [CheckoutResolver],
  operations: {
    checkout: {
      reads: one('A checkout that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      editions: [2],
      routes: [extension.get('/v1/checkouts/:id')],
    },
    checkouts: {
      reads: many(CheckoutArgs, "The checkouts of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      editions: [2],
      list: true,
      routes: [extension.list('/v1/checkouts')],
    },
    createCheckout: {
      access: 'write',
      callers: everyone,
      editions: [2],
      rules: checkoutProblems,
      limits: checkoutLimits,
      refusals: ['account_type_invalid', 'status_invalid', 'acquirer_unavailable', 'amount_exceeds_reconcilable'],
      routes: [post('/v1/checkouts')],
    },
    cancelCheckout: {
      access: 'write',
      callers: everyone,
      editions: [2],
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/checkouts/:id/cancel')],
    },
    payTestCheckout: {
      ...testOnly,
      editions: [2],
      rules: takenProblems,
      routes: [extension.post(`${helpers}/pay`)],
    },
    declineTestCheckout: {
      ...testOnly,
      editions: [2],
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/decline`)],
    },
    expireTestCheckout: {
      ...testOnly,
      editions: [2],
      refusals: ['status_invalid'],
      routes: [extension.post(`${helpers}/expire`)],
    },
  },
  fields: [
    fields(checkoutNow, {
      completedAt: momentOf(
        ({ depositId }: CheckoutNow) => (depositId === null ? null : ['deposit', depositId]),
        'When its payment was credited, also if that was after its time. Null before that.',
      ),
      ...moneyOf({ amount: 'currency', grossAmount: 'currency' }),
      type: value(
        () => CheckoutType,
        () => CheckoutType.PAYMENT,
        { description: 'What the checkout is for.' },
      ),
      from: object(
        () => CheckoutParty,
        { accountId: 'fromAccountId' },
        { description: 'The partner that pays, by its id.' },
      ),
      to: object(
        () => CheckoutParty,
        { accountId: 'toAccountId' },
        { description: 'The user that is paid, by its id.' },
      ),
      metadata: value(
        () => Metadata,
        (row: CheckoutRow) => row.metadata ?? {},
        {
          description: "The client's own keys and values. Empty if there are none.",
        },
      ),
      url: value(
        () => URL,
        (row: CheckoutRow, { checkouts }) => checkouts.urlOf(row),
        {
          description:
            'The address of its page, for the partner that pays. The page needs no other credential than this address.',
        },
      ),
      methods: value(
        () => [PaymentMethod],
        (row: CheckoutRow) => row.paymentMethods.map(methodOfCheckout),
        { description: 'The methods with which the partner can pay.' },
      ),
      fromAccount: link(account, 'fromAccountId', { description: 'The partner that pays.' }),
      toAccount: link(account, 'toAccountId', { description: 'The user that is paid.' }),
      receivables: links(receivable, 'receivableIds', {
        each: true,
        description: 'The receivables that it pays, in the order in which a payment locks them.',
      }),
      effectiveTransaction: link(transaction, 'effectiveTransactionId', {
        nullable: true,
        description: 'The latest finished attempt; after an attempt has succeeded, that attempt.',
      }),
      deposit: link(deposit, 'depositId', { nullable: true, description: 'The deposit that was credited.' }),
    }),
    fields(account, {
      checkoutsIn: page(checkoutNow, checkoutNow.toAccountId, {
        args: CheckoutOfAccountArgs,
        description: 'Checkouts that pay the account.',
      }),
      checkoutsOut: page(checkoutNow, checkoutNow.fromAccountId, {
        args: CheckoutOfAccountArgs,
        description: 'Checkouts that the account pays.',
      }),
    }),
    fields(receivable, {
      checkouts: page(checkoutNow, ofReceivable, {
        args: CheckoutOfAccountArgs,
        description: 'The checkouts that pay it.',
      }),
    }),
    fields(checkoutNow, {
      payments: page(payment, payment.checkoutId, { description: 'The payments that it became.' }),
    }),
    fields(payment, {
      checkout: link(checkoutNow, 'checkoutId', {
        nullable: true,
        description: 'The checkout that the payment is of.',
      }),
    }),
    fields(deposit, {
      checkout: value(
        () => Checkout,
        async (row: DepositRow, { scope }) =>
          scope.find(checkoutNow, (await scope.find(payment, row.paymentId))?.checkoutId),
        { nullable: true, description: 'The checkout that it came through.' },
      ),
    }),
  ],
  link: (row: CheckoutPlace, { checkouts }: Context) => `<${checkouts.urlOf(row)}>; rel="payment"`,
  sizes: { 'Checkout.receivables': 10 },
  events: {
    'checkout.created': 'A checkout was created.',
    'checkout.updated': 'An attempt to pay a checkout has failed; the checkout counts it.',
    'checkout.completed': 'A checkout was paid.',
    'checkout.late_payment': 'A checkout was paid after it had ended. The money is credited all the same.',
    'checkout.cancelled': 'A checkout was cancelled.',
    'checkout.expired': 'The time of a checkout is over, and it was not paid.',
  },
});
