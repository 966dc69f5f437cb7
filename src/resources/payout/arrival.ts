import type { PayoutRow } from './table.js';

const day = 86_400;
/** The sandbox completes a payout a minute after its creation. */
const secondsOfSandbox = 60;

/**
 * When a payout is expected to have arrived: a minute after its creation in test mode, and at the end of the next
 * working day (Monday to Friday, in UTC) in live mode. Null for a payout that failed or was returned. Silent:
 * the field.
 */
export function expectedArrivalOf({ created, livemode, status }: PayoutRow): number | null {
  if (status === 'failed' || status === 'returned') return null;
  if (!livemode) return created + secondsOfSandbox;
  const today = created - (created % day);
  // 1970-01-01 was a Thursday, so that 0 is a Monday here.
  const weekday = (today / day + 3) % 7;
  const daysToNext = weekday < 4 ? 1 : 7 - weekday;
  return today + (daysToNext + 1) * day;
}
