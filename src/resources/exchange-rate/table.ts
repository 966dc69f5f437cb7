import { sql } from 'drizzle-orm';
import { check, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { keyColumns } from '../../db/schema/columns.js';

/** How much of one currency a unit of another buys: the last rate that the operator gave for live mode. */
export const rate = pgTable(
  'rate',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    source: text('source').notNull(),
    target: text('target').notNull(),
    rate: numeric('rate').notNull(),
    created: keyColumns().created,
  },
  (t) => [
    primaryKey({ name: 'rate_pkey', columns: [t.tenantId, t.livemode, t.source, t.target] }),
    check('rate_positive', sql`${t.rate} > 0`),
  ],
);

export type RateRow = typeof rate.$inferSelect;
