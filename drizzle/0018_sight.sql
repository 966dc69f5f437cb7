-- Adds the list of all accounts of a platform with its users' partners. Each index makes writes to its table wait while it
-- is built, seconds per million rows; reads go on, and requests that write are refused after two seconds. Where that is
-- not acceptable, build the indexes beforehand by the same statements with CONCURRENTLY, one after the other: an index
-- that exists is not built again.

CREATE INDEX IF NOT EXISTS "account_of_tenant" ON "account" USING btree ("tenant_id","livemode","created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_address" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "address"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_status" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_type" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "type"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_capability" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "capability_status"), 0),"created","id");