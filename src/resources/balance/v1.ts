import { amountText } from '../../types/scalars.js';
import { noun, value } from '../shape.js';
import type { Balance, BalanceAggregate, Money } from './type.js';

/** Formats a balance for /v1. Spec: Balance. */
export function balanceV1(b: Balance) {
  return {
    object: noun('balance'),
    account_id: value(b.accountId),
    livemode: value(b.livemode),
    available: b.available.map(moneyV1),
    pending: b.pending.map(moneyV1),
    processing: b.processing.map(moneyV1),
    payout_processing: b.payoutProcessing.map(moneyV1),
    fee_advance: b.feeAdvance.map(moneyV1),
  };
}

/** Formats the aggregate pending balance of partners for /v1. Silent: all fields. */
export function balanceAggregateV1(b: BalanceAggregate) {
  return {
    object: noun('balance_aggregate'),
    account_id: value(b.accountId),
    livemode: value(b.livemode),
    pending: b.pending.map(moneyV1),
  };
}

function moneyV1({ amount, currency }: Money) {
  return { amount: value(amountText(amount)), currency: value(currency) };
}
