-- Gives the lists of a parent shorter keys: a hash of the parent's id in place of the id. A block of seals stores its key once.
-- Each new index makes writes to its table wait while it is built, seconds per million rows; reads go on, and requests
-- that write are refused after two seconds. Where that is not acceptable, build the indexes beforehand by the same
-- statements with CONCURRENTLY, one after the other: an index that exists is not built again. Gateways of the previous
-- release find these lists by other indexes, slowly for large tenants, so replace all of them soon.

CREATE INDEX IF NOT EXISTS "deposit_by_receiver" ON "deposit" USING btree ("tenant_id","livemode",hashtext("to_account_id"),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_by_payer" ON "deposit" USING btree ("tenant_id","livemode",hashtext("from_account_id"),"created","id") WHERE "deposit"."from_account_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_by_address" ON "deposit" USING btree ("tenant_id","livemode",hashtext("to_address_id"),"created","id") WHERE "deposit"."to_address_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "event_by_context" ON "event" USING btree ("tenant_id","livemode",hashtext("context_id"),"number") WHERE number is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "event_by_object" ON "event" USING btree ("tenant_id","livemode",hashtext("object_id"),"number") WHERE number is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "entry_by_account" ON "entry" USING btree ("tenant_id","livemode",hashtext("account_id"),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "entry_by_compartment" ON "entry" USING btree ("tenant_id","livemode",hashtext((account_id || ' ' || currency || ' ' || category)),"created","version");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "entry_by_payment" ON "entry" USING btree ("tenant_id","livemode",hashtext("payment_id"),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "posting_seal_by_block" ON "posting_seal" USING btree ("tenant_id","livemode","block");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payment_by_account" ON "payment" USING btree ("tenant_id","livemode",hashtext("account_id"),"created","id");--> statement-breakpoint
-- The statements below wait for all readers of these tables, and block new readers until the commit. So they come
-- last, and fail after waiting for 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
DROP INDEX "deposit_to";--> statement-breakpoint
DROP INDEX "deposit_paid_by";--> statement-breakpoint
DROP INDEX "deposit_received_at";--> statement-breakpoint
DROP INDEX "event_in_context";--> statement-breakpoint
DROP INDEX "event_for_object";--> statement-breakpoint
DROP INDEX "entry_of_account";--> statement-breakpoint
DROP INDEX "entry_of_compartment";--> statement-breakpoint
DROP INDEX "entry_of_payment";--> statement-breakpoint
DROP INDEX "posting_seal_of_block";--> statement-breakpoint
DROP INDEX "payment_of_account";
