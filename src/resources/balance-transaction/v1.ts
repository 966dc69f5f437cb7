import type { EntryRow } from '../ledger/table.js';
import { amountText } from '../../types/scalars.js';

/** A balance transaction as /v1 spells it; `created` is declared as string. Spec: BalanceTransaction. */
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
