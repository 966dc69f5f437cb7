import { sql } from 'drizzle-orm';
import type { Scope } from '../../db/scope.js';
import type { AddressRow } from '../address/table.js';
import type { PayoutReasonCode } from './table.js';

/**
 * Why the last payout to an address failed or came back: the owner should look at the address. Null if it arrived or is
 * under way, and for addresses to which nothing was paid. Silent: the field.
 */
export async function payoutProblemOf(
  { id, category }: AddressRow,
  { scope }: { scope: Scope },
): Promise<PayoutReasonCode | null> {
  if (category !== 'user_payout') return null;
  return scope.many('address_payout_problem', id, async (ids) => {
    const p = sql.placeholder;
    const rows = await scope.read<{ address: string; reason: PayoutReasonCode }>(
      'address_payout_problem',
      (db) =>
        db
          .select({
            address: sql<string>`a.id`,
            reason: sql<PayoutReasonCode>`coalesce(y.reason_code, 'general')`,
          })
          .from(
            sql`unnest(${p('ids')}::text[]) a(id) cross join lateral (
              select x.status, x.reason_code from payout x
              where x.tenant_id = ${p('tenantId')} and x.livemode = ${p('livemode')} and x.address_id = a.id
              order by x.created desc, x.id desc limit 1) y`,
          )
          .where(sql`y.status in ('failed', 'returned')`),
      { ids },
    );
    return new Map(rows.map(({ address, reason }) => [address, reason]));
  });
}
