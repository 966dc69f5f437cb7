import { sql } from 'drizzle-orm';
import { bigint, index, jsonb, type PgColumn, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { keyColumns, visibilityColumns } from '../../db/schema/columns.js';
import { parentIndex } from '../../db/schema/filter-index.js';
import { indexesOf, type Lists } from '../../db/schema/lists.js';

const numbered = (number: PgColumn) => ({ order: [number], where: sql`number is not null` });

/** How events are listed. */
export const eventLists = (t: Record<'type' | 'objectId' | 'actingAccountId', PgColumn>): Lists => ({
  filters: { type: t.type, objectId: { selective: t.objectId }, accountId: t.actingAccountId },
  byAccount: ['accountId'],
  below: true,
  keys: { type: ['type'] },
  hashed: [t.actingAccountId, t.objectId],
});

/**
 * Something that happened, written by the statement that did it. `data` is the row after the change. A worker assigns
 * `number` later, without gaps per tenant and mode, because neither times nor a sequence follow the commit order.
 */
export const event = pgTable(
  'event',
  {
    ...keyColumns(),
    type: text('type').notNull(),
    object: text('object').notNull(),
    objectId: text('object_id').notNull(),
    data: jsonb('data').$type<{ customer_id?: string }>().notNull(),
    requestId: text('request_id'),
    number: bigint('number', { mode: 'number' }),
    ...visibilityColumns(),
  },
  (t) => [
    primaryKey({ name: 'event_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    // An event has no number when it is inserted, so the index by number contains it only once it has one.
    uniqueIndex('event_numbers').on(t.tenantId, t.livemode, t.number).where(sql`number is not null`),
    index('event_unnumbered').on(t.tenantId, t.livemode, t.created, t.id).where(sql`number is null`),
    // Numbers are unique in a tenant and mode, so these indexes have the order of the lists without the id.
    index('event_in_root').on(t.tenantId, t.livemode, t.onRootList, t.number).where(sql`number is not null`),
    parentIndex('event_by_context', t, t.actingAccountId, numbered(t.number)),
    parentIndex('event_by_object', t, t.objectId, numbered(t.number)),
    ...indexesOf('event', t, eventLists(t), numbered(t.number)),
    // The position of a time among the numbers: entries of one second take little room.
    index('event_at').on(t.tenantId, t.livemode, t.created),
  ],
);

export type EventRow = typeof event.$inferSelect;

/** The last assigned number, per tenant and mode. A worker locks its row while it assigns numbers. */
export const eventCounter = pgTable(
  'event_counter',
  {
    tenantId: keyColumns().tenantId,
    livemode: keyColumns().livemode,
    last: bigint('last', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ name: 'event_counter_pkey', columns: [t.tenantId, t.livemode] })],
);
