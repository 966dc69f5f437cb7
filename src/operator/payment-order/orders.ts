import { and, desc, eq, sql } from 'drizzle-orm';
import { fromRow } from '../../db/read/row-mapper.js';
import { type PayoutRow, payout } from '../../resources/payout/table.js';
import { refuseAlone } from '../access/approvals.js';
import { type Operator, OperatorError } from '../operator.js';
import { listedMax, type ListPage, noCursor } from '../paging.js';
import type { Actor } from '../money/adjustments.js';
import { countOf, eachTenant, livePayouts, payoutsOf, waitingPayouts } from './claims.js';
import { payeesOf } from './payee.js';
import { type LeftOutPayout, leftOutMax, paymentOrder, type PaymentOrderRow, PaymentOrderStatus } from './table.js';

const { placeholder } = sql;
const { APPROVED, SENT, REJECTED, GATHERING } = PaymentOrderStatus;

/** How many payouts a statement reads, to be claimed or given back. */
const batchMax = 500;
/** The most payouts of an order: a bank takes no larger file of most kinds. */
const payoutsMax = 10_000;

/**
 * Gathers the payouts that wait in the currency of an account into a new order: each is claimed by a conditional update
 * of its own tenant's row, so that none is in two orders; those of further tenants than `tenantsMax` are left for the
 * next order, because each tenant takes a statement. A payout that no file can pay is left out and stays due. One
 * process gathers an order. What it leaves when it is interrupted is given back by the next one, as are all claims of
 * rejected orders. The same call under its idempotency key returns the order that it has proposed.
 */
export async function createPaymentOrder(
  operator: Operator,
  { ownAccountId, valueDate }: { ownAccountId: string; valueDate: string },
  by: Actor,
  tenantsMax = payoutsMax,
): Promise<PaymentOrderRow> {
  const key = operator.idempotencyKey ?? null;
  const [begun] = await operator.call('create_payment_order', [ownAccountId, valueDate, by.name, by.id, key]);
  const order = fromRow(paymentOrder, begun!);
  if (order.status !== GATHERING) {
    operator.replays++;
    return order;
  }
  for (const id of await rejectedWithPayouts(operator)) await giveBack(operator, id);
  const leftOut = await gather(operator, order, tenantsMax);
  const { payouts, total } = await countOf(operator, order.id);
  const counted = [order.id, payouts, String(total), JSON.stringify(leftOut.slice(0, leftOutMax))];
  const [row] = await operator.call('propose_payment_order', counted);
  const proposed = fromRow(paymentOrder, row!);
  if (proposed.status !== REJECTED) return proposed;
  await giveBack(operator, order.id);
  const [first] = leftOut;
  throw new OperatorError(
    proposed.payouts === 0
      ? `No payout in ${order.currency} waits that is in no order yet. There is nothing to pay.` +
          (first
            ? ` Left out, because no file can pay them: ${leftOut.length}, such as ${first.id}. ${first.reason}`
            : '')
      : 'The order was rejected, or another one was begun for the account, before all payouts were gathered.',
    'state_conflict',
    'payment_order.own_account_id',
  );
}

/** Claims what waits for an order, the oldest first; returns what no file could pay, which stays due. */
async function gather(operator: Operator, order: PaymentOrderRow, tenantsMax: number): Promise<LeftOutPayout[]> {
  const tenants = new Set<string>();
  const leftOut: LeftOutPayout[] = [];
  let claimed = 0;
  let after: PayoutRow | undefined;
  while (claimed < payoutsMax && leftOut.length < payoutsMax) {
    const waiting = await waitingPayouts(operator, order, after, Math.min(batchMax, payoutsMax - claimed));
    const payees = await payeesOf(operator, waiting);
    const payable = waiting.filter((_, i) => typeof payees[i] !== 'string');
    for (const [i, { id }] of waiting.entries()) {
      const reason = payees[i];
      if (typeof reason === 'string') leftOut.push({ id, reason });
    }
    for (const { tenantId } of payable) if (tenants.size < tenantsMax) tenants.add(tenantId);
    const taken = payable.filter(({ tenantId }) => tenants.has(tenantId));
    await eachTenant(operator, 'claim_payouts', taken, order.id);
    if (waiting.length === 0 || taken.length < payable.length) break;
    claimed += taken.length;
    after = waiting.at(-1);
    // What a rejected order claims waits for its end, and another one cannot have it.
    if ((await orderOf(operator, order.id)).status !== GATHERING) break;
  }
  return leftOut;
}

