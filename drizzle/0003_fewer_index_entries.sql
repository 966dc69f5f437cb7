-- Writes that pay for less: an event enters the indexes of its lists when it gets its number and not before. And the payouts to one address get an index.
-- The new indexes are built before the old ones go. Each build keeps writes to its table waiting (reads go on), seconds per million rows; whoever cannot wait makes them
-- beforehand, by the same statements with CONCURRENTLY, and then nothing is left to build here. What follows them shuts everybody out of events for a moment only.

CREATE UNIQUE INDEX IF NOT EXISTS "event_numbers" ON "event" USING btree ("tenant_id","livemode","number") WHERE number is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "event_of_context" ON "event" USING btree ("tenant_id","livemode","context_id","number","id") WHERE number is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "event_of_root" ON "event" USING btree ("tenant_id","livemode","on_root_list","number","id") WHERE number is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "event_about_object" ON "event" USING btree ("tenant_id","livemode","object_id","number","id") WHERE number is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_to_address" ON "payout" USING btree ("tenant_id","livemode","address_id","created","id");--> statement-breakpoint
ALTER TABLE "event" DROP CONSTRAINT "event_number";--> statement-breakpoint
DROP INDEX "event_context";--> statement-breakpoint
DROP INDEX "event_root";--> statement-breakpoint
DROP INDEX "event_of_object";
