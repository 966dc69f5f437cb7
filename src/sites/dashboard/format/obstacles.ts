import { capitalized, words } from './words.js';

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

/** Why money is not paid out, as a line of its own. */
export const obstacleLine = ({ reasonCode }: Pick<Obstacle, 'reasonCode'>): string => capitalized(reasonOf(reasonCode));

const reasonOf = (code: string): string => reasons[code] ?? code;

/** What of an account keeps its payouts from being made, by its status. */
const statuses: Record<string, string> = {
  DEACTIVATED: 'deactivated',
  HOLD: 'on hold',
  VERIFYING: 'in verification',
};

/** A reason why money is not paid out; `currency` is null where it concerns all of it. */
export interface Obstacle {
  reasonCode: string;
  currency: string | null;
}

/** A sentence that says why the money of an account is not paid out; `since` is the day when its status began. */
export function obstacleWords({ reasonCode, currency }: Obstacle, { status, since }: Stopped): string {
  const stopped = reasonCode === 'ACCOUNT_NOT_ACTIVATED' && isStopped(status);
  const reason = stopped ? `the account ${stateWords({ status, since })}` : reasonOf(reasonCode);
  return `${currency ?? 'Nothing'} ${currency ? 'is not' : 'is'} paid out: ${reason}.`;
}

/** The status of an account, and since when it has it where that is known. */
interface Stopped {
  status: string;
  since?: string | null | undefined;
}

/** Whether the status of an account keeps it from trading, so that every page says so. */
export const isStopped = (status: string): boolean => status in statuses;

const follows: Record<string, string> = {
  DEACTIVATED: 'Nothing is paid out.',
  HOLD: 'Payouts wait until the operator of the service lifts the hold.',
  VERIFYING: 'Payouts begin when that is done.',
};

/** In which state a stopped account is, and since when, behind its name. */
const stateWords = ({ status, since }: Stopped): string =>
  since ? `has been ${statuses[status]} since ${since}` : `is ${statuses[status]}`;

/** What the status of a stopped account is, and what follows. */
export const stoppedWords = (stopped: Stopped): string =>
  `This account ${stateWords(stopped)}. ${follows[stopped.status]}`;

/** Why a bank did not take a payout, or sent it back, by the reason code of the graph. */
const bankReasons: Record<string, string> = {
  ACCOUNT_CLOSED: 'The bank account is closed',
  ACCOUNT_INVALID: 'The bank does not know the account number',
  BANK_REJECTED: 'The bank refused it without saying why',
  GENERAL: 'The bank gave no particular reason',
  LIMIT_EXCEEDED: 'The amount is above a limit of the bank account',
  NAME_MISMATCH: 'The name is not that of the account holder',
  REGULATORY: 'A rule of the authorities stopped it',
};

/** Why a payout did not arrive, in words. */
export const reasonWords = (code: string): string => bankReasons[code] ?? words(code);
