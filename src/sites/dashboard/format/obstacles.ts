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

/** What of an account keeps its payouts from being made, by its status. */
const statuses: Record<string, string> = {
  DEACTIVATED: 'the account is deactivated',
  HOLD: 'the account is on hold',
  VERIFYING: 'the account is being verified',
};

/** A reason why money is not paid out; `currency` is null where it concerns all of it. */
export interface Obstacle {
  reasonCode: string;
  currency: string | null;
}

/** A sentence that says why the money of an account in this status is not paid out. */
export function obstacleWords({ reasonCode, currency }: Obstacle, status: string): string {
  const reason = (reasonCode === 'ACCOUNT_NOT_ACTIVATED' && statuses[status]) || reasons[reasonCode] || reasonCode;
  return `${currency ?? 'Nothing'} ${currency ? 'is not' : 'is'} paid out: ${reason}.`;
}

/** Whether the status of an account keeps it from trading, so that every page says so. */
export const isStopped = (status: string): boolean => status in statuses;

/** What the status of a stopped account is, and what follows. */
export const stoppedWords = (status: string): string =>
  `${statuses[status]!.replace('the account is', 'This account is')}: nothing is paid out` +
  (status === 'DEACTIVATED' ? '.' : status === 'HOLD' ? ' until the hold is lifted.' : ' until that is done.');
