import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';

export const AdjustmentStatus = { PROPOSED: 'proposed', APPROVED: 'approved', REJECTED: 'rejected' } as const;
export type AdjustmentStatus = (typeof AdjustmentStatus)[keyof typeof AdjustmentStatus];

/**
 * A correction of an account's available money that one operator proposes and another one approves. The account gets
 * the credit and gives the debit. With both, in two currencies, it is a conversion; with one of them, the outside world
 * has the other side. The account sees it once it is approved.
 */
export const adjustment = pgTable(
  'adjustment',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    creditAmount: bigint('credit_amount', { mode: 'bigint' }),
    creditCurrency: text('credit_currency'),
    debitAmount: bigint('debit_amount', { mode: 'bigint' }),
    debitCurrency: text('debit_currency'),
    reason: text('reason').notNull(),
    status: text('status').$type<AdjustmentStatus>().notNull(),
    /**
     * The name of the operator, and its id, which is null for OPERATOR_KEY and the command line. Their proposals become
     * those of the first named operator who approves them.
     */
    proposedBy: text('proposed_by').notNull(),
    proposedById: text('proposed_by_id'),
    /** When it became that operator's by an approval. */
    adoptedAt: bigint('adopted_at', { mode: 'number' }),
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
    check('adjustment_amount', sql`${t.creditAmount} > 0 and ${t.debitAmount} > 0`),
    check(
      'adjustment_sides',
      sql`(${t.creditAmount} is null) = (${t.creditCurrency} is null)
        and (${t.debitAmount} is null) = (${t.debitCurrency} is null)
        and ${t.creditCurrency} is distinct from ${t.debitCurrency}`,
    ),
    check('adjustment_decision', sql`(${t.status} = 'proposed') = (${t.decidedBy} is null)`),
  ],
);
export type AdjustmentRow = typeof adjustment.$inferSelect;
