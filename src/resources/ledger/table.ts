import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { isOneOf, keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { parentIndex, parentKey } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';

/** The compartments of a balance; a balance transaction's category is the one that it changed. Spec: Balance. */
export const Compartment = {
  AVAILABLE: 'available',
  FEE_ADVANCE: 'fee_advance',
  PAYOUT_PROCESSING: 'payout_processing',
  PENDING: 'pending',
  PROCESSING: 'processing',
} as const;
export type Compartment = (typeof Compartment)[keyof typeof Compartment];

const minor = (name: string) => bigint(name, { mode: 'bigint' }).notNull();

/**
 * Funds of an account in one currency, in minor units: the running sum of its entries, changed by the statement
 * that writes them. Only `available` may be below zero, after a dispute or a reversal: an aggregator's for its users.
 */
export const balance = pgTable(
  'balance',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    accountId: text('account_id').notNull(),
    currency: text('currency').notNull(),
    available: minor('available').default(sql`0`),
    feeAdvance: minor('fee_advance').default(sql`0`),
    payoutProcessing: minor('payout_processing').default(sql`0`),
    pending: minor('pending').default(sql`0`),
    processing: minor('processing').default(sql`0`),
    /** The number of its entries; each entry has the version that it produced. */
    version: bigint('version', { mode: 'number' }).notNull().default(0),
    /**
     * The greatest `created` of its entries. Null means that it has none, or that a job has not found it yet, for a
     * balance from before this column.
     */
    latest: bigint('latest', { mode: 'number' }),
    /** Whether it has late entries: reads as of a time look at those of such a balance alone. */
    late: boolean('late').notNull().default(false),
    /** Copied from the account, so that the pending balances of an account's partners are one index scan. */
    ownerId: text('owner_id'),
    ofPartner: boolean('of_partner').notNull(),
    actingAccountId: visibilityColumns().actingAccountId,
    onRootList: visibilityColumns().onRootList,
  },
  (t) => [
    primaryKey({ name: 'balance_pkey', columns: [t.tenantId, t.livemode, t.accountId, t.currency] }),
    foreignKey({
      name: 'balance_account',
      columns: [t.tenantId, t.livemode, t.accountId],
      foreignColumns: [account.tenantId, account.livemode, account.id],
    }),
    index('balance_of_partners').on(t.tenantId, t.livemode, t.actingAccountId, t.currency).where(sql`of_partner`),
    check(
      'balance_not_negative',
      sql`${t.pending} >= 0 and ${t.processing} >= 0 and ${t.payoutProcessing} >= 0 and ${t.feeAdvance} >= 0`,
    ),
  ],
);
export type BalanceRow = typeof balance.$inferSelect;

/**
 * The condition that a balance has an entry. A row without an entry is only a lock that a write took before it knew
 * whether money would move there. Such a row is not part of the balances of an account.
 */
export const booked = sql`${balance.version} > 0`;

