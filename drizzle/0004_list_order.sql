-- Lists in the order of an index: the checkouts of a receivable, and what waits for the operator, who also names objects by an id alone; ids contain no tenant. These tables are written seldom beside deposits, which get no such index.

DROP INDEX "checkout_of_receivable";--> statement-breakpoint
CREATE INDEX "account_by_id" ON "account" USING btree ("id");--> statement-breakpoint
CREATE INDEX "account_queue" ON "account" USING btree ("status","created","id","livemode");--> statement-breakpoint
CREATE INDEX "address_by_id" ON "address" USING btree ("id");--> statement-breakpoint
CREATE INDEX "api_key_by_id" ON "api_key" USING btree ("id");--> statement-breakpoint
CREATE INDEX "payout_by_id" ON "payout" USING btree ("id");--> statement-breakpoint
CREATE INDEX "payout_queue" ON "payout" USING btree ("status","created","id","livemode");--> statement-breakpoint
CREATE INDEX "checkout_of_receivable" ON "checkout_receivable" USING btree ("tenant_id","livemode","receivable_id","created","checkout_id");
