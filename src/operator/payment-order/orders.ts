import { and, asc, desc, eq, sql } from 'drizzle-orm';
import { fromRow } from '../../db/read/row-mapper.js';
import { type PayoutRow, payout } from '../../resources/payout/table.js';
import { namedOperators } from '../access/operators.js';
import { type Operator, OperatorError } from '../operator.js';
import { listedMax, type ListPage } from '../paging.js';
import type { Actor } from '../money/adjustments.js';
import { paymentOrder, type PaymentOrderRow, PaymentOrderStatus } from './table.js';

const { placeholder } = sql;
const { APPROVED, SENT, REJECTED, GATHERING } = PaymentOrderStatus;

/** How many payouts a statement reads, to be claimed or given back. */
const batchMax = 500;
/** The most payouts of an order: a bank takes no larger file of most kinds. */
export const payoutsMax = 10_000;

/**
 * Begins an order of all payouts that wait in the currency of an account, or goes on with the one that is being
 * gathered for the same day, and gathers at most `limit` payouts.
 */
export async function createPaymentOrder(
  operator: Operator,
  { ownAccountId, valueDate }: { ownAccountId: string; valueDate: string },
  by: Actor,
  limit = payoutsMax,
): Promise<PaymentOrderRow> {
  const [row] = await operator.call('create_payment_order', [ownAccountId, valueDate, by.name, by.id]);
  return gather(operator, fromRow(paymentOrder, row!), limit);
}

/** Goes on with gathering an order, by at most `limit` payouts. It is proposed once all are in it. */
export async function gatherPaymentOrder(operator: Operator, id: string, limit = payoutsMax): Promise<PaymentOrderRow> {
  return gather(operator, await orderOf(operator, id), limit);
}

/**
 * Claims payouts, each by a conditional update of its own tenant's row, so that none is in two orders. What was claimed
 * before an interruption is found again by the order that the rows name.
 */
async function gather(operator: Operator, order: PaymentOrderRow, limit: number): Promise<PaymentOrderRow> {
  if (order.status !== GATHERING) return order;
  let [claimed, read] = [await countOf(operator, order.id), 0];
  while (read < limit && claimed.payouts < payoutsMax) {
    const most = Math.min(batchMax, limit - read, payoutsMax - claimed.payouts);
    const waiting = await waitingPayouts(operator, order, most);
    if (waiting.length === 0) break;
    read += waiting.length;
    await eachTenant(operator, 'claim_payouts', waiting, order.id);
    claimed = await countOf(operator, order.id);
  }
  if (read >= limit && claimed.payouts < payoutsMax) return order;
  const [row] = await operator.call('propose_payment_order', [order.id, claimed.payouts, String(claimed.total)]);
  const proposed = fromRow(paymentOrder, row!);
  if (proposed.payouts === 0)
    throw new OperatorError(
      `No payout in ${order.currency} waits that is in no order yet. There is nothing to pay.`,
      'state_conflict',
      'payment_order.own_account_id',
    );
  return proposed;
}

/** Approves an order that another operator has proposed. Its file can be made from then on. Spec: decisions, 8.15. */
export async function approvePaymentOrder(operator: Operator, id: string, by: Actor): Promise<PaymentOrderRow> {
  if ((await namedOperators(operator)) < 2)
    throw new OperatorError(
      'A payment order needs two named operators: one proposes it, and another one approves it. There are fewer than ' +
        'two with the role operate. Create another one with `tidegate operator create`.',
      'permission_denied',
    );
  await countedOrder(operator, id);
  return decided(operator, id, APPROVED, by, null);
}

/**
 * Rejects an order, or says that the bank has not carried it out, and gives its payouts back, at most `limit` of them:
 * `left` says how many it still has. Call it again until none is left.
 */
export async function rejectPaymentOrder(
  operator: Operator,
  id: string,
  reason: string,
  by: Actor,
  limit = payoutsMax,
): Promise<{ order: PaymentOrderRow; left: number }> {
  const before = await orderOf(operator, id);
  const order = before.status === REJECTED ? before : await decided(operator, id, REJECTED, by, reason);
  for (let given = 0; given < limit; ) {
    const rows = await payoutsOf(operator, id, undefined, Math.min(batchMax, limit - given), true);
    if (rows.length === 0) break;
    given += rows.length;
    await eachTenant(operator, 'release_payouts', rows, id);
  }
  return { order, left: (await payoutsOf(operator, id, undefined, batchMax, true)).length };
}

/** Records that the file of an order was given to the bank. */
export async function sendPaymentOrder(operator: Operator, id: string, by: Actor): Promise<PaymentOrderRow> {
  await countedOrder(operator, id);
  const [row] = await operator.call('send_payment_order', [id, by.name, by.id]);
  return fromRow(paymentOrder, row!);
}

async function decided(
  operator: Operator,
  id: string,
  to: 'approved' | 'rejected',
  by: Actor,
  note: string | null,
): Promise<PaymentOrderRow> {
  await orderOf(operator, id);
  const [row] = await operator.call('decide_payment_order', [id, to, by.name, by.id, note]);
  return fromRow(paymentOrder, row!);
}

