import type { Scope } from '../../db/scope.js';
import { CountPrecision, countUpTo } from '../../types/count.js';
import { type PayoutPlan, planOf } from '../payout/plan.js';
import { kinds } from './kinds.js';
import type { AttentionCount, AttentionItem } from './type.js';
import { readMax, type Row } from './waiting.js';

const kind = 'payouts_blocked';

/** The accounts whose payouts are blocked, as items of what waits, and how many they are. */
export interface Blocked {
  items: AttentionItem[];
  count: AttentionCount | null;
}

/**
 * Which of the accounts that were read have blocked payouts at this moment, with the money that is not paid out. The
 * rules are those of `Account.payoutsBlockedBy`, so the two never disagree. One statement reads all accounts.
 */
export async function payoutsBlocked(scope: Scope, rows: readonly Row[]): Promise<(of: string) => Blocked> {
  const read = rows.filter((row) => row.kind === kind);
  const ids = [...new Set(read.map(({ accountId }) => accountId))];
  const plans = await Promise.all(ids.map((id) => planOf(scope, id)));
  return (of) => {
    const own = read.filter((row) => row.of === of);
    const items = ids.flatMap((id, i) =>
      itemOf(
        own.filter(({ accountId }) => accountId === id),
        plans[i]!,
      ),
    );
    const precision = own.some(({ found }) => found > readMax) ? CountPrecision.AT_LEAST : CountPrecision.EXACT;
    const { severity } = kinds[kind];
    return { items, count: items.length > 0 ? { kind, severity, count: { value: items.length, precision } } : null };
  };
}

/** The item of one account, of which there is a row for each currency that was due, and one if payouts are disabled. */
function itemOf([first, ...others]: readonly Row[], { blocked, obstacles }: PayoutPlan): AttentionItem[] {
  const stopped = obstacles.some(({ reasonCode }) => reasonCode === 'account_not_activated');
  if (!first || stopped || blocked.length === 0) return [];
  const due = [first, ...others].filter(({ currency }) => currency !== null).map(({ since }) => Number(since));
  return [
    {
      ...{ kind, accountId: first.accountId, objectId: first.objectId, ...kinds[kind] },
      ...{ count: countUpTo(readMax, 1), amounts: blocked },
      ...{ since: due.length > 0 ? Math.min(...due) : null, dueBy: null },
    },
  ];
}
