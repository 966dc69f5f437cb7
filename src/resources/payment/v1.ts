import { amountText } from '../../types/scalars.js';
import type { PaymentRow } from './table.js';
import { declareKeys } from '../shape.js';

/** Formats a payment for /v1. Silent: all fields. */
export function paymentV1(p: PaymentRow) {
  return {
    id: p.id,
    object: 'payment',
    created: p.created,
    livemode: p.livemode,
    type: p.type,
    amount: amountText(p.amount),
    currency: p.currency,
    status: p.status,
    deposit_id: p.depositId,
    checkout_id: p.checkoutId,
  };
}

declareKeys(paymentV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  type: 'value',
  amount: 'value',
  currency: 'value',
  status: 'value',
  deposit_id: 'value or null',
  checkout_id: 'value or null',
});
