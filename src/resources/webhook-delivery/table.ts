import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  type PgColumn,
} from 'drizzle-orm/pg-core';
import { indexesOf, type Lists, listsBy } from '../../db/schema/lists.js';
import { isOneOf, keyColumns, updatedAt, visibilityColumns } from '../../db/schema/columns.js';
import { webhookEndpoint } from '../webhook-endpoint/table.js';

export const WebhookDeliveryStatus = { PENDING: 'pending', SUCCEEDED: 'succeeded', FAILED: 'failed' } as const;
export type WebhookDeliveryStatus = (typeof WebhookDeliveryStatus)[keyof typeof WebhookDeliveryStatus];

/** One attempt to send an event to an endpoint. */
export interface WebhookAttemptObject {
  /** Seconds since 1970. */
  at: number;
  milliseconds: number;
  /** The status of the response; null when there was none. */
  status: number | null;
  /** Why it failed; null when it succeeded. */
  error: string | null;
  /** The beginning of the body of the response. */
  response: string | null;
}

/** How they are listed. */
export const webhookDeliveryLists = (t: Record<'endpointId' | 'status', PgColumn>): Lists =>
  listsBy({ endpointId: t.endpointId }, 'webhook_delivery_endpoint', { status: t.status }, { own: false });

/** One event for one endpoint. The worker that numbers the event inserts it. Its times are wall-clock times. */
export const webhookDelivery = pgTable(
  'webhook_delivery',
  {
    ...keyColumns(),
    endpointId: text('endpoint_id').notNull(),
    eventId: text('event_id').notNull(),
    eventType: text('event_type').notNull(),
    /** Null for a test event, which is sent before it has its number. */
    eventNumber: bigint('event_number', { mode: 'number' }),
    status: text('status').$type<WebhookDeliveryStatus>().notNull(),
    /** When the present series of attempts began: the creation, or the latest redelivery. */
    queued: bigint('queued', { mode: 'number' }).notNull(),
    /** The attempts of the present series. */
    attemptCount: integer('attempt_count').notNull().default(0),
    nextAttemptAt: bigint('next_attempt', { mode: 'number' }),
    /** The latest attempts of all series, the newest first. */
    attempts: jsonb('attempts').$type<WebhookAttemptObject[]>().notNull().default([]),
    ...visibilityColumns(),
    ...updatedAt(),
  },
  (t) => [
    primaryKey({ name: 'webhook_delivery_pkey', columns: [t.tenantId, t.livemode, t.id] }),
    unique('webhook_delivery_once').on(t.tenantId, t.livemode, t.eventId, t.endpointId),
    foreignKey({
      name: 'webhook_delivery_endpoint',
      columns: [t.tenantId, t.livemode, t.endpointId],
      foreignColumns: [webhookEndpoint.tenantId, webhookEndpoint.livemode, webhookEndpoint.id],
    }),
    index('webhook_delivery_in_context').on(t.tenantId, t.livemode, t.actingAccountId, t.created, t.id),
    index('webhook_delivery_root').on(t.tenantId, t.livemode, t.onRootList, t.created, t.id),
    index('webhook_delivery_of_endpoint').on(t.tenantId, t.livemode, t.endpointId, t.created, t.id),
    index('webhook_delivery_of_event').on(t.tenantId, t.livemode, t.eventId, t.created, t.id),
    // An account asks for the deliveries to one of its endpoints, which have its visibility as well.
    index('webhook_delivery_of_endpoint_in_context').on(
      t.tenantId,
      t.livemode,
      t.actingAccountId,
      t.endpointId,
      t.created,
      t.id,
    ),
    index('webhook_delivery_pending')
      .on(t.tenantId, t.livemode, t.endpointId, t.nextAttemptAt, t.eventNumber)
      .where(sql`status = 'pending'`),
    ...indexesOf('webhook_delivery', t, webhookDeliveryLists(t)),
    // Retention looks for the oldest deliveries of each tenant.
    index('webhook_delivery_age').on(t.tenantId, t.livemode, t.created, t.id),
    check('webhook_delivery_status', isOneOf(t.status, WebhookDeliveryStatus)),
  ],
);
export type WebhookDeliveryRow = typeof webhookDelivery.$inferSelect;
