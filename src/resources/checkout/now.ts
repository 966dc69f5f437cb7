import { bigint, pgTable } from 'drizzle-orm/pg-core';
import { checkoutColumns } from './table.js';

/**
 * Checkouts in their present state: the view `checkout_now` of `drizzle/functions/checkout.sql`. A checkout past its
 * `expires_at` reads as expired, even before a worker marks it. `now` is the time by the tenant's own clock. The view
 * is not in the table's file, because the migrations are generated from that file.
 */
export const checkoutNow = pgTable('checkout_now', {
  ...checkoutColumns(),
  now: bigint('now', { mode: 'number' }).notNull(),
});
export type CheckoutNow = typeof checkoutNow.$inferSelect;
