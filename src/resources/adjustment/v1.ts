import { amountText } from '../../types/scalars.js';
import { hashOrNull, noun, schemas, stated, value } from '../shape.js';
import type { AdjustmentRow } from './table.js';
import { shown } from './type.js';

/** Formats an adjustment for /v1. Silent: all fields. */
export function adjustmentV1(row: AdjustmentRow) {
  const { counter } = shown(row);
  return {
    id: value(row.id),
    object: noun('adjustment'),
    created: value(row.created),
    livemode: value(row.livemode),
    account_id: stated(schemas.string, row.accountId),
    amount: value(amountText(row.amount)),
    currency: value(row.currency),
    counter: hashOrNull(counter && { amount: value(amountText(counter.amount)), currency: value(counter.currency) }),
    reason: value(row.reason),
    payment_id: stated(schemas.stringOrNull, row.paymentId),
  };
}
