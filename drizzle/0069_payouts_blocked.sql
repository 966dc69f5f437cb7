-- The queue of what needs attention finds payouts that are blocked: money that was due and was not paid out, the oldest
-- first, and the activated accounts whose payouts are disabled. Both indexes are of few rows. Writes to the two tables
-- wait while these are read, about a second per million accounts.
CREATE INDEX IF NOT EXISTS "account_setting_disabled" ON "account_setting" USING btree ("tenant_id","livemode","account_id") WHERE account_activated and (platform_hold or service_hold);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_block_waiting" ON "payout_block" USING btree ("tenant_id","livemode","created","id") WHERE reason_code <> 'amount_too_small';
