import type { EntryRow } from '../ledger/table.js';
import { amountText } from '../../types/scalars.js';
import { declareKeys, stated } from '../shape.js';

/**
 * Formats a balance transaction for /v1. `created` is a string, as the specification declares it. Spec:
 * BalanceTransaction.
 */
export function balanceTransactionV1(e: EntryRow) {
  return {
    id: e.id,
    object: 'balance_transaction',
    amount: amountText(e.amount),
    currency: e.currency,
    category: e.category,
    created: String(e.created),
    livemode: e.livemode,
    payment_id: e.paymentId,
  };
}

declareKeys(balanceTransactionV1, {
  id: 'value',
  object: 'noun',
  amount: 'value',
  currency: 'value',
  category: 'value',
  created: stated({
    type: 'string',
    pattern: '^\\d{1,11}$',
    description: 'Seconds since the Unix epoch, as a string.',
  }),
  livemode: 'value',
  payment_id: 'value',
});
