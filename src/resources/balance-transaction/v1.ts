import type { EntryRow } from '../ledger/table.js';
import { amountText } from '../../types/scalars.js';
import { noun, stated, value } from '../shape.js';

const secondsText = {
  type: 'string',
  pattern: '^\\d{1,11}$',
  description: 'Seconds since the Unix epoch, as a string.',
};

/**
 * Formats a balance transaction for /v1. `created` is a string, as the specification declares it. Spec:
 * BalanceTransaction.
 */
export function balanceTransactionV1(e: EntryRow) {
  return {
    id: value(e.id),
    object: noun('balance_transaction'),
    amount: value(amountText(e.amount)),
    currency: value(e.currency),
    category: value(e.category),
    created: stated(secondsText, String(e.created)),
    livemode: value(e.livemode),
    payment_id: value(e.paymentId),
  };
}
