import { amountText } from '../../types/scalars.js';
import type { Balance, BalanceAggregate, Money } from './type.js';

/** A balance as /v1 spells it. Spec: Balance. */
export function balanceV1(b: Balance) {
  return {
    object: 'balance',
    account_id: b.accountId,
    livemode: b.livemode,
    available: b.available.map(moneyV1),
    pending: b.pending.map(moneyV1),
    processing: b.processing.map(moneyV1),
    payout_processing: b.payoutProcessing.map(moneyV1),
    fee_advance: b.feeAdvance.map(moneyV1),
  };
}

/** The aggregate partner pending balance as /v1 spells it. Silent: all fields. */
export function balanceAggregateV1(b: BalanceAggregate) {
  return {
    object: 'balance_aggregate',
    account_id: b.accountId,
    livemode: b.livemode,
    pending: b.pending.map(moneyV1),
  };
}

function moneyV1({ amount, currency }: Money) {
  return { amount: amountText(amount), currency };
}
