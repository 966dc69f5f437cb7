import { everyone, testOnly } from '../../auth/permissions.js';
import type { Context } from '../../operation/context.js';
import { defineResource, extension, node, post, stored } from '../define.js';
import type { CheckoutPlace } from './link.js';
import { checkoutNow } from './now.js';
import {
  CheckoutOfDeposit,
  CheckoutOfPayment,
  checkoutProblems,
  CheckoutResolver,
  CheckoutsOfAccount,
  CheckoutsOfReceivable,
} from './resolver.js';
import { checkout } from './table.js';
import { Checkout } from './type.js';
import { checkoutV1 } from './v1.js';

const helpers = '/v1/test_helpers/checkouts/:id';

/** Spec: Editions. Edition 1 has no checkouts. */
export default defineResource({
  object: 'checkout',
  node: node('checkout', checkoutNow, Checkout),
  stored: { checkout: stored(checkout, checkoutV1) },
  resolvers: [CheckoutResolver, CheckoutsOfAccount, CheckoutsOfReceivable, CheckoutOfPayment, CheckoutOfDeposit],
  operations: {
    checkout: { access: 'read', callers: everyone, editions: [2], routes: [extension.get('/v1/checkouts/:id')] },
    checkouts: {
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
      routes: [post('/v1/checkouts')],
    },
    cancelCheckout: {
      access: 'write',
      callers: everyone,
      editions: [2],
      routes: [extension.post('/v1/checkouts/:id/cancel')],
    },
    payTestCheckout: { ...testOnly, editions: [2], routes: [extension.post(`${helpers}/pay`)] },
    declineTestCheckout: { ...testOnly, editions: [2], routes: [extension.post(`${helpers}/decline`)] },
    expireTestCheckout: { ...testOnly, editions: [2], routes: [extension.post(`${helpers}/expire`)] },
  },
  link: (row: CheckoutPlace, { checkouts }: Context) => `<${checkouts.urlOf(row)}>; rel="payment"`,
  sizes: { 'Checkout.receivables': 10 },
  events: [
    ...['checkout.created', 'checkout.updated', 'checkout.completed', 'checkout.late_payment'],
    ...['checkout.cancelled', 'checkout.expired'],
  ],
});
