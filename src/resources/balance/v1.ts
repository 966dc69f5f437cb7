import { amountText } from '../../types/scalars.js';
import { declareKeys } from '../shape.js';
import type { Balance, BalanceAggregate, Money } from './type.js';

/** Formats a balance for /v1. Spec: Balance. */
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

/** Formats the aggregate pending balance of partners for /v1. Silent: all fields. */
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

const moneyKeys = { amount: 'value', currency: 'value' } as const;

declareKeys(balanceV1, {
  object: 'noun',
  account_id: 'value',
  livemode: 'value',
  available: moneyKeys,
  pending: moneyKeys,
  processing: moneyKeys,
  payout_processing: moneyKeys,
  fee_advance: moneyKeys,
});

declareKeys(balanceAggregateV1, { object: 'noun', account_id: 'value', livemode: 'value', pending: moneyKeys });
