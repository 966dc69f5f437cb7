import { bigint, pgTable } from 'drizzle-orm/pg-core';
import { checkoutColumns } from './table.js';

/**
 * Checkouts as they are at this moment: the view `checkout_now` of `drizzle/functions/checkout.sql`. One whose time is
 * over reads as expired, whether or not a worker has come by. `now` is the moment by the tenant's own clock.
 * It is apart from the table's file since the migrations are made from that.
 */
export const checkoutNow = pgTable('checkout_now', {
  ...checkoutColumns(),
  now: bigint('now', { mode: 'number' }).notNull(),
});
export type CheckoutNow = typeof checkoutNow.$inferSelect;
