import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  jsonb,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { fileIndexes, ofOthers } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';
import { type MetadataMap, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';

export const ReceivableStatus = { OPEN: 'open', LOCKED: 'locked', SETTLED: 'settled', VOID: 'void' } as const;
export type ReceivableStatus = (typeof ReceivableStatus)[keyof typeof ReceivableStatus];

export const ReceivableTransactionType = { GOODS: 'goods', SERVICES: 'services' } as const;
export type ReceivableTransactionType = (typeof ReceivableTransactionType)[keyof typeof ReceivableTransactionType];

/** An invoice, as stored. The amount is minor units as a string of digits. */
export interface InvoiceObject {
  amount: string;
  creationDate: string;
  currency: string;
  document: string | null;
  dueDate: string;
  referenceNumber: string;
}

/** The due date of the invoice. Dates are YYYY-MM-DD, so their order as texts is their order in time. */
export const dueDateOf = ({ invoice }: { invoice: SQLWrapper }): SQL => sql`(${invoice} ->> 'dueDate')`;
/** The amount of the invoice. */
export const amountOf = ({ invoice }: { invoice: SQLWrapper }): SQL => sql`((${invoice} ->> 'amount')::bigint)`;

const minor = (name: string) => bigint(name, { mode: 'bigint' }).notNull();

/** The due date is before today, in UTC, by the clock of the tenant. */
const isOverdue = (t: { invoice: SQLWrapper }): SQL => sql`${dueDateOf(t)} < (
  select to_char(to_timestamp(floor(extract(epoch from statement_timestamp()))::bigint + coalesce((
    select t.offset_seconds from test_clock t
    where t.tenant_id = ${sql.placeholder('tenantId')} and t.livemode = ${sql.placeholder('livemode')}
      and not t.livemode
  ), 0)) at time zone 'UTC', 'YYYY-MM-DD'))`;

type Listed = 'accountId' | 'currency' | 'customerId' | 'invoice' | 'status' | 'transactionType';

/** How receivables are listed. */
export const receivableLists = (t: Record<Listed, PgColumn>): Lists => ({
  filters: {
    accountId: { either: [t.accountId, t.customerId] },
    ...{ status: t.status, currency: t.currency, transactionType: t.transactionType },
  },
  byAccount: ['accountId'],
  own: t.accountId,
  keys: { status: ['status'], currency_status: ['currency', 'status'], type: ['transactionType'] },
  scans: { receivable_account: t.accountId, receivable_customer: t.customerId },
  all: { status: Object.values(ReceivableStatus) },
  orders: {
    dueDate: {
      by: (name) => dueDateOf({ invoice: name(t.invoice) }),
      type: 'text',
      valueOf: (row) => (row as ReceivableRow).invoice.dueDate,
      as: 'due',
      apart: ':',
      keys: { status: ['status'], currency_status: ['currency', 'status'] },
      scans: {
        receivable_due_of: t.accountId,
        receivable_due_customer: { column: t.customerId, apart: true },
      },
    },
    amount: {
      by: (name) => amountOf({ invoice: name(t.invoice) }),
      type: 'bigint',
      valueOf: (row) => BigInt((row as ReceivableRow).invoice.amount),
      as: 'amount',
      apart: '/',
      keys: { currency_status: ['currency', 'status'] },
      scans: { receivable_amount_of: t.accountId, receivable_amount_customer: t.customerId },
      one: { currency: 'since amounts of several currencies have no common order' },
    },
  },
  conditions: {
    overdue: {
      order: 'dueDate',
      implies: 'asc',
      filter: 'status',
      value: ReceivableStatus.OPEN,
      where: isOverdue(t),
    },
  },
});

/**
 * An invoice that collected funds pay. Its amounts are locked until the funds are paid out, and settled after that.
 * Minor units.
 */
export const receivable = pgTable(
  'receivable',
  {
    ...keyColumns(),
    accountId: text('account_id').notNull(),
    /** The partner of the account that the invoice bills, if it is known. */
    customerId: text('customer_id'),
    currency: text('currency').notNull(),
    amountMaximumReconcilable: minor('amount_maximum_reconcilable'),
    amountLocked: minor('amount_locked').default(sql`0`),
    amountSettledPayouts: minor('amount_settled_payouts').default(sql`0`),
    amountReconcilable: bigint('amount_reconcilable', { mode: 'bigint' })
      .notNull()
      .generatedAlwaysAs(
        sql`case when voided then 0 else amount_maximum_reconcilable - amount_locked - amount_settled_payouts end`,
      ),
    /** The deposits with unsettled locks; the function that changes the amounts maintains this list. */
    depositIdsAmountLocked: text('deposit_ids_amount_locked').array().notNull().default([]),
    description: text('description'),
    invoice: jsonb('invoice').$type<InvoiceObject>().notNull(),
    purposeCode: text('purpose_code').notNull(),
    transactionType: text('transaction_type').$type<ReceivableTransactionType>().notNull(),
    voided: boolean('voided').notNull().default(false),
    status: text('status')
      .$type<ReceivableStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql.raw(
          "case when voided then 'void' when amount_settled_payouts = amount_maximum_reconcilable then 'settled' " +
            'when amount_locked + amount_settled_payouts = amount_maximum_reconcilable ' +
            "then 'locked' else 'open' end",
        ),
      ),
    systemMessage: jsonb('system_message')
      .$type<{ code: string; message: string; created: number }[]>()
      .notNull()
      .default([]),
    metadata: jsonb('metadata').$type<MetadataMap>(),
    ...visibilityColumns(),
    ...version(),
  },
  (t) => [
    primaryKey({ name: 'receivable_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'receivable_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    foreignKey({
      name: 'receivable_customer',
      columns: [t.tenantId, t.livemode, t.customerId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('receivable_in_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id)
      .where(ofOthers(t.actingAccountId, t.accountId)),
    index('receivable_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('receivable_of_account').on(t.tenantId, t.livemode, t.accountId, t.created, t.id),
    // The operator names an invoice by its id alone.
    index('receivable_by_id').using('hash', t.id),
    index('receivable_of_customer')
      .on(t.tenantId, t.livemode, t.customerId, t.created, t.id)
      .where(sql`${t.customerId} is not null`),
    // What each customer owes, which PostgreSQL adds up from the index alone.
    index('receivable_owed')
      .on(t.tenantId, t.livemode, t.customerId, t.currency, t.amountReconcilable)
      .where(sql`${t.customerId} is not null and ${t.status} = 'open'`),
    // What rows of imports are compared by.
    index('receivable_seen')
      .on(
        t.tenantId,
        t.livemode,
        sql`hashtextextended(${t.customerId} || ' ' || (${t.invoice} ->> 'referenceNumber'), 0)`,
      )
      .where(sql`${t.customerId} is not null and not ${t.voided}`),
    ...fileIndexes('receivable', t, { document: sql`${t.invoice} ->> 'document'` }),
    ...indexesOf('receivable', t, receivableLists(t)),
    check(
      'receivable_amounts',
      sql.join(
        [
          sql`${t.amountLocked} >= 0`,
          sql`${t.amountSettledPayouts} >= 0`,
          sql`${t.amountMaximumReconcilable} > 0`,
          sql`${t.amountLocked} + ${t.amountSettledPayouts} <= ${t.amountMaximumReconcilable}`,
        ],
        sql` and `,
      ),
    ),
  ],
);
export type ReceivableRow = typeof receivable.$inferSelect;

/**
 * Receivable locks that are paid out together. The locks of available money are in open batches, which have no payout.
 * A payout takes the open batches of its account and currency, and returns them when it fails. That changes one row per
 * batch, for any number of locks.
 */
export const lockBatch = pgTable(
  'lock_batch',
  {
    ...keyColumns(),
    /**
     * The account whose payout pays the money: the account of the locks, or its platform when that is an aggregator.
     */
    accountId: text('account_id').notNull(),
    /**
     * The currency of the money: that of the deposits, or that of a payout that converted the money and failed.
     */
    heldIn: text('held_in').notNull(),
    /** The payout that has taken the batch: it is under way, or it has completed. */
    payoutId: text('payout_id'),
  },
  (t) => [
    primaryKey({ name: 'lock_batch_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'lock_batch_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('lock_batch_open').on(t.tenantId, t.livemode, t.accountId, t.heldIn, t.id).where(sql`payout_id is null`),
    index('lock_batch_in_payout').on(t.tenantId, t.livemode, t.payoutId, t.id),
  ],
);

/**
 * The part of a deposit that counts towards a receivable. It is unpaid until a payout takes its batch, and settled when
 * that payout completes. A dispute reduces unpaid locks. Minor units of the receivable's currency.
 */
export const receivableLock = pgTable(
  'receivable_lock',
  {
    ...keyColumns(),
    receivableId: text('receivable_id').notNull(),
    depositId: text('deposit_id').notNull(),
    accountId: text('account_id').notNull(),
    currency: text('currency').notNull(),
    amount: minor('amount'),
    batchId: text('batch_id').notNull(),
    /** No longer used; gateways of 0.3.0 still select these columns during an upgrade. */
    heldIn: text('held_in'),
    payoutId: text('payout_id'),
    settled: boolean('settled').notNull().default(false),
  },
  (t) => [
    primaryKey({ name: 'receivable_lock_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'receivable_lock_receivable',
      columns: [t.tenantId, t.livemode, t.receivableId],
      foreignColumns: [receivable.tenantId, receivable.livemode, receivable.id],
    }),
    foreignKey({
      name: 'receivable_lock_batch',
      columns: [t.tenantId, t.livemode, t.batchId],
      foreignColumns: [lockBatch.tenantId, lockBatch.livemode, lockBatch.id],
    }),
    index('receivable_lock_of_receivable').on(t.tenantId, t.livemode, t.receivableId, t.id),
    index('receivable_lock_of_deposit').on(t.tenantId, t.livemode, t.depositId, t.id),
    index('receivable_lock_in_batch').on(t.tenantId, t.livemode, t.batchId, t.id),
    check('receivable_lock_amount', sql`${t.amount} >= 0`),
  ],
);
export type ReceivableLockRow = typeof receivableLock.$inferSelect;
