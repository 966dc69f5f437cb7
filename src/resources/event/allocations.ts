import type { Allocation } from '../allocation/type.js';
import type { MatchReason } from '../deposit/receivable-matches.js';
import type { EventRow } from './table.js';

/** What the function that emits `deposit.reconciled` stores beside the deposit. */
interface Reconciled {
  currency: string;
  allocations?: { receivable_id: string; amount: string }[];
  match_reasons?: MatchReason[];
}

/** The allocations of the reconciliation that an event is about, as they were then; null for other events. */
export function allocationsOfEvent({ type, objectId, created, data }: EventRow): Allocation[] | null {
  if (type !== 'deposit.reconciled') return null;
  const { currency, allocations } = data as Reconciled;
  return (
    allocations?.map(({ receivable_id: receivableId, amount }) => ({
      ...{ created, currency, status: 'locked', amount: BigInt(amount) },
      ...{ depositId: objectId, receivableId, payoutId: null },
    })) ?? null
  );
}

/** Why the service did the reconciliation that an event is about by itself; null for other events. */
export function matchReasonsOfEvent({ type, data }: EventRow): MatchReason[] | null {
  return type === 'deposit.reconciled' ? ((data as Reconciled).match_reasons ?? null) : null;
}
