import { amountText } from '../../types/scalars.js';
import type { TransactionRow } from './table.js';
import { declareKeys } from '../shape.js';

/** Formats a transaction for /v1. Silent: all fields. */
export function transactionV1(t: TransactionRow) {
  return {
    id: t.id,
    object: 'transaction',
    created: t.created,
    livemode: t.livemode,
    checkout_id: t.checkoutId,
    payment_method: t.paymentMethod,
    amount: amountText(t.amount),
    currency: t.currency,
    status: t.status,
    reason_code: t.reasonCode,
    payment_id: t.paymentId,
  };
}

declareKeys(transactionV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  checkout_id: 'value',
  payment_method: 'value',
  amount: 'value',
  currency: 'value',
  status: 'value',
  reason_code: 'value or null',
  payment_id: 'value or null',
});
