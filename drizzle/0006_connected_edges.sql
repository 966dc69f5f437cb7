-- Walks backwards: from an address to the deposits that came in there, from a deposit to its disputes, from a payment to its payout.
-- While they are built, seconds per million rows, writes to deposits and payouts are refused after two seconds of waiting (reads go on). Whoever cannot
-- have that makes the indexes beforehand, by the same statements with CONCURRENTLY; then nothing is left to build here.

CREATE INDEX IF NOT EXISTS "deposit_to_address" ON "deposit" USING btree ("tenant_id","livemode","to_address_id","created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_disputing" ON "deposit" USING btree ("tenant_id","livemode","disputes_id","created","id") WHERE disputes_id is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_of_payment" ON "payout" USING btree ("tenant_id","livemode","payment_id");
