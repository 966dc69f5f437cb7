import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, node, stored } from '../define.js';
// The schema shows payments after what they pay, and payouts after them.
import '../person/resource.js';
import '../receivable/resource.js';
import { PaymentResolver, PaymentsOfAccount } from './resolver.js';
import { payment } from './table.js';
import { Payment } from './type.js';
import { paymentV1 } from './v1.js';

export default defineResource({
  object: 'payment',
  node: node('payment', payment, Payment),
  stored: { payment: stored(payment, paymentV1) },
  resolvers: [PaymentResolver, PaymentsOfAccount],
  operations: {
    payment: { access: 'read', callers: everyone, routes: [extension.get('/v1/payments/:id')] },
    payments: { access: 'read', callers: everyone, routes: [extension.list('/v1/payments')] },
  },
  events: ['payment.completed'],
});
