import { sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns } from '../db/schema/columns.js';

/**
 * The kinds of jobs that no SQL statement can do: they query an acquirer for the status of an attempt, and submit
 * refunds to it.
 */
export const acquirerKinds = ['inquire_transaction', 'send_refund'];

/**
 * When a status poll is due that has been made for the last time, in seconds since 1970: the last second of the year
 * 9999. The statement `claim_status_polls` writes it.
 */
export const pollsEnded = 253_402_300_799;

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
    /** When the job failed for the first time. */
    failingSince: bigint('failing_since', { mode: 'number' }),
  },
  (t) => [
    primaryKey({ name: 'job_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    index('job_due').on(t.due, t.tenantId, t.livemode),
    // A worker claims the due jobs of one tenant without reading the jobs of other tenants.
    index('job_of_tenant').on(t.tenantId, t.livemode, t.due, t.id),
    index('job_stuck').on(t.tenantId, t.livemode, t.id).where(sql`error is not null`),
    // The failing jobs of a mode are counted, and the one that fails for the longest time is found, also of payouts.
    index('job_failing').on(t.livemode, t.failingSince).where(sql`failing_since is not null`),
    index('job_failing_payout')
      .on(t.failingSince)
      .where(sql`livemode and kind = 'pay_out' and failing_since is not null`),
    // The operator lists the attempts of all tenants about which acquirers are still asked, which are few.
    index('job_of_poll').on(t.created, t.id).where(sql`kind = 'inquire_transaction' and livemode`),
    index('job_of_subject').on(t.tenantId, t.livemode, t.subjectId),
  ],
);
export type JobRow = typeof job.$inferSelect;

/** The kinds of work that the worker does tenant by tenant and that have their own code. Resources declare others. */
export const OwnWork = {
  RUN_JOBS: 'run_jobs',
  POLL_STATUSES: 'poll_statuses',
  NUMBER_EVENTS: 'number_events',
} as const;
/** The name of a kind of work. */
export type TenantWork = string;

/**
 * Work of a tenant and mode that fails as a whole, unlike a single job that fails. A worker stores the row when an
 * attempt fails, and deletes it after one that succeeds. The row also keeps the workers of several gateways from trying
 * the work before its next attempt is due.
 */
export const workerFault = pgTable(
  'worker_fault',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    work: text('work').notNull(),
    error: text('error').notNull(),
    since: bigint('since', { mode: 'number' }).notNull(),
    attempts: integer('attempts').notNull(),
    nextAttempt: bigint('next_attempt', { mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ name: 'worker_fault_pkey', columns: [t.tenantId, t.livemode, t.work] }),
    index('worker_fault_of_mode').on(t.livemode),
  ],
);

/** A process of a gateway that runs, or that has ended without saying so. It is about no tenant. */
export const gatewayProcess = pgTable('gateway_process', {
  id: text('id').primaryKey(),
  host: text('host').notNull(),
  process: integer('process').notNull(),
  version: text('version').notNull(),
  startedAt: bigint('started_at', { mode: 'number' }).notNull(),
  seenAt: bigint('seen_at', { mode: 'number' }).notNull(),
});
