import { sql } from 'drizzle-orm';
import { check, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns } from '../db/columns.js';

/** A transfer as a bank reports it; the amount is minor units as a string of digits. */
export interface NoticeObject {
  toAccountId: string;
  toAddressId: string;
  amount: string;
  currency: string;
  fromAccountId: string | null;
  paymentMethod: string;
  statementDescriptor: string | null;
}

/**
 * A bank's report about a transfer, under the bank's own reference. A repeated report is the same notice, and a
 * reversal that arrives before its deposit waits for it.
 */
export const bankNotice = pgTable(
  'bank_notice',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    reference: text('reference').notNull(),
    event: text('event').$type<'received' | 'reversed'>().notNull(),
    created: keyColumns().created,
    depositId: text('deposit_id'),
    content: jsonb('content').$type<NoticeObject>().notNull(),
  },
  (t) => [
    primaryKey({ name: 'bank_notice_pkey', columns: [t.tenantId, t.livemode, t.reference, t.event] }),
    index('bank_notice_waiting').on(t.created, t.tenantId, t.livemode, t.reference).where(sql`deposit_id is null`),
    check('bank_notice_event', sql`${t.event} in ('received', 'reversed')`),
  ],
);

export type BankNoticeRow = typeof bankNotice.$inferSelect;
