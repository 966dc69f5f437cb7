import { sql } from 'drizzle-orm';
import { bigint, check, foreignKey, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { isOneOf } from '../../db/schema/columns.js';

// These tables are about the whole deployment, so they have no tenant: an order pays payouts of several tenants.

/** An account of the operator at a bank, from which payouts are paid. */
export const ownAccount = pgTable(
  'own_account',
  {
    id: text('id').primaryKey(),
    created: bigint('created', { mode: 'number' }).notNull(),
    createdBy: text('created_by').notNull(),
    /** Who holds it, as the bank knows them. */
    holder: text('holder').notNull(),
    currency: text('currency').notNull(),
    iban: text('iban'),
    number: text('number'),
    bic: text('bic'),
    ifsc: text('ifsc'),
    closedAt: bigint('closed_at', { mode: 'number' }),
    /** Of the call that added it: the same call again returns it. */
    idempotencyKey: text('idempotency_key'),
  },
  (t) => [
    uniqueIndex('own_account_of_key').on(t.idempotencyKey),
    check('own_account_number', sql`(${t.iban} is null) <> (${t.number} is null)`),
    uniqueIndex('own_account_in_use').on(sql`coalesce(iban, number)`, t.currency).where(sql`closed_at is null`),
  ],
);
export type OwnAccountRow = typeof ownAccount.$inferSelect;

/** How far a payment order has come. */
export const PaymentOrderStatus = {
  GATHERING: 'gathering',
  PROPOSED: 'proposed',
  APPROVED: 'approved',
  SENT: 'sent',
  REJECTED: 'rejected',
} as const;
export type PaymentOrderStatus = (typeof PaymentOrderStatus)[keyof typeof PaymentOrderStatus];

/** How many of the payouts that an order leaves out are kept with it. */
export const leftOutMax = 100;

/** A payout that an order has left out, and why. It stays due. */
export interface LeftOutPayout {
  id: string;
  reason: string;
}

/** Payouts that one bank is told to pay, from one account on one day. A payout names its order in its own row. */
export const paymentOrder = pgTable(
  'payment_order',
  {
    id: text('id').primaryKey(),
    created: bigint('created', { mode: 'number' }).notNull(),
    /**
     * Who has proposed it: who has begun it, or the first named operator who has approved what OPERATOR_KEY or a
     * command has begun. The id is null for these two.
     */
    createdBy: text('created_by').notNull(),
    createdById: text('created_by_id'),
    /** When it became that operator's by an approval. */
    adoptedAt: bigint('adopted_at', { mode: 'number' }),
    ownAccountId: text('own_account_id').notNull(),
    currency: text('currency').notNull(),
    /** The day on which the bank is to pay, as YYYY-MM-DD. */
    valueDate: text('value_date').notNull(),
    status: text('status').$type<PaymentOrderStatus>().notNull(),
    /** How many payouts it has and what they are together, once it is proposed. They do not change from then on. */
    payouts: integer('payouts'),
    total: bigint('total', { mode: 'bigint' }),
    decidedBy: text('decided_by'),
    decidedById: text('decided_by_id'),
    decidedAt: bigint('decided_at', { mode: 'number' }),
    /** Why it was rejected. */
    note: text('note'),
    sentBy: text('sent_by'),
    sentById: text('sent_by_id'),
    sentAt: bigint('sent_at', { mode: 'number' }),
    /** The first payouts that no file could pay when it was gathered. */
    leftOut: jsonb('left_out').$type<LeftOutPayout[]>(),
    /** Of the call that began it: once it is proposed, the same call again returns it. */
    idempotencyKey: text('idempotency_key'),
  },
  (t) => [
    foreignKey({ name: 'payment_order_account', columns: [t.ownAccountId], foreignColumns: [ownAccount.id] }),
    index('payment_order_age').on(t.status, t.created, t.id),
    // An account has one that is being gathered.
    uniqueIndex('payment_order_gathering').on(t.ownAccountId).where(sql`status = 'gathering'`),
    // A call that was interrupted is made again under the same key.
    uniqueIndex('payment_order_of_key').on(t.idempotencyKey).where(sql`payouts > 0`),
    check('payment_order_status', isOneOf(t.status, PaymentOrderStatus)),
    check('payment_order_counted', sql`${t.status} not in ('proposed', 'approved', 'sent') or ${t.payouts} > 0`),
    check('payment_order_approved', sql`${t.status} not in ('approved', 'sent') or ${t.decidedById} is not null`),
  ],
);
export type PaymentOrderRow = typeof paymentOrder.$inferSelect;
