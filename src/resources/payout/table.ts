import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  numeric,
  pgTable,
  primaryKey,
  text,
  unique,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';
import { isOneOf, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';

/** How far a payout has come. */
export const PayoutStatus = {
  PROCESSING: 'processing',
  COMPLETED: 'completed',
  FAILED: 'failed',
  RETURNED: 'returned',
} as const;
export type PayoutStatus = (typeof PayoutStatus)[keyof typeof PayoutStatus];

/** Why a payout did not arrive, or came back. Silent: all codes. */
export const PayoutReasonCode = {
  ACCOUNT_CLOSED: 'account_closed',
  ACCOUNT_INVALID: 'account_invalid',
  BANK_REJECTED: 'bank_rejected',
  GENERAL: 'general',
  LIMIT_EXCEEDED: 'limit_exceeded',
  NAME_MISMATCH: 'name_mismatch',
  REGULATORY: 'regulatory',
} as const;
export type PayoutReasonCode = (typeof PayoutReasonCode)[keyof typeof PayoutReasonCode];

type Listed = 'accountId' | 'addressId' | 'amount' | 'bankReference' | 'currency' | 'status';

/** How payouts are listed. */
export const payoutLists = (t: Record<Listed, PgColumn>): Lists => ({
  filters: {
    ...{ accountId: t.accountId, status: t.status, currency: t.currency },
    bankReference: { selective: t.bankReference },
  },
  byAccount: ['accountId'],
  own: t.accountId,
  keys: { status: ['status'], currency_status: ['currency', 'status'] },
  scans: { payout_account: t.accountId, payout_address: t.addressId },
  all: { status: Object.values(PayoutStatus) },
  orders: {
    amount: {
      by: (name) => name(t.amount),
      type: 'bigint',
      valueOf: (row) => (row as PayoutRow).amount,
      as: 'amount',
      apart: '/',
      keys: { currency_status: ['currency', 'status'] },
      scans: { payout_amount_of: t.accountId },
      one: { currency: 'since amounts of several currencies have no common order' },
    },
  },
});

/**
 * Funds on their way out, in the currency of their address; `source…` is what they were converted from.
 * Silent: all fields.
 */
export const payout = pgTable(
  'payout',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    addressId: text('address_id').notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').$type<PayoutStatus>().notNull(),
    paymentId: text('payment_id').notNull(),
    sourceAmount: bigint('source_amount', { mode: 'bigint' }).notNull(),
    sourceCurrency: text('source_currency').notNull(),
    rate: numeric('rate').notNull(),
    ...visibilityColumns(),
    ...version(),
    reasonCode: text('reason_code').$type<PayoutReasonCode>(),
    bankReference: text('bank_reference'),
    /** The payment order by which the operator tells a bank to pay it. Accounts do not see it. */
    orderId: text('order_id'),
    /** The payout that took the money out again, of one that failed or was returned. */
    retriedById: text('retried_by'),
  },
  (t) => [
    primaryKey({ name: 'payout_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'payout_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('payout_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('payout_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('payout_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    index('payout_to_address').on(t.tenantId, t.livemode, t.addressId, t.created, t.id),
    index('payout_of_payment').on(t.tenantId, t.livemode, t.paymentId),
    // The operator searches all tenants: by id, by the bank's reference, and by status for those that wait for it.
    index('payout_by_id').on(t.id),
    // Those of a tenant, too.
    index('payout_of_reference')
      .on(t.bankReference, t.tenantId, t.livemode, t.created, t.id)
      .where(sql`bank_reference is not null`),
    index('payout_queue').on(t.status, t.created, t.id, t.livemode),
    // What a bank is told to pay, of all tenants: what is in no order yet, and what an order has.
    index('payout_to_order')
      .on(t.currency, t.created, t.id)
      .where(sql`livemode and status = 'processing' and order_id is null`),
    index('payout_of_order').on(t.orderId, t.tenantId, t.id).where(sql`order_id is not null`),
    // Failed payouts whose money has not gone out again: of one account, and of all, the oldest first.
    index('payout_unpaid')
      .on(t.tenantId, t.livemode, t.accountId, t.updatedAt, t.id)
      .where(sql`status in ('failed', 'returned') and retried_by is null`),
    index('payout_unpaid_of_tenant')
      .on(t.tenantId, t.livemode, t.updatedAt, t.id)
      .where(sql`status in ('failed', 'returned') and retried_by is null`),
    index('payout_under_way').on(t.tenantId, t.livemode, t.addressId).where(sql`status = 'processing'`),
    ...indexesOf('payout', t, payoutLists(t)),
    check('payout_status', isOneOf(t.status, PayoutStatus)),
    // Null for payouts that failed before there were reasons.
    check('payout_reason', isOneOf(t.reasonCode, PayoutReasonCode)),
    check('payout_amount', sql`${t.amount} > 0 and ${t.sourceAmount} > 0`),
  ],
);
export type PayoutRow = typeof payout.$inferSelect;

/** Why money could not be paid out. Silent: all codes. */
export const PayoutBlockReason = {
  ADDRESS_MISSING: 'address_missing',
  AMOUNT_TOO_LARGE: 'amount_too_large',
  AMOUNT_TOO_SMALL: 'amount_too_small',
  BALANCE_NEGATIVE: 'balance_negative',
  RATE_MISSING: 'rate_missing',
} as const;
export type PayoutBlockReason = (typeof PayoutBlockReason)[keyof typeof PayoutBlockReason];

/**
 * The reason why available money of an account in one currency was not paid out when it was last due. `created` is when
 * that reason began. The row is removed when the money is paid out or no longer there. When all payouts are off, the
 * account's setting has the reason instead.
 */
export const payoutBlock = pgTable(
  'payout_block',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    currency: text('currency').notNull(),
    reasonCode: text('reason_code').$type<PayoutBlockReason>().notNull(),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'payout_block_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('payout_block_of_account').on(t.tenantId, t.livemode, t.accountId, t.currency),
    // What needs attention: what has waited longest. Less than the smallest payout waits for more money.
    index('payout_block_waiting')
      .on(t.tenantId, t.livemode, t.created, t.id)
      .where(sql`reason_code <> 'amount_too_small'`),
    foreignKey({
      name: 'payout_block_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    check('payout_block_reason', isOneOf(t.reasonCode, PayoutBlockReason)),
  ],
);
export type PayoutBlockRow = typeof payoutBlock.$inferSelect;
