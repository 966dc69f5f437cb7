import { amountText } from '../../types/scalars.js';
import type { CheckoutRow } from './table.js';
import { declareKeys, orNull } from '../shape.js';

/** Formats a checkout for /v1. Spec: Checkout. */
export function checkoutV1(c: CheckoutRow) {
  return {
    id: c.id,
    object: 'checkout',
    type: 'payment',
    created: c.created,
    expires_at: c.expiresAt,
    livemode: c.livemode,
    amount: amountText(c.amount),
    gross_amount: amountText(c.grossAmount),
    currency: c.currency,
    from: { account_id: c.fromAccountId },
    to: { account_id: c.toAccountId },
    payment_methods: c.paymentMethods,
    receivables: c.receivableIds.map((id) => ({ id })),
    redirect_url: c.redirectUrl,
    status: c.status,
    effective_transaction:
      c.effectiveTransactionId === null || c.effectiveTransactionStatus === null
        ? null
        : { id: c.effectiveTransactionId, status: c.effectiveTransactionStatus },
    metadata: c.metadata ?? {},
  };
}

declareKeys(checkoutV1, {
  id: 'value',
  object: 'noun',
  type: 'value',
  created: 'value',
  expires_at: 'value',
  livemode: 'value',
  amount: 'value',
  gross_amount: 'value',
  currency: 'value',
  from: { account_id: 'value' },
  to: { account_id: 'value' },
  payment_methods: 'value',
  receivables: { id: 'value' },
  redirect_url: 'text',
  status: 'value',
  effective_transaction: orNull({ id: 'value', status: 'value' }),
  metadata: 'value',
});
