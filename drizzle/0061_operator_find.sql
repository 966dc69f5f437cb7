-- What the operator finds over all tenants: bank notices, recalls and payouts by the bank's reference, checkouts,
-- invoices and logged requests by their ids, and the webhook endpoints that fail. Each new index makes writes to its
-- table wait while it is built, about a second per million rows; where that is not acceptable, build it beforehand by
-- the same statement with CONCURRENTLY: an index that exists is not built again.

CREATE INDEX IF NOT EXISTS "bank_notice_by_reference" ON "bank_notice" USING hash ("reference");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "clawback_by_reference" ON "clawback" USING hash ("reference");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_by_id" ON "checkout" USING hash ("id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_by_reference" ON "payout" USING btree ("bank_reference") WHERE bank_reference is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_by_id" ON "receivable" USING hash ("id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "request_log_by_id" ON "request_log" USING hash ("id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "webhook_endpoint_failing_of_all" ON "webhook_endpoint" USING btree ("failing_since","tenant_id","livemode","id") WHERE failing_since is not null and disabled_reason is distinct from 'by_request';