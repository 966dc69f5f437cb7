import { sql } from 'drizzle-orm';
import { bigint, index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { keyColumns, visibilityColumns } from '../../db/columns.js';

/**
 * What happened, written by the statement that did it. `data` is the changed row as it became.
 * `number` is given later by a worker, densely per tenant and mode: commit order is neither time nor a sequence.
 */
export const event = pgTable(
  'event',
  {
    ...keyColumns(),
    type: text('type').notNull(),
    object: text('object').notNull(),
    objectId: text('object_id').notNull(),
    data: jsonb('data').notNull(),
    requestId: text('request_id'),
    number: bigint('number', { mode: 'number' }),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'event_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    // An event has no number when it is inserted: what leads by numbers need not hold it before it has one.
    uniqueIndex('event_numbers').on(t.tenantId, t.livemode, t.number).where(sql`number is not null`),
    index('event_unnumbered').on(t.tenantId, t.livemode, t.created, t.id).where(sql`number is null`),
    index('event_of_context')
      .on(t.tenantId, t.livemode, t.actingAccountId, t.number, t.id)
      .where(sql`number is not null`),
    index('event_of_root').on(t.tenantId, t.livemode, t.onRootList, t.number, t.id).where(sql`number is not null`),
    index('event_about_object').on(t.tenantId, t.livemode, t.objectId, t.number, t.id).where(sql`number is not null`),
  ],
);

export type EventRow = typeof event.$inferSelect;

/** The last number that was given, per tenant and mode: who holds its row numbers. */
export const eventCounter = pgTable(
  'event_counter',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    last: bigint('last', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ name: 'event_counter_pkey', columns: [t.tenantId, t.livemode] })],
);
