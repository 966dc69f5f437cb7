import { sql } from 'drizzle-orm';
import { bigint, boolean, check, integer, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { listIndexes, parentIndexes } from '../../db/schema/filter-index.js';
import type { DepositPaymentMethod } from '../deposit/table.js';

/** The lengths of the spans of time that have totals, in seconds: an hour and a day, in UTC. */
export const totalSeconds = { hour: 3_600, day: 86_400 } as const;

const minor = (name: string) => bigint(name, { mode: 'bigint' }).notNull();
const method = () => text('payment_method').$type<DepositPaymentMethod>().notNull();

/**
 * The number and the amount of the counted deposits of one span of time, by account, method and currency. With
 * `ofOthers`, it is what the accounts below the account received: those of a user's partners, and for a platform
 * those of all its users and their partners. The worker adds each change of the deposits.
 */
export const depositTotal = pgTable(
  'deposit_total',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    accountId: text('account_id').notNull(),
    ofOthers: boolean('of_others').notNull(),
    /** The length of the span. */
    seconds: integer('seconds').notNull(),
    start: bigint('start', { mode: 'number' }).notNull(),
    paymentMethod: method(),
    currency: text('currency').notNull(),
    count: bigint('count', { mode: 'number' }).notNull(),
    /** Minor units. The sum of many of the largest amounts does not fit into a bigint. */
    amount: numeric('amount').notNull(),
  },
  (t) => [
    primaryKey({
      name: 'deposit_total_pkey',
      columns: [t.tenantId, t.livemode, t.accountId, t.ofOthers, t.seconds, t.start, t.paymentMethod, t.currency],
    }),
    check('deposit_total_span', sql`${t.seconds} in (3600, 86400) and ${t.start} % ${t.seconds} = 0`),
  ],
);

/**
 * A change of the counted deposits that no total contains yet: a deposit that counts from now on has the count 1, and
 * one that does not count any more has -1. The statement that changes a deposit inserts the row, and adding it to the
 * totals deletes it, so the totals and these rows are always exact together.
 */
export const depositTotalChange = pgTable(
  'deposit_total_change',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    toAccountId: text('to_account_id').notNull(),
    depositId: text('deposit_id').notNull(),
    count: integer('count').notNull(),
    /** When the deposit was created. */
    created: keyColumns().created,
    actingAccountId: text('context_id').notNull(),
    paymentMethod: method(),
    currency: text('currency').notNull(),
    amount: minor('amount'),
  },
  (t) => [
    primaryKey({
      name: 'deposit_total_change_pkey',
      columns: [t.tenantId, t.livemode, t.toAccountId, t.depositId, t.count],
    }),
  ],
);

/**
 * A tenant and mode whose deposits from before the totals are being added to them, in the order of their ids. Until
 * then its totals are computed from the deposits. The row is deleted when all deposits have been added.
 */
export const depositTotalBackfill = pgTable(
  'deposit_total_backfill',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    /** The id of the last deposit that has been added. */
    upTo: text('up_to').notNull(),
    /** When the first deposit may be added, by the wall clock. */
    notBefore: bigint('not_before', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ name: 'deposit_total_backfill_pkey', columns: [t.tenantId, t.livemode] })],
);

/**
 * The place of a balance among those of its currency, for lists of accounts by balance: `available` and `pending`
 * together, as they were at `version`. The worker writes it when it seals the postings of the balance, so that a
 * posting costs nothing for it; the audit of the ledger compares it with the entries.
 */
export const balanceRank = pgTable(
  'balance_rank',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    accountId: text('account_id').notNull(),
    currency: text('currency').notNull(),
    /** The type of the account and the currency, such as `partner USD`. */
    rankedAs: text('ranked_as').notNull(),
    /** Minor units. Two of the largest amounts do not fit into a bigint together. */
    amount: numeric('amount').notNull(),
    version: bigint('version', { mode: 'number' }).notNull(),
    ownerId: text('owner_id'),
    actingAccountId: visibilityColumns().actingAccountId,
    onRootList: visibilityColumns().onRootList,
  },
  (t) => {
    const columns = { ...t, id: t.accountId, created: t.version };
    const order = { order: [t.amount, t.accountId] };
    return [
      primaryKey({ name: 'balance_rank_pkey', columns: [t.tenantId, t.livemode, t.accountId, t.currency] }),
      ...listIndexes('balance_rank', columns, { kind: [t.rankedAs] }, order),
      ...parentIndexes('balance_rank_tenant', columns, t.tenantId, { kind: [t.rankedAs] }, order),
      ...parentIndexes('balance_rank_owner', columns, t.ownerId, { kind: [t.rankedAs] }, order),
    ];
  },
);