/**
 * Whether a payout may end although an order has it: by what a bank's file says once it may be at the bank, and by the
 * word of a person once it was sent or rejected. Otherwise it could be paid after it has failed.
 */
export async function refuseInOrder(
  operator: Operator,
  { orderId }: PayoutRow,
  by: 'operator' | 'bank',
): Promise<void> {
  if (orderId === null) return;
  const { status } = await orderOf(operator, orderId);
  if (status === SENT || status === REJECTED || (by === 'bank' && status === APPROVED)) return;
  throw new OperatorError(
    `The payout is in the payment order ${orderId}, which is not sent yet. Mark the order as sent, or reject it.`,
    'state_conflict',
    'payout.status',
  );
}

/** The order with this id. */
export async function orderOf(operator: Operator, id: string): Promise<PaymentOrderRow> {
  const [row] = await operator.read<PaymentOrderRow>(
    'operator_payment_order',
    (db) =>
      db
        .select()
        .from(paymentOrder)
        .where(eq(paymentOrder.id, placeholder('id'))),
    { id },
  );
  if (!row)
    throw new OperatorError('There is no such payment order. Check the id.', 'resource_missing', 'payment_order.id');
  return row;
}

/**
 * The order with this id. Refuses one whose payouts are not what was proposed: two who gathered it at once may have
 * added to it then.
 */
export async function countedOrder(operator: Operator, id: string): Promise<PaymentOrderRow> {
  const [order, { payouts, total }] = [await orderOf(operator, id), await countOf(operator, id)];
  if (order.status === GATHERING || order.status === REJECTED || (order.payouts === payouts && order.total === total))
    return order;
  throw new OperatorError(
    'The payouts of the order are not those that were proposed. Reject it, and gather it anew.',
    'state_conflict',
    'payment_order.payouts',
  );
}

/** Which orders to list. */
export interface OrderFilter {
  status?: PaymentOrderStatus | undefined;
  after?: string | undefined;
  limit?: number | undefined;
}

/** The orders, the newest first; `after` is the `next` of the page before. */
export async function listOrders(
  operator: Operator,
  { status, after, limit = listedMax }: OrderFilter,
): Promise<ListPage<PaymentOrderRow>> {
  const from = after === undefined ? undefined : await orderOf(operator, after);
  const rows = await operator.read<PaymentOrderRow>(
    `operator_payment_orders:${from ? 'after' : ''}`,
    (db) =>
      db
        .select()
        .from(paymentOrder)
        .where(
          and(
            sql`${paymentOrder.status} = any(${placeholder('statuses')}::text[])`,
            from &&
              sql`(${paymentOrder.created}, ${paymentOrder.id}) <
                (${placeholder('created')}::bigint, ${placeholder('id')}::text)`,
          ),
        )
        .orderBy(desc(paymentOrder.created), desc(paymentOrder.id))
        .limit(placeholder('limit')),
    {
      statuses: status === undefined ? Object.values(PaymentOrderStatus) : [status],
      ...{ created: from && String(from.created), id: from?.id, limit: limit + 1 },
    },
  );
  return { nodes: rows.slice(0, limit), next: rows.length > limit ? rows[limit - 1]!.id : null };
}

/** The live payouts under way in a currency that are in no order, the oldest first. */
function waitingPayouts(operator: Operator, { currency }: PaymentOrderRow, limit: number): Promise<PayoutRow[]> {
  return operator.read<PayoutRow>(
    'operator_payouts_to_order',
    (db) =>
      db
        .select()
        .from(payout)
        .where(
          and(
            eq(payout.currency, placeholder('currency')),
            sql`livemode and status = 'processing' and order_id is null`,
          ),
        )
        .orderBy(asc(payout.created), asc(payout.id))
        .limit(placeholder('limit')),
    { currency, limit },
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

/** A page of the payouts of an order; `after` is the `next` of the page before. */
export async function orderedPayouts(
  operator: Operator,
  orderId: string,
  { after, limit = listedMax }: { after?: string | undefined; limit?: number | undefined },
): Promise<ListPage<PayoutRow>> {
  await orderOf(operator, orderId);
  const [from] = after === undefined ? [] : await livePayouts(operator, [after]);
  if (after !== undefined && !from)
    throw new OperatorError('There is no such payout. Check the cursor.', 'resource_missing', 'payout.id');
  const rows = await payoutsOf(operator, orderId, from, limit + 1);
  return { nodes: rows.slice(0, limit), next: rows.length > limit ? rows[limit - 1]!.id : null };
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

/** Calls a function for the payouts of each tenant. */
async function eachTenant(
  operator: Operator,
  fn: 'claim_payouts' | 'release_payouts',
  rows: readonly PayoutRow[],
  orderId: string,
): Promise<void> {
  for (const tenantId of new Set(rows.map((row) => row.tenantId))) {
    const ids = rows.filter((row) => row.tenantId === tenantId).map(({ id }) => id);
    await operator.call(fn, [tenantId, true, JSON.stringify(ids), orderId]);
  }
}
