import { type SQL, sql } from 'drizzle-orm';
import { bigint, check, foreignKey, index, jsonb, type PgColumn, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { ofOthers, parentIndex } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';
import { isOneOf, type MetadataMap, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';

export const DepositStatus = {
  INITIALIZED: 'initialized',
  PROCESSING: 'processing',
  COMPLETED: 'completed',
  CANCELLED: 'cancelled',
  FAILED: 'failed',
  REVERSED: 'reversed',
} as const;
export type DepositStatus = (typeof DepositStatus)[keyof typeof DepositStatus];

export const DepositPaymentMethod = {
  AFFIRM: 'affirm',
  AFTERPAY: 'afterpay',
  CARD: 'card',
  CHECK: 'check',
  DOMESTIC_CREDIT: 'domestic_credit',
  DOMESTIC_DEBIT: 'domestic_debit',
  DOMESTIC_FAST_CREDIT: 'domestic_fast_credit',
  DOMESTIC_WIRE: 'domestic_wire',
  GLOBAL_WIRE: 'global_wire',
  KLARNA: 'klarna',
  UPI: 'upi',
} as const;
export type DepositPaymentMethod = (typeof DepositPaymentMethod)[keyof typeof DepositPaymentMethod];

export const DepositReasonCode = {
  CANCELLED: 'cancelled',
  DUPLICATE: 'duplicate',
  GENERAL: 'general',
  HIGH_RISK: 'high_risk',
  INCORRECT_AMOUNT: 'incorrect_amount',
  POOR_IMAGE_QUALITY: 'poor_image_quality',
  UNMATCHED_DETAILS: 'unmatched_details',
} as const;
export type DepositReasonCode = (typeof DepositReasonCode)[keyof typeof DepositReasonCode];

const minor = (name: string) => bigint(name, { mode: 'bigint' }).notNull();

/** `true` for deposits with money that counts towards no receivable yet, and null for all others. */
export const unreconciledOf = (pendingRest: PgColumn): SQL => sql`(case when ${pendingRest} > 0 then 'true' end)`;

/** What a bank says of a transfer, under its reference; a recall or chargeback has its reference alone. */
export interface StoredBankDetails {
  reference: string;
  payerName?: string;
  payerLines?: string[];
  payerCountry?: string;
  text?: string;
}

type Listed = 'amount' | 'currency' | 'fromAccountId' | 'paymentMethod' | 'pendingRest' | 'status';

/** How deposits are listed. A filter by account finds the payer's and the payee's. */
export const depositLists = (t: Record<Listed | 'toAccountId' | 'toAddressId', PgColumn>): Lists => ({
  filters: {
    accountId: { either: [t.toAccountId, t.fromAccountId] },
    status: t.status,
    paymentMethod: t.paymentMethod,
    currency: t.currency,
    addressId: t.toAddressId,
    unreconciled: { flag: unreconciledOf(t.pendingRest) },
  },
  byAccount: ['accountId', 'addressId'],
  own: t.toAccountId,
  below: true,
  keys: {
    status: ['status'],
    method: ['paymentMethod'],
    currency_status: ['currency', 'status'],
    unreconciled: ['unreconciled'],
  },
  scans: { deposit_to: t.toAccountId, deposit_from: t.fromAccountId },
  all: { status: Object.values(DepositStatus) },
  hashed: [t.toAccountId, t.fromAccountId, t.toAddressId],
  exclusive: { addressId: 'address' },
  orders: {
    // What an account paid has no list by amount.
    amount: {
      by: (name) => name(t.amount),
      type: 'bigint',
      valueOf: (row) => (row as DepositRow).amount,
      as: 'amount',
      apart: '/',
      keys: { currency_status: ['currency', 'status'] },
      scans: { deposit_amount_to: t.toAccountId },
      one: { currency: 'since amounts of several currencies have no common order' },
    },
  },
});

/**
 * Funds that came in. `pendingRest` is the part that is not reconciled yet, and `disputed` the part that was taken
 * back; both are minor units. Money is in balances only once it is completed. A dispute is a row of its own, with a
 * negative amount.
 */
export const deposit = pgTable(
  'deposit',
  {
    ...keyColumns(),
    amount: minor('amount'),
    currency: text('currency').notNull(),
    fromAccountId: text('from_account_id'),
    fromAddressId: text('from_address_id'),
    toAccountId: text('to_account_id').notNull(),
    toAddressId: text('to_address_id'),
    paymentMethod: text('payment_method').$type<DepositPaymentMethod>().notNull(),
    paymentMethodDetails:
      jsonb('payment_method_details').$type<Record<string, Record<string, string | number | null>>>(),
    reasonCode: text('reason_code').$type<DepositReasonCode>(),
    statementDescriptor: text('statement_descriptor').notNull(),
    status: text('status').$type<DepositStatus>().notNull(),
    metadata: jsonb('metadata').$type<MetadataMap>(),
    paymentId: text('payment_id').notNull(),
    /** The deposit that this one disputes. */
    disputesId: text('disputes_id'),
    pendingRest: minor('pending_rest').default(sql`0`),
    disputed: minor('disputed').default(sql`0`),
    ...visibilityColumns(),
    ...version(),
    bankDetails: jsonb('bank_details').$type<StoredBankDetails>(),
  },
  (t) => [
    primaryKey({ name: 'deposit_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'deposit_to_account',
      columns: [t.tenantId, t.livemode, t.toAccountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    foreignKey({
      name: 'deposit_from_account',
      columns: [t.tenantId, t.livemode, t.fromAccountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('deposit_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.toAccountId)),
    index('deposit_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    parentIndex('deposit_by_receiver', t, t.toAccountId),
    parentIndex('deposit_by_payer', t, t.fromAccountId),
    parentIndex('deposit_by_address', t, t.toAddressId),
    index('deposit_disputing')
      .on(t.tenantId, t.livemode, t.disputesId, t.created, t.id)
      .where(sql`disputes_id is not null`),
    ...indexesOf('deposit', t, depositLists(t)),
    // The operator names a deposit by its id alone; a hash takes a third of the room of a tree.
    index('deposit_by_id').using('hash', t.id),
    check('deposit_status', isOneOf(t.status, DepositStatus)),
    check(
      'deposit_rest',
      sql.join(
        [
          sql`${t.pendingRest} >= 0`,
          sql`${t.disputed} >= 0`,
          sql`(${t.amount} < 0 or ${t.pendingRest} + ${t.disputed} <= ${t.amount})`,
        ],
        sql` and `,
      ),
    ),
  ],
);
export type DepositRow = typeof deposit.$inferSelect;
