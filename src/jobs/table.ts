import { sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns } from '../db/columns.js';

/** The kind of job that no SQL statement can do: it queries an acquirer for the status of an attempt. */
export const statusPollKind = 'inquire_transaction';

/**
 * Work that is due later. The statement that causes a job inserts it. A worker claims the jobs of one tenant and mode
 * at a time, with SKIP LOCKED. The statement that does a job deletes it.
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
    // A worker claims the due jobs of one tenant without reading the jobs of other tenants.
    index('job_of_tenant').on(t.tenantId, t.livemode, t.due, t.id),
    index('job_stuck').on(t.tenantId, t.livemode, t.id).where(sql`error is not null`),
    index('job_of_subject').on(t.tenantId, t.livemode, t.subjectId),
  ],
);
export type JobRow = typeof job.$inferSelect;
