import { amountText } from '../../types/scalars.js';
import type { TransactionRow } from './table.js';

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
