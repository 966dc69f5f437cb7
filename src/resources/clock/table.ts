import { bigint, boolean, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';

/** The test clock of a tenant: seconds that are added to the database's clock. Only test mode has one. */
export const testClock = pgTable(
  'test_clock',
  {
    tenantId: text('tenant_id').notNull(),
    livemode: boolean('livemode').notNull(),
    offsetSeconds: bigint('offset_seconds', { mode: 'number' }).notNull(),
    /** The time of the clock when it was last moved. */
    now: bigint('now', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ name: 'test_clock_pkey', columns: [t.tenantId, t.livemode] })],
);
