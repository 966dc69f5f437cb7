import { bigint, boolean, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';

/**
 * The allowance of a root account and mode: the time at which it would be full again, in microseconds by the clock of
 * the database. Every gateway takes its leases from this row. `spent` has the senders that spent most of what is gone,
 * with their points, and `rotations` the times of the last rotations that were answered without points.
 */
export const allowance = pgTable(
  'allowance',
  {
    tenantId: text('tenant_id').notNull(),
    livemode: boolean('livemode').notNull(),
    fullAt: bigint('full_at', { mode: 'number' }).notNull(),
    spent: jsonb('spent').$type<Record<string, number>>(),
    rotations: bigint('rotations', { mode: 'number' }).array(),
  },
  (t) => [primaryKey({ name: 'allowance_pkey', columns: [t.tenantId, t.livemode] })],
);
