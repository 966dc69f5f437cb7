import { sql } from 'drizzle-orm';
import { bigint, check, index, jsonb, pgTable, primaryKey, text, unique, type PgColumn } from 'drizzle-orm/pg-core';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import { isOneOf, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';

/** How far a refund has come. Silent: all statuses. */
export const RefundStatus = { PENDING: 'pending', SUCCEEDED: 'succeeded', FAILED: 'failed' } as const;
export type RefundStatus = (typeof RefundStatus)[keyof typeof RefundStatus];

/** What a refund has taken from the lock of a receivable, in minor units. */
interface FreedLock {
  receivableId: string;
  amount: string;
}

/** How they are listed. */
export const refundLists = (t: Record<'accountId' | 'status', PgColumn>): Lists =>
  listsBy({ accountId: t.accountId }, 'refund_account', { status: t.status });

/**
 * Money of a completed deposit on its way back to its payer. While the refund is pending, the money is in `processing`
 * of the accounts that gave it: `fromPending` is the part that was not reconciled, of the deposit's account, and
 * `debitedAccountId` has given the rest from its available money. The refund of a duplicate debits no account: the
 * acquirer had taken that money, and it was never in a balance. Silent: all fields.
 */
export const refund = pgTable(
  'refund',
  {
    ...keyColumns(),
    /** The account that had received the deposit. */
    accountId: text('account_id').notNull(),
    depositId: text('deposit_id').notNull(),
    /** The checkout that the deposit came through. */
    checkoutId: text('checkout_id'),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').$type<RefundStatus>().notNull(),
    /** Why the account refunds, in its own words. */
    reason: text('reason'),
    /** Why the refund failed, in the words of the bank or the acquirer. */
    failureReason: text('failure_reason'),
    bankReference: text('bank_reference'),
    paymentId: text('payment_id').notNull(),
    fromPending: bigint('from_pending', { mode: 'bigint' }).notNull(),
    debitedAccountId: text('debited_account_id'),
    /** The locks that shrank, for a refund that fails. No event and no answer has them. */
    freedLocks: jsonb('freed_locks').$type<FreedLock[]>(),
    ...visibilityColumns(),
    ...version(),
  },
  (t) => [
    primaryKey({ name: 'refund_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('refund_of_payment').on(t.tenantId, t.livemode, t.paymentId),
    index('refund_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('refund_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('refund_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    index('refund_of_deposit').on(t.tenantId, t.livemode, t.depositId, t.created, t.id),
    index('refund_of_checkout')
      .on(t.tenantId, t.livemode, t.checkoutId, t.created, t.id)
      .where(sql`checkout_id is not null`),
    // The operator searches all tenants: by id, and by status for the refunds that wait for it.
    index('refund_by_id').on(t.id),
    index('refund_queue').on(t.status, t.created, t.id, t.livemode),
    ...indexesOf('refund', t, refundLists(t)),
    check('refund_status', isOneOf(t.status, RefundStatus)),
    check('refund_amount', sql`${t.amount} > 0 and ${t.fromPending} between 0 and ${t.amount}`),
  ],
);
export type RefundRow = typeof refund.$inferSelect;
