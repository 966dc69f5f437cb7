import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { isOneOf, type MetadataMap, keyColumns, version, visibilityColumns } from '../../db/schema/columns.js';
import { indexesOf } from '../../db/schema/lists.js';
import { receivable } from '../receivable/table.js';
import type { TransactionStatus } from '../transaction/table.js';

export const CheckoutType = { PAYMENT: 'payment' } as const;
export type CheckoutType = (typeof CheckoutType)[keyof typeof CheckoutType];

export const CheckoutStatus = {
  INITIALIZED: 'initialized',
  COMPLETED: 'completed',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
} as const;
export type CheckoutStatus = (typeof CheckoutStatus)[keyof typeof CheckoutStatus];

export const CheckoutPaymentMethod = { CARDS: 'cards', UPI: 'upi' } as const;
export type CheckoutPaymentMethod = (typeof CheckoutPaymentMethod)[keyof typeof CheckoutPaymentMethod];

/** The columns of a checkout, which the table and the view `checkout_now` share. */
export const checkoutColumns = () => ({
  ...keyColumns(),
  expiresAt: bigint('expires_at', { mode: 'number' }).notNull(),
  amount: bigint('amount', { mode: 'bigint' }).notNull(),
  grossAmount: bigint('gross_amount', { mode: 'bigint' }).notNull(),
  currency: text('currency').notNull(),
  fromAccountId: text('from_account_id').notNull(),
  toAccountId: text('to_account_id').notNull(),
  /** The partner's `service_checkout` address, which the deposit goes to. */
  toAddressId: text('to_address_id').notNull(),
  paymentMethods: text('payment_methods').array().$type<CheckoutPaymentMethod[]>().notNull(),
  /** In the order in which a payment locks them. */
  receivableIds: text('receivable_ids').array().notNull(),
  redirectUrl: text('redirect_url').notNull(),
  status: text('status').$type<CheckoutStatus>().notNull(),
  /** The latest finished attempt; once an attempt has succeeded, always that one. */
  effectiveTransactionId: text('effective_transaction_id'),
  effectiveTransactionStatus: text('effective_transaction_status').$type<TransactionStatus>(),
  /** The one deposit that was credited. */
  depositId: text('deposit_id'),
  metadata: jsonb('metadata').$type<MetadataMap>(),
  /** When the page was last open in a browser, to the minute; null before that. */
  openedAt: bigint('opened_at', { mode: 'number' }),
  /** When the latest attempt began; null before the first. */
  lastTriedAt: bigint('last_tried_at', { mode: 'number' }),
  ...visibilityColumns(),
  ...version(),
});

/** The keys of the indexes of checkouts: the stored status, of the lists of callers and of each side. */
export const checkoutLists = (t: Record<'status' | 'toAccountId' | 'fromAccountId', PgColumn>, table = 'checkout') => ({
  filters: { status: t.status, accountId: { either: [t.toAccountId, t.fromAccountId] as const } },
  byAccount: ['accountId'],
  keys: { status: ['status'] },
  scans: { [`${table}_to`]: t.toAccountId, [`${table}_from`]: t.fromAccountId },
});

/** The order of the open checkouts by the end of their time. */
const due = (t: Record<'expiresAt' | 'id', PgColumn>) => ({
  order: [t.expiresAt, t.id],
  where: sql`status = 'initialized'`,
});

/**
 * A payment session that a partner opens in a browser. Amounts are minor units. Reads go through `checkoutNow`. Spec:
 * Checkout.
 */
export const checkout = pgTable('checkout', checkoutColumns(), (t) => [
  primaryKey({ name: 'checkout_pkey', columns: [t.tenantId, t.livemode, t.id] }),
  foreignKey({
    name: 'checkout_from_account',
    columns: [t.tenantId, t.livemode, t.fromAccountId],
    foreignColumns: [account.tenantId, account.livemode, account.id],
  }),
  foreignKey({
    name: 'checkout_to_account',
    columns: [t.tenantId, t.livemode, t.toAccountId],
    foreignColumns: [account.tenantId, account.livemode, account.id],
  }),
  index('checkout_context').on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id),
  index('checkout_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
  index('checkout_to').on(t.tenantId, t.livemode, t.toAccountId, t.created, t.id),
  // The operator names a checkout by its id alone.
  index('checkout_by_id').using('hash', t.id),
  index('checkout_from').on(t.tenantId, t.livemode, t.fromAccountId, t.created, t.id),
  ...indexesOf('checkout', t, checkoutLists(t)),
  // Those whose time is over and that no worker has marked yet: they read as expired.
  ...indexesOf('checkout_due', t, checkoutLists(t, 'checkout_due'), due(t)),
  check('checkout_status', isOneOf(t.status, CheckoutStatus)),
  check('checkout_amount', sql`${t.amount} > 0 and ${t.grossAmount} >= ${t.amount}`),
  // At most one credit: a checkout has a deposit if and only if an attempt has succeeded.
  check(
    'checkout_paid',
    sql`(${t.depositId} is not null) = (${t.effectiveTransactionStatus} is not distinct from 'succeeded')`,
  ),
]);
export type CheckoutRow = typeof checkout.$inferSelect;

/** The links between checkouts and receivables, indexed by receivable. */
export const checkoutReceivable = pgTable(
  'checkout_receivable',
  {
    ...keyColumns(),
    checkoutId: text('checkout_id').notNull(),
    receivableId: text('receivable_id').notNull(),
    position: integer('position').notNull(),
  },
  (t) => [
    primaryKey({ name: 'checkout_receivable_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    foreignKey({
      name: 'checkout_receivable_checkout',
      columns: [t.tenantId, t.livemode, t.checkoutId],
      foreignColumns: [checkout.tenantId, checkout.livemode, checkout.id],
    }),
    foreignKey({
      name: 'checkout_receivable_receivable',
      columns: [t.tenantId, t.livemode, t.receivableId],
      foreignColumns: [receivable.tenantId, receivable.livemode, receivable.id],
    }),
    index('checkout_of_receivable').on(t.tenantId, t.livemode, t.receivableId, t.created, t.checkoutId),
  ],
);
