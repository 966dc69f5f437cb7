import { amountText } from '../scalars.js';
import type { PayoutRow } from './table.js';

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