/** One movement of money; its entries sum to zero per currency. A cause posts at most once per kind. Append-only. */
export const posting = pgTable(
  'posting',
  {
    ...keyColumns(),
    kind: text('kind').notNull(),
    cause: text('cause').notNull(),
    paymentId: text('payment_id').notNull(),
  },
  (t) => [
    primaryKey({ name: 'posting_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('posting_cause').on(t.tenantId, t.livemode, t.kind, t.cause),
  ],
);

/** A compartment of one balance as one text, for the index `entry_by_compartment`. */
const compartmentKey = sql`(account_id || ' ' || currency || ' ' || category)`;

/** How balance transactions are listed: always those of one account. */
export const entryLists = (t: Record<'accountId' | 'category' | 'currency' | 'paymentId', PgColumn>): Lists => ({
  ...listsBy(
    { accountId: t.accountId },
    'entry_account',
    { category: t.category, currency: t.currency },
    {
      more: { paymentId: { selective: t.paymentId } },
    },
  ),
  onlyScans: true,
  hashed: [t.accountId, t.paymentId],
});

/**
 * The change that a posting made to one compartment of one balance; clients see it as a balance transaction.
 * Append-only.
 */
export const entry = pgTable(
  'entry',
  {
    ...keyColumns(),
    postingId: text('posting_id').notNull(),
    accountId: text('account_id').notNull(),
    amount: minor('amount'),
    currency: text('currency').notNull(),
    category: text('category').$type<Compartment>().notNull(),
    paymentId: text('payment_id').notNull(),
    /** The amount in the compartment after this entry. With the balance's version, it shows a lost update for ever. */
    balanceAfter: minor('balance_after'),
    version: bigint('version', { mode: 'number' }).notNull(),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'entry_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('entry_version').on(t.tenantId, t.livemode, t.accountId, t.currency, t.version),
    parentIndex('entry_by_account', t, t.accountId),
    // One look-up finds the amount in a compartment at a time, even when it has not changed for years or has no entry.
    // Account, currency and category are one expression: as separate columns, PostgreSQL 18 would use this index with a
    // skip scan for lists, and then sort.
    index('entry_by_compartment').on(t.tenantId, t.livemode, parentKey(compartmentKey), t.created, t.version),
    ...indexesOf('entry', t, entryLists(t)),
    parentIndex('entry_by_payment', t, t.paymentId),
    index('entry_of_posting').on(t.tenantId, t.livemode, t.postingId),
    check('entry_amount', sql`${t.amount} <> 0`),
  ],
);
export type EntryRow = typeof entry.$inferSelect;

/**
 * An entry that was posted while the clock of the database was behind an entry before it, after a step back. The order
 * of a balance is its version, and the entry is sealed as it is; so reads as of a time follow `as_of`, the greatest
 * `created` of the entries up to it. All other entries have no row here, and their `created` is that time.
 */
export const lateEntry = pgTable(
  'late_entry',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    accountId: text('account_id').notNull(),
    currency: text('currency').notNull(),
    version: bigint('version', { mode: 'number' }).notNull(),
    category: text('category').$type<Compartment>().notNull(),
    balanceAfter: minor('balance_after'),
    asOf: bigint('as_of', { mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ name: 'late_entry_pkey', columns: [t.tenantId, t.livemode, t.accountId, t.currency, t.version] }),
    index('late_entry_by_compartment').on(t.tenantId, t.livemode, parentKey(compartmentKey), t.asOf, t.version),
  ],
);

/**
 * The external side of a posting: banks, payout rails, foreign exchange. It has entries but no balance, so no row
 * becomes a point of lock contention. Append-only.
 */
export const contraEntry = pgTable(
  'contra_entry',
  {
    ...keyColumns(),
    postingId: text('posting_id').notNull(),
    contra: text('contra').notNull(),
    amount: minor('amount'),
    currency: text('currency').notNull(),
  },
  (t) => [
    primaryKey({ name: 'contra_entry_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    index('contra_entry_of_posting').on(t.tenantId, t.livemode, t.postingId),
    check('contra_entry_amount', sql`${t.amount} <> 0`),
  ],
);

/** Postings that no block has sealed yet. Sealing a posting deletes its row here. */
export const unsealed = pgTable(
  'unsealed',
  { tenantId: keyColumns().tenantId, livemode: keyColumns().livemode, postingId: text('posting_id').notNull() },
  (t) => [primaryKey({ name: 'unsealed_pkey', columns: [t.tenantId, t.livemode, t.postingId] })],
);

/** One block of the hash chain over a tenant's postings: its hash covers the block before it. Append-only. */
export const sealBlock = pgTable(
  'seal_block',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    number: bigint('number', { mode: 'number' }).notNull(),
    created: keyColumns().created,
    postings: bigint('postings', { mode: 'number' }).notNull(),
    previous: text('previous').notNull(),
    hash: text('hash').notNull(),
  },
  (t) => [primaryKey({ name: 'seal_block_pkey', columns: [t.tenantId, t.livemode, t.number] })],
);

/** The block that sealed each posting. Append-only. */
export const postingSeal = pgTable(
  'posting_seal',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    postingId: text('posting_id').notNull(),
    block: bigint('block', { mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ name: 'posting_seal_pkey', columns: [t.tenantId, t.livemode, t.postingId] }),
    // Without the posting, the entries of a block are equal, and PostgreSQL stores their key once.
    index('posting_seal_by_block').on(t.tenantId, t.livemode, t.block),
  ],
);

/** The state and the outcome of a check of the ledger. */
export const LedgerCheckStatus = {
  RUNNING: 'running',
  PASSED: 'passed',
  VIOLATED: 'violated',
  FAILED: 'failed',
} as const;
export type LedgerCheckStatus = (typeof LedgerCheckStatus)[keyof typeof LedgerCheckStatus];

/** An invariant of the ledger that does not hold, and what breaks it. */
export interface BrokenRule {
  rule: string;
  what: string;
}

/**
 * A check of the ledger of one tenant and mode: its invariants and its chain of seals. The worker of one gateway makes
 * it when it is due; at most one runs for a tenant and mode. Its times are wall-clock times.
 */
export const ledgerCheck = pgTable(
  'ledger_check',
  {
    ...keyColumns(),
    status: text('status').$type<LedgerCheckStatus>().notNull(),
    ended: bigint('ended', { mode: 'number' }),
    /** The first violations. */
    violations: jsonb('violations').$type<BrokenRule[]>().notNull().default([]),
    violationCount: integer('violation_count').notNull().default(0),
    /** The first block of the chain that does not match. */
    brokenBlock: bigint('broken_block', { mode: 'number' }),
    /** Why the check has no outcome. */
    error: text('error'),
  },
  (t) => [
    primaryKey({ name: 'ledger_check_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    index('ledger_check_of_tenant').on(t.tenantId, t.livemode, t.created, t.id),
    uniqueIndex('ledger_check_running').on(t.tenantId, t.livemode).where(sql`status = 'running'`),
    index('ledger_check_by_status').on(t.status, t.created, t.id, t.livemode),
    check('ledger_check_status', isOneOf(t.status, LedgerCheckStatus)),
  ],
);
export type LedgerCheckRow = typeof ledgerCheck.$inferSelect;
