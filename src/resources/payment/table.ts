import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, primaryKey, text, type PgColumn } from 'drizzle-orm/pg-core';
import { ofOthers, parentIndex } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import { isOneOf, keyColumns, updatedAt, visibilityColumns } from '../../db/schema/columns.js';

/** What a payment is of. The next release writes `refund`, which this one reads already. */
export const PaymentType = {
  DEPOSIT: 'deposit',
  CHECKOUT: 'checkout',
  PAYOUT: 'payout',
  DISPUTE: 'dispute',
  TRANSFER: 'transfer',
  REFUND: 'refund',
  ADJUSTMENT: 'adjustment',
} as const;
export type PaymentType = (typeof PaymentType)[keyof typeof PaymentType];

export const PaymentStatus = {
  PROCESSING: 'processing',
  COMPLETED: 'completed',
  CANCELLED: 'cancelled',
  FAILED: 'failed',
  REVERSED: 'reversed',
} as const;
export type PaymentStatus = (typeof PaymentStatus)[keyof typeof PaymentStatus];

/** How they are listed. */
export const paymentLists = (t: Record<'accountId' | 'status' | 'type', PgColumn>): Lists => ({
  ...listsBy({ accountId: t.accountId }, 'payment_account', { status: t.status, type: t.type }),
  hashed: [t.accountId],
});

/**
 * A cause of balance transactions: one deposit, checkout, payout, dispute, transfer, refund or adjustment. Silent: all
 * fields.
 */
export const payment = pgTable(
  'payment',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    type: text('type').$type<PaymentType>().notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').$type<PaymentStatus>().notNull(),
    depositId: text('deposit_id'),
    checkoutId: text('checkout_id'),
    ...visibilityColumns(),
    ...updatedAt(),
  },
  (t) => [
    primaryKey({ name: 'payment_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    index('payment_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('payment_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    parentIndex('payment_by_account', t, t.accountId),
    index('payment_of_checkout')
      .on(t.tenantId, t.livemode, t.checkoutId, t.created, t.id)
      .where(sql`checkout_id is not null`),
    ...indexesOf('payment', t, paymentLists(t)),
    check('payment_type', isOneOf(t.type, PaymentType)),
    check('payment_status', isOneOf(t.status, PaymentStatus)),
  ],
);
export type PaymentRow = typeof payment.$inferSelect;
