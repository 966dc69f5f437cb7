import { sql } from 'drizzle-orm';
import { bigint, boolean, check, foreignKey, index, integer, jsonb, pgTable } from 'drizzle-orm/pg-core';
import { primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { isOneOf } from '../../db/schema/columns.js';

export type Direction = 'credit' | 'debit';

/** An entry of several transfers: the bank's reference of it, its amount in minor units, and its direction. */
export interface PartedEntry {
  reference: string;
  amount: string;
  direction: Direction;
}

/** What a line says beside what is compared. */
export interface LineDetails {
  /** The reference that the sender gave, by which a payout is found again. */
  endToEndId?: string;
  payerName?: string;
  payerLines?: string[];
  payerCountry?: string;
  text?: string;
  /** Why a transfer came back: the code of ISO 20022, or the bank's words. */
  returnReason?: string;
  /** The entry that the transfer is a part of. */
  entry?: PartedEntry;
}

/** The forms of a day that a mapping may name. */
export const DayFormat = {
  YEAR_FIRST: 'YYYY-MM-DD',
  DAY_FIRST: 'DD/MM/YYYY',
  MONTH_FIRST: 'MM/DD/YYYY',
} as const;
export type DayFormat = (typeof DayFormat)[keyof typeof DayFormat];

/** What a mapping finds by the name of a column. */
export const csvColumns = [
  ...['reference', 'day', 'amount', 'credit', 'debit', 'direction', 'currency', 'account'],
  ...['payerName', 'text', 'endToEndId', 'returnReason'],
] as const;
export type CsvColumn = (typeof csvColumns)[number];

/** How the CSV files of one bank are read. */
export interface CsvMapping {
  columns: Partial<Record<CsvColumn, string>>;
  /** What all lines have where there is no column for it. */
  currency?: string | undefined;
  account?: string | undefined;
  dayFormat: DayFormat;
  /** The decimal mark; the other one of the two separates thousands. */
  decimal: '.' | ',';
  delimiter: ',' | ';' | '\t' | '|';
  /** The line with the names of the columns, counted from 1. */
  headerLine: number;
}

// These tables are about the whole deployment, so they have no tenant. A bank's file has money of several tenants, and
// of none until an operator has decided.

/** How the CSV files of a bank are read, under a name. */
export const bankMapping = pgTable('bank_mapping', {
  name: text('name').primaryKey(),
  created: bigint('created', { mode: 'number' }).notNull(),
  createdBy: text('created_by').notNull(),
  mapping: jsonb('mapping').$type<CsvMapping>().notNull(),
});
export type BankMappingRow = typeof bankMapping.$inferSelect;

/** A file of a bank that was imported. The same content is the same file, whatever its name. */
export const bankFile = pgTable(
  'bank_file',
  {
    id: text('id').primaryKey(),
    created: bigint('created', { mode: 'number' }).notNull(),
    createdBy: text('created_by').notNull(),
    name: text('name').notNull(),
    /** The hash of the content, and of the mapping by which it is read. */
    sha256: text('sha256').notNull(),
    format: text('format').notNull(),
    lines: integer('lines').notNull(),
    /** When all its lines were stored; null while an import is under way or was interrupted. */
    storedAt: bigint('stored_at', { mode: 'number' }),
  },
  (t) => [uniqueIndex('bank_file_sha256').on(t.sha256), index('bank_file_age').on(t.created, t.id)],
);
export type BankFileRow = typeof bankFile.$inferSelect;

/** What a file says of one account: its balances at the beginning and the end of a day. */
export const bankStatement = pgTable(
  'bank_statement',
  {
    fileId: text('file_id').notNull(),
    number: integer('number').notNull(),
    account: text('account'),
    currency: text('currency'),
    day: text('day'),
    opening: bigint('opening', { mode: 'bigint' }),
    closing: bigint('closing', { mode: 'bigint' }),
    notBooked: integer('not_booked').notNull(),
  },
  (t) => [
    primaryKey({ name: 'bank_statement_pkey', columns: [t.fileId, t.number] }),
    foreignKey({ name: 'bank_statement_file', columns: [t.fileId], foreignColumns: [bankFile.id] }),
    index('bank_statement_day').on(t.day, t.account, t.currency, t.fileId, t.number).where(sql`closing is not null`),
    // The last closing balance of an account before a day.
    index('bank_statement_account')
      .on(t.account, t.currency, t.day, t.fileId, t.number)
      .where(sql`closing is not null`),
  ],
);
export type BankStatementRow = typeof bankStatement.$inferSelect;

export const BankLineState = {
  MATCHED: 'matched',
  BOOKED: 'booked',
  SEEN_BEFORE: 'seen_before',
  UNMATCHED: 'unmatched',
  RETURNED: 'returned',
} as const;
export type BankLineState = (typeof BankLineState)[keyof typeof BankLineState];

export const UnmatchedReason = {
  UNKNOWN_ACCOUNT: 'unknown_account',
  SEVERAL_ADDRESSES: 'several_addresses',
  OTHER_CURRENCY: 'other_currency',
  NO_REFERENCE: 'no_reference',
  REPEATED: 'repeated',
  UNCLEAR: 'unclear',
  REVERSAL: 'reversal',
  OUTGOING: 'outgoing',
  OTHER_AMOUNT: 'other_amount',
  OTHER_ACCOUNT: 'other_account',
  REFUSED: 'refused',
} as const;
export type UnmatchedReason = (typeof UnmatchedReason)[keyof typeof UnmatchedReason];

/** A transfer of a file. What a bank says stays as it is; the other columns say what has become of it. */
export const bankLine = pgTable(
  'bank_line',
  {
    fileId: text('file_id').notNull(),
    number: integer('number').notNull(),
    line: integer('line').notNull(),
    statement: integer('statement'),
    account: text('account'),
    payee: text('payee'),
    direction: text('direction').$type<Direction>().notNull(),
    isReversal: boolean('is_reversal').notNull(),
    isUnclear: boolean('is_unclear').notNull(),
    amount: bigint('amount', { mode: 'bigint' }).notNull(),
    currency: text('currency').notNull(),
    day: text('day').notNull(),
    /** The bank's reference. */
    reference: text('reference'),
    details: jsonb('details').$type<LineDetails>().notNull(),
    state: text('state').$type<BankLineState>().notNull(),
    reason: text('reason').$type<UnmatchedReason>(),
    /** Why its booking was refused, or why it was returned. */
    note: text('note'),
    /** Where it is booked, or was to be. Not `tenant_id`, because this table is not distributed by tenant. */
    tenant: text('tenant'),
    addressId: text('address_id'),
    /** What the operator said when it was assigned: a reference in place of the bank's, and that of a receipt. */
    givenReference: text('given_reference'),
    originalReference: text('original_reference'),
    allowCurrency: boolean('allow_currency').notNull().default(false),
    depositId: text('deposit_id'),
    /** The payout that it answers, which is then booked in place of an address. */
    payoutId: text('payout_id'),
    /** The operator who assigned or returned it; null where its account decided. */
    decidedBy: text('decided_by'),
    decidedAt: bigint('decided_at', { mode: 'number' }),
  },
  (t) => [
    primaryKey({ name: 'bank_line_pkey', columns: [t.fileId, t.number] }),
    foreignKey({ name: 'bank_line_file', columns: [t.fileId], foreignColumns: [bankFile.id] }),
    index('bank_line_reference').on(t.reference, t.amount, t.day),
    index('bank_line_entry').on(sql`(details #>> '{entry,reference}')`).where(sql`details ? 'entry'`),
    index('bank_line_day').on(t.day, t.account, t.currency, t.fileId, t.number),
    index('bank_line_state').on(t.fileId, t.state, t.number),
    // A deposit, and the payment and the return of a payout, are one line each.
    uniqueIndex('bank_line_deposit')
      .on(t.depositId, t.direction)
      .where(sql`state = 'booked' and deposit_id is not null`),
    uniqueIndex('bank_line_payout').on(t.payoutId, t.direction).where(sql`state = 'booked' and payout_id is not null`),
    index('bank_line_of_deposit').on(t.depositId).where(sql`deposit_id is not null`),
    index('bank_line_of_payout').on(t.payoutId).where(sql`payout_id is not null`),
    index('bank_line_unmatched').on(t.day, t.fileId, t.number).where(sql`state = 'unmatched'`),
    check('bank_line_direction', sql`${t.direction} in ('credit', 'debit')`),
    check('bank_line_state', isOneOf(t.state, BankLineState)),
    check('bank_line_reason', isOneOf(t.reason, UnmatchedReason)),
    check('bank_line_unmatched', sql`(${t.state} = 'unmatched') = (${t.reason} is not null)`),
    check(
      'bank_line_booked',
      sql`${t.state} <> 'booked' or (${t.addressId} is not null and ${t.depositId} is not null)
        or ${t.payoutId} is not null`,
    ),
    check('bank_line_amount', sql`${t.amount} > 0`),
  ],
);
export type BankLineRow = typeof bankLine.$inferSelect;
