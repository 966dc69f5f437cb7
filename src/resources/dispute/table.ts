import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, primaryKey, text, unique, type PgColumn } from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import type { DepositReasonCode } from '../deposit/table.js';

/** How far a dispute has come. Spec: decisions, 8.13. Silent: all statuses. */
export const DisputeStatus = {
  NEEDS_RESPONSE: 'needs_response',
  UNDER_REVIEW: 'under_review',
  WON: 'won',
  LOST: 'lost',
  ACCEPTED: 'accepted',
} as const;
export type DisputeStatus = (typeof DisputeStatus)[keyof typeof DisputeStatus];

/** How they are listed. */
export const disputeLists = (t: Record<'accountId' | 'status', PgColumn>): Lists =>
  listsBy({ accountId: t.accountId }, 'dispute_account', { status: t.status });

/**
 * A payer's contest of a deposit. Its money is taken when it is opened, by the deposit with a negative amount
 * (`debitDepositId`), and comes back when it is won. Silent: all fields.
 */
export const dispute = pgTable(
  'dispute',
  {
    ...keyColumns(),
    /** The account that had received the deposit. */
    accountId: text('account_id').notNull(),
    /** The deposit that is disputed. */
    depositId: text('deposit_id').notNull(),
    /** The deposit with the negative amount that took the money. */
    debitDepositId: text('debit_deposit_id').notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').$type<DisputeStatus>().notNull(),
    reasonCode: text('reason_code').$type<DepositReasonCode>().notNull(),
    /** The reason in the words of the bank or the acquirer. */
    acquirerReason: text('acquirer_reason'),
    /** The last second at which an answer is taken; null where the acquirer named none. */
    respondBy: bigint('respond_by', { mode: 'number' }),
    evidenceText: text('evidence_text'),
    evidenceFileIds: text('evidence_file_ids').array().notNull().default([]),
    submittedAt: bigint('submitted_at', { mode: 'number' }),
    decidedAt: bigint('decided_at', { mode: 'number' }),
    /** The reference of the bank or the acquirer; null in test mode. */
    reference: text('reference'),
    ...visibilityColumns(),
    ...version(),
  },
  (t) => [
    primaryKey({ name: 'dispute_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('dispute_of_debit').on(t.tenantId, t.livemode, t.debitDepositId),
    index('dispute_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('dispute_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('dispute_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    index('dispute_of_deposit').on(t.tenantId, t.livemode, t.depositId, t.created, t.id),
    // Those of all accounts that wait for a response, also of what partners received, which the root list has not.
    index('dispute_waiting_of_tenant')
      .on(t.tenantId, t.livemode, t.created, t.id)
      .where(sql`status = 'needs_response'`),
    // The operator searches all tenants: by id, and by status for the disputes that wait for a decision.
    index('dispute_by_id').on(t.id),
    index('dispute_queue').on(t.status, t.created, t.id, t.livemode),
    ...indexesOf('dispute', t, disputeLists(t)),
    check('dispute_status', isOneOf(t.status, DisputeStatus)),
  ],
);
export type DisputeRow = typeof dispute.$inferSelect;
