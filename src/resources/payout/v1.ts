import { amountText } from '../../types/scalars.js';
import { expectedArrivalOf } from './arrival.js';
import type { PayoutBlockRow, PayoutRow } from './table.js';
import { named, noun, schemas, stated, value, valueOrNull } from '../shape.js';

/** Formats a payout for /v1. Silent: all fields. */
export function payoutV1(p: PayoutRow) {
  return {
    id: value(p.id),
    object: noun('payout'),
    created: value(p.created),
    livemode: value(p.livemode),
    account_id: value(p.accountId),
    address_id: value(p.addressId),
    amount: value(amountText(p.amount)),
    currency: value(p.currency),
    status: value(p.status),
    payment_id: value(p.paymentId),
    source_amount: value(amountText(p.sourceAmount)),
    source_currency: value(p.sourceCurrency),
    rate: value(p.rate),
    reason_code: valueOrNull(p.reasonCode),
    bank_reference: valueOrNull(p.bankReference),
    expected_arrival: named('expectedArrivalAt', valueOrNull(expectedArrivalOf(p))),
  };
}

/** Formats the reason why money was not paid out, for the events of /v1. Silent: all fields. */
export function payoutBlockV1(b: PayoutBlockRow) {
  return {
    id: stated(schemas.string, b.id),
    object: noun('payout_block'),
    created: stated(schemas.integer, b.created),
    livemode: stated(schemas.boolean, b.livemode),
    account_id: stated(schemas.string, b.accountId),
    currency: value(b.currency),
    reason_code: value(b.reasonCode),
  };
}
