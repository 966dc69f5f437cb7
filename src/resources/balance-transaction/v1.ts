import type { EntryRow } from '../ledger/table.js';
import { amountText } from '../../types/scalars.js';

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
