import { amountText } from '../../types/scalars.js';
import type { TransactionRow } from './table.js';
import { noun, value, valueOrNull } from '../shape.js';

/** Formats a transaction for /v1. Silent: all fields. */
export function transactionV1(t: TransactionRow) {
  return {
    id: value(t.id),
    object: noun('transaction'),
    created: value(t.created),
    livemode: value(t.livemode),
    checkout_id: value(t.checkoutId),
    payment_method: value(t.paymentMethod),
    amount: value(amountText(t.amount)),
    currency: value(t.currency),
    status: value(t.status),
    reason_code: valueOrNull(t.reasonCode),
    payment_id: valueOrNull(t.paymentId),
  };
}