/**
 * Approves an order that another named operator has proposed. Its file can be made from then on. What OPERATOR_KEY or a
 * command has begun is proposed by the first named operator who approves it. Spec: decisions, 8.15.
 */
export async function approvePaymentOrder(operator: Operator, id: string, by: Actor): Promise<PaymentOrderRow> {
  await refuseAlone(operator, 'A payment order');
  await countedOrder(operator, id);
  return decided(operator, id, APPROVED, by, null);
}

/** Rejects an order, or says that the bank has not carried it out, and gives its payouts back. */
export async function rejectPaymentOrder(
  operator: Operator,
  id: string,
  reason: string,
  by: Actor,
): Promise<PaymentOrderRow> {
  const before = await orderOf(operator, id);
  const order = before.status === REJECTED ? before : await decided(operator, id, REJECTED, by, reason);
  await giveBack(operator, id);
  return order;
}

/** Gives the payouts of a rejected order back that no bank has paid. */
async function giveBack(operator: Operator, id: string): Promise<void> {
  for (;;) {
    const rows = await payoutsOf(operator, id, undefined, batchMax, true);
    await eachTenant(operator, 'release_payouts', rows, id);
    if (rows.length < batchMax) return;
  }
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
  const row = await foundOrder(operator, id);
  if (!row)
    throw new OperatorError('There is no such payment order. Check the id.', 'resource_missing', 'payment_order.id');
  return row;
}

async function foundOrder(operator: Operator, id: string): Promise<PaymentOrderRow | undefined> {
  const [row] = await operator.read<PaymentOrderRow>(
    'operator_payment_order',
    (db) =>
      db
        .select()
        .from(paymentOrder)
        .where(eq(paymentOrder.id, placeholder('id'))),
    { id },
  );
  return row;
}

/**
 * The order with this id. Refuses one whose payouts are not what was proposed, which nothing but a change of the
 * database by hand brings about.
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
  const from = after === undefined ? undefined : await foundOrder(operator, after);
  if (after !== undefined && !from) throw noCursor('payment_order');
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

/** A page of the payouts of an order; `after` is the `next` of the page before. */
export async function orderedPayouts(
  operator: Operator,
  orderId: string,
  { after, limit = listedMax }: { after?: string | undefined; limit?: number | undefined },
): Promise<ListPage<PayoutRow>> {
  await orderOf(operator, orderId);
  const [from] = after === undefined ? [] : await livePayouts(operator, [after]);
  if (after !== undefined && !from) throw noCursor('payout');
  const rows = await payoutsOf(operator, orderId, from, limit + 1);
  return { nodes: rows.slice(0, limit), next: rows.length > limit ? rows[limit - 1]!.id : null };
}

/** The rejected orders that still have payouts under way. */
async function rejectedWithPayouts(operator: Operator): Promise<string[]> {
  const claims = await operator.read<{ orderId: string }>(
    'operator_orders_under_way',
    (db) =>
      db
        .selectDistinct({ orderId: payout.orderId })
        .from(payout)
        .where(sql`order_id is not null and status = 'processing'`),
    {},
  );
  const rows = await operator.read<{ id: string }>(
    'operator_orders_rejected',
    (db) =>
      db
        .select({ id: paymentOrder.id })
        .from(paymentOrder)
        .where(
          and(sql`${paymentOrder.id} = any(${placeholder('ids')}::text[])`, eq(paymentOrder.status, sql`'rejected'`)),
        ),
    { ids: claims.map(({ orderId }) => orderId) },
  );
  return rows.map(({ id }) => id);
}
