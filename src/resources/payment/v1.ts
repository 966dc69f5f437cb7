import { amountText } from '../../types/scalars.js';
import type { PaymentRow } from './table.js';
import { noun, value, valueOrNull } from '../shape.js';

/** Formats a payment for /v1. Silent: all fields. */
export function paymentV1(p: PaymentRow) {
  return {
    id: value(p.id),
    object: noun('payment'),
    created: value(p.created),
    livemode: value(p.livemode),
    type: value(p.type),
    amount: value(amountText(p.amount)),
    currency: value(p.currency),
    status: value(p.status),
    deposit_id: valueOrNull(p.depositId),
    checkout_id: valueOrNull(p.checkoutId),
  };
}
