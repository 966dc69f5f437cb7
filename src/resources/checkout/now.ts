import { sql } from 'drizzle-orm';
import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import { type CheckoutStatus, checkoutColumns } from './table.js';

/**
 * Checkouts in their present state: the view `checkout_now` of `drizzle/functions/checkout/checkout.sql`. A checkout
 * past its
 * `expires_at` reads as expired, even before a worker marks it. `now` is the time by the tenant's own clock. The view
 * is not in the table's file, because the migrations are generated from that file.
 */
export const checkoutNow = pgTable('checkout_now', {
  ...checkoutColumns(),
  /** The status in the table, where a checkout past its time may still be `initialized`. */
  storedStatus: text('stored_status').$type<CheckoutStatus>().notNull(),
  now: bigint('now', { mode: 'number' }).notNull(),
});

/** The time by the tenant's own clock, as the view has it, read once for a statement. */
export const presentTime = sql`(select floor(extract(epoch from clock_timestamp()))::bigint + coalesce((
  select t.offset_seconds from test_clock t
  where t.tenant_id = ${sql.placeholder('tenantId')} and t.livemode = ${sql.placeholder('livemode')}
    and not t.livemode), 0))`;
export type CheckoutNow = typeof checkoutNow.$inferSelect;
