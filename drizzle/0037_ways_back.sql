-- The way back from a checkout, a deposit, an event, a file and an API key to what refers to them needs indexes. While
-- they are built, writes of these tables wait. Where that is not acceptable, build them beforehand by the same
-- statements with CONCURRENTLY: an index that exists is not built again.

CREATE INDEX IF NOT EXISTS "data_import_of_file" ON "data_import" USING btree ("tenant_id","livemode","file_id","created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payment_of_checkout" ON "payment" USING btree ("tenant_id","livemode","checkout_id","created","id") WHERE checkout_id is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "session_of_api_key" ON "session" USING btree ("tenant_id","livemode","api_key_id","created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "transaction_of_deposit" ON "transaction" USING btree ("tenant_id","livemode","deposit_id") WHERE deposit_id is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "webhook_delivery_of_event" ON "webhook_delivery" USING btree ("tenant_id","livemode","event_id","created","id");