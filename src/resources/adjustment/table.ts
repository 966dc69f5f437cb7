import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';

export const AdjustmentStatus = { PROPOSED: 'proposed', APPROVED: 'approved', REJECTED: 'rejected' } as const;
export type AdjustmentStatus = (typeof AdjustmentStatus)[keyof typeof AdjustmentStatus];

/**
 * A correction of an account's available money that one operator proposes and another one approves. A positive amount
 * goes to the account. With a counter amount, which has the other sign, it is a conversion between two currencies of
 * the account; without one, the outside world has the other side. The account sees it once it is approved.
 */
export const adjustment = pgTable(
  'adjustment',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    currency: text('currency').notNull(),
    counterAmount: bigint('counter_amount', { mode: 'bigint' }),
    counterCurrency: text('counter_currency'),
    reason: text('reason').notNull(),
    status: text('status').$type<AdjustmentStatus>().notNull(),
    /** The name of the operator, and its id, which is null for OPERATOR_KEY and the command line. */
    proposedBy: text('proposed_by').notNull(),
    proposedById: text('proposed_by_id'),
    decidedBy: text('decided_by'),
    decidedById: text('decided_by_id'),
    decidedAt: bigint('decided_at', { mode: 'number' }),
    paymentId: text('payment_id'),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'adjustment_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    uniqueIndex('adjustment_of_payment').on(t.tenantId, t.livemode, t.paymentId),
    // The operator searches all tenants: by id, and by status for those that wait for a decision.
    index('adjustment_by_id').on(t.id),
    index('adjustment_queue').on(t.status, t.created, t.id, t.livemode),
    check('adjustment_status', isOneOf(t.status, AdjustmentStatus)),
    check('adjustment_amount', sql`${t.amount} <> 0`),
    check(
      'adjustment_counter',
      sql`(${t.counterAmount} is null and ${t.counterCurrency} is null)
        or (sign(${t.counterAmount}) = -sign(${t.amount}) and ${t.counterCurrency} <> ${t.currency})`,
    ),
    check('adjustment_decision', sql`(${t.status} = 'proposed') = (${t.decidedBy} is null)`),
  ],
);
export type AdjustmentRow = typeof adjustment.$inferSelect;
