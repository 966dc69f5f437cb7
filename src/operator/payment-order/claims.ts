import { and, asc, eq, sql } from 'drizzle-orm';
import { type PayoutRow, payout } from '../../resources/payout/table.js';
import type { Operator } from '../operator.js';
import type { PaymentOrderRow } from './table.js';

const { placeholder } = sql;

/** For how many tenants payouts are claimed at once. */
const tenantsAtOnce = 4;

/** The live payouts under way in a currency that are in no order, the oldest first, after another one. */
export function waitingPayouts(
  operator: Operator,
  { currency }: PaymentOrderRow,
  after: PayoutRow | undefined,
  limit: number,
): Promise<PayoutRow[]> {
  return operator.read<PayoutRow>(
    `operator_payouts_to_order:${after ? 'after' : ''}`,
    (db) =>
      db
        .select()
        .from(payout)
        .where(
          and(
            eq(payout.currency, placeholder('currency')),
            sql`livemode and status = 'processing' and order_id is null`,
            after &&
              sql`(${payout.created}, ${payout.id}) > (${placeholder('created')}::bigint, ${placeholder('id')}::text)`,
          ),
        )
        .orderBy(asc(payout.created), asc(payout.id))
        .limit(placeholder('limit')),
    { currency, created: after && String(after.created), id: after?.id, limit },
  );
}

/** Payouts of an order in the order of its file; `underWay` leaves out those that have ended. */
export function payoutsOf(
  operator: Operator,
  orderId: string,
  after: Pick<PayoutRow, 'tenantId' | 'id'> | undefined,
  limit: number,
  underWay = false,
): Promise<PayoutRow[]> {
  return operator.read<PayoutRow>(
    `operator_payouts_of_order:${after ? 'after' : ''}:${underWay ? 'under_way' : ''}`,
    (db) =>
      db
        .select()
        .from(payout)
        .where(
          and(
            eq(payout.orderId, placeholder('orderId')),
            after &&
              sql`(${payout.tenantId}, ${payout.id}) > (${placeholder('tenant')}::text, ${placeholder('id')}::text)`,
            underWay ? sql`status = 'processing'` : undefined,
          ),
        )
        .orderBy(asc(payout.tenantId), asc(payout.id))
        .limit(placeholder('limit')),
    { orderId, tenant: after?.tenantId, id: after?.id, limit },
  );
}

/** How many payouts an order has, and what they are together. */
export async function countOf(operator: Operator, orderId: string): Promise<{ payouts: number; total: bigint }> {
  const [row] = await operator.read<{ payouts: number; total: string }>(
    'operator_payouts_counted',
    (db) =>
      db
        .select({
          payouts: sql<number>`count(*)::int`,
          total: sql<string>`coalesce(sum(${payout.amount}), 0)::text`,
        })
        .from(payout)
        .where(eq(payout.orderId, placeholder('orderId'))),
    { orderId },
  );
  return { payouts: row!.payouts, total: BigInt(row!.total) };
}

/** The live payouts with these ids. */
export function livePayouts(operator: Operator, ids: readonly string[]): Promise<PayoutRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return operator.read<PayoutRow>(
    'operator_live_payouts',
    (db) =>
      db
        .select()
        .from(payout)
        .where(and(sql`${payout.id} = any(${placeholder('ids')}::text[])`, sql`livemode`)),
    { ids: [...ids] },
  );
}

/** Calls a function for the payouts of each tenant, for some tenants at a time. */
export async function eachTenant(
  operator: Operator,
  fn: 'claim_payouts' | 'release_payouts',
  rows: readonly PayoutRow[],
  orderId: string,
): Promise<void> {
  const tenants = [...new Set(rows.map(({ tenantId }) => tenantId))];
  const call = (tenant: string) => {
    const ids = rows.filter(({ tenantId }) => tenantId === tenant).map(({ id }) => id);
    return operator.call(fn, [tenant, true, JSON.stringify(ids), orderId]);
  };
  for (let at = 0; at < tenants.length; at += tenantsAtOnce)
    await Promise.all(tenants.slice(at, at + tenantsAtOnce).map(call));
}
