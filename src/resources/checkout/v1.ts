import { amountText } from '../../types/scalars.js';
import type { CheckoutRow } from './table.js';
import { hashOrNull, noun, text, value } from '../shape.js';

/** Formats a checkout for /v1. Spec: Checkout. */
export function checkoutV1(c: CheckoutRow) {
  return {
    id: value(c.id),
    object: noun('checkout'),
    type: value('payment'),
    created: value(c.created),
    expires_at: value(c.expiresAt),
    livemode: value(c.livemode),
    amount: value(amountText(c.amount)),
    gross_amount: value(amountText(c.grossAmount)),
    currency: value(c.currency),
    from: { account_id: value(c.fromAccountId) },
    to: { account_id: value(c.toAccountId) },
    payment_methods: value(c.paymentMethods),
    receivables: c.receivableIds.map((id) => ({ id: value(id) })),
    redirect_url: text(c.redirectUrl),
    status: value(c.status),
    effective_transaction: hashOrNull(
      c.effectiveTransactionId === null || c.effectiveTransactionStatus === null
        ? null
        : { id: value(c.effectiveTransactionId), status: value(c.effectiveTransactionStatus) },
    ),
    metadata: value(c.metadata ?? {}),
  };
}
