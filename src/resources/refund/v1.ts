import { amountText } from '../../types/scalars.js';
import { noun, value, valueOrNull } from '../shape.js';
import type { RefundRow } from './table.js';

/** Formats a refund for /v1. Silent: all fields. */
export function refundV1(r: RefundRow) {
  return {
    id: value(r.id),
    object: noun('refund'),
    created: value(r.created),
    livemode: value(r.livemode),
    account_id: value(r.accountId),
    deposit_id: value(r.depositId),
    checkout_id: valueOrNull(r.checkoutId),
    payment_id: value(r.paymentId),
    amount: value(amountText(r.amount)),
    currency: value(r.currency),
    from_pending: value(amountText(r.fromPending)),
    status: value(r.status),
    reason: valueOrNull(r.reason),
    failure_reason: valueOrNull(r.failureReason),
    bank_reference: valueOrNull(r.bankReference),
  };
}
