import { bigint, boolean, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';

/**
 * The allowance of a root account and mode: the time at which it would be full again, in microseconds by the clock of
 * the database. Every gateway takes its leases from this row.
 */
export const allowance = pgTable(
  'allowance',
  {
    tenantId: text('tenant_id').notNull(),
    livemode: boolean('livemode').notNull(),
    fullAt: bigint('full_at', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ name: 'allowance_pkey', columns: [t.tenantId, t.livemode] })],
);
