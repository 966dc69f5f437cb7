/** Why money is not paid out, by the reason code of the graph. */
const reasons: Record<string, string> = {
  ACCOUNT_NOT_ACTIVATED: 'the account is not activated',
  ADDRESS_MISSING: 'there is no bank account for payouts',
  AMOUNT_TOO_LARGE: 'the amount is above the largest payout',
  AMOUNT_TOO_SMALL: 'the amount is below the smallest payout; it is paid with later money',
  BALANCE_NEGATIVE: 'the balance is negative after a dispute or a reversal',
  NOT_APPLICABLE: 'this account has no payouts',
  PLATFORM_HOLD: 'the platform has disabled payouts',
  RATE_MISSING: 'there is no exchange rate',
  SERVICE_HOLD: 'the service has disabled payouts',
};

/** A reason why money is not paid out; `currency` is null where it concerns all of it. */
export interface Obstacle {
  reasonCode: string;
  currency: string | null;
}

/** A sentence that says why money is not paid out. */
export function obstacleWords({ reasonCode, currency }: Obstacle): string {
  return `${currency ?? 'Nothing'} ${currency ? 'is not' : 'is'} paid out: ${reasons[reasonCode] ?? reasonCode}.`;
}
