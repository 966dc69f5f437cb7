import { sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns } from '../db/columns.js';

/** The kind of work that no statement can do: to ask an acquirer what has become of an attempt. */
export const statusPollKind = 'inquire_transaction';

/**
 * Work that is due later: written by the statement that causes it, claimed by a worker with
 * SKIP LOCKED one tenant and mode at a time, deleted by the statement that does it.
 */
export const job = pgTable(
  'job',
  {
    ...keyColumns(),
    kind: text('kind').notNull(),
    subjectId: text('subject_id').notNull(),
    args: jsonb('args').notNull(),
    due: bigint('due', { mode: 'number' }).notNull(),
    attempts: integer('attempts').notNull().default(0),
    error: text('error'),
  },
  (t) => [
    primaryKey({ name: 'job_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    index('job_due').on(t.due, t.tenantId, t.livemode),
    // A tenant's due jobs are claimed without reading those of other tenants, however many these have.
    index('job_of_tenant').on(t.tenantId, t.livemode, t.due, t.id),
    index('job_stuck').on(t.tenantId, t.livemode, t.id).where(sql`error is not null`),
    index('job_of_subject').on(t.tenantId, t.livemode, t.subjectId),
  ],
);
export type JobRow = typeof job.$inferSelect;
