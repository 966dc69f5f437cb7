import { sql } from 'drizzle-orm';
import { bigint, check, index, jsonb, pgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core';
import { isOneOf, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';

export const TransactionStatus = { PROCESSING: 'processing', SUCCEEDED: 'succeeded', FAILED: 'failed' } as const;
export type TransactionStatus = (typeof TransactionStatus)[keyof typeof TransactionStatus];

export const TransactionPaymentMethod = { CARD: 'card', UPI: 'upi' } as const;
export type TransactionPaymentMethod = (typeof TransactionPaymentMethod)[keyof typeof TransactionPaymentMethod];

export const TransactionReasonCode = {
  DECLINED: 'declined',
  DUPLICATE: 'duplicate',
  EXPIRED: 'expired',
  INSUFFICIENT_FUNDS: 'insufficient_funds',
} as const;
export type TransactionReasonCode = (typeof TransactionReasonCode)[keyof typeof TransactionReasonCode];

/** The stored details of a card or a UPI address: never a complete card number. */
export interface PaymentMethodDetails {
  card?: { brand: string | null; last4: string; expiry_month: number; expiry_year: number };
  upi?: { vpa: string };
}

/**
 * A success that the acquirer reported and that does not match the attempt: its details differ from the submitted ones
 * (the money is credited), the attempt had already ended otherwise (nothing is credited), or an earlier report of it
 * said another amount (the first one counts). The operator clears it up with the acquirer.
 */
export interface Mismatch {
  credited: boolean;
  details: PaymentMethodDetails | null;
  /** What it said that was taken, in minor units and a currency; left out where it said nothing. */
  amount?: string;
  currency?: string;
  /** When the acquirer reported it, in epoch seconds by the clock of the tenant and mode. */
  created: string;
}

/**
 * One attempt to pay a checkout. `attemptKey` identifies the form that the payer sent: the same form sent twice is one
 * attempt. The details exist once the acquirer has the attempt. Silent: all fields.
 */
export const transaction = pgTable(
  'transaction',
  {
    ...keyColumns(),
    checkoutId: text('checkout_id').notNull(),
    attemptKey: text('attempt_key').notNull(),
    expiresAt: bigint('expires_at', { mode: 'number' }).notNull(),
    paymentMethod: text('payment_method').$type<TransactionPaymentMethod>().notNull(),
    paymentMethodDetails: jsonb('payment_method_details').$type<PaymentMethodDetails>(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').$type<TransactionStatus>().notNull(),
    reasonCode: text('reason_code').$type<TransactionReasonCode>(),
    paymentId: text('payment_id'),
    depositId: text('deposit_id'),
    mismatch: jsonb('mismatch').$type<Mismatch>(),
    /** What the acquirer took, where that is not `amount` of `currency`. */
    takenAmount: bigint('taken_amount', { mode: 'bigint' }),
    takenCurrency: text('taken_currency'),
    ...visibilityColumns(),
    ...version(),
  },
  (t) => [
    primaryKey({ name: 'transaction_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('transaction_attempt').on(t.tenantId, t.livemode, t.checkoutId, t.attemptKey),
    index('transaction_of_checkout').on(t.tenantId, t.livemode, t.checkoutId, t.created, t.id),
    index('transaction_of_deposit').on(t.tenantId, t.livemode, t.depositId).where(sql`deposit_id is not null`),
    // The reports of acquirers and the operator name attempts of all tenants by their ids.
    index('transaction_by_id').on(t.id),
    // The operator lists the mismatches of all tenants, which are few.
    index('transaction_mismatched').on(t.created, t.id).where(sql`mismatch is not null`),
    check('transaction_status', isOneOf(t.status, TransactionStatus)),
    check('transaction_reason', sql`(${t.reasonCode} is not null) = (${t.status} = 'failed')`),
  ],
);
export type TransactionRow = typeof transaction.$inferSelect;
