import { amountText } from '../../types/scalars.js';
import type { Money } from '../balance/type.js';
import { hashOrNull, noun, value, valueOrNull } from '../shape.js';
import type { AdjustmentRow } from './table.js';
import { shown } from './type.js';

/** Formats an adjustment for /v1. Silent: all fields. */
export function adjustmentV1(row: AdjustmentRow) {
  const { credit, debit } = shown(row);
  return {
    id: value(row.id),
    object: noun('adjustment'),
    created: value(row.created),
    livemode: value(row.livemode),
    account_id: value(row.accountId),
    credit: hashOrNull(credit && moneyV1(credit)),
    debit: hashOrNull(debit && moneyV1(debit)),
    reason: value(row.reason),
    payment_id: valueOrNull(row.paymentId),
  };
}

const moneyV1 = ({ amount, currency }: Money) => ({ amount: value(amountText(amount)), currency: value(currency) });
