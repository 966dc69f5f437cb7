import { amountText } from '../../types/scalars.js';
import type { PayoutBlockRow, PayoutRow } from './table.js';

/** A payout as /v1 spells it. Silent: all fields. */
export function payoutV1(p: PayoutRow) {
  return {
    id: p.id,
    object: 'payout',
    created: p.created,
    livemode: p.livemode,
    account_id: p.accountId,
    address_id: p.addressId,
    amount: amountText(p.amount),
    currency: p.currency,
    status: p.status,
    payment_id: p.paymentId,
  };
}

/** Why money was not paid out, as the events of /v1 spell it. Silent: all fields. */
export function payoutBlockV1(b: PayoutBlockRow) {
  return {
    id: b.id,
    object: 'payout_block',
    created: b.created,
    livemode: b.livemode,
    account_id: b.accountId,
    currency: b.currency,
    reason_code: b.reasonCode,
  };
}
