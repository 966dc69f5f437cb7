import { amountText } from '../../types/scalars.js';
import { expectedArrivalOf } from './arrival.js';
import type { PayoutBlockRow, PayoutRow } from './table.js';
import { declareKeys, named, stated } from '../shape.js';

/** Formats a payout for /v1. Silent: all fields. */
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
    source_amount: amountText(p.sourceAmount),
    source_currency: p.sourceCurrency,
    rate: p.rate,
    expected_arrival: expectedArrivalOf(p),
  };
}

/** Formats the reason why money was not paid out, for the events of /v1. Silent: all fields. */
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

declareKeys(payoutV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  address_id: 'value',
  amount: 'value',
  currency: 'value',
  status: 'value',
  payment_id: 'value',
  source_amount: 'value',
  source_currency: 'value',
  rate: 'value',
  expected_arrival: named('expectedArrivalAt', 'value or null'),
});

const text = stated({ type: 'string' });

declareKeys(payoutBlockV1, {
  id: text,
  object: 'noun',
  created: stated({ type: 'integer' }),
  livemode: stated({ type: 'boolean' }),
  account_id: text,
  currency: 'value',
  reason_code: 'value',
});
