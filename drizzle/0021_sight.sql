-- Adds the list of all accounts of a platform with its users' partners, the customers of receivables, and where files are
-- used. Each index makes writes to its table wait while it is built, seconds per million rows; reads go on, and requests
-- that write are refused after two seconds. Where that is not acceptable, build the indexes beforehand by the same
-- statements with CONCURRENTLY, one after the other, and add the column of the first statement before them: what exists
-- is not made again.

ALTER TABLE "receivable" ADD COLUMN IF NOT EXISTS "customer_id" text;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_of_tenant" ON "account" USING btree ("tenant_id","livemode","created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_address" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "address"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_status" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_type" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "type"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_tenant_by_capability" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "capability_status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_of_logo" ON "account" USING btree ("tenant_id","livemode",("logo_id"),"created","id") WHERE ("account"."logo_id") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_of_id_document" ON "account" USING btree ("tenant_id","livemode",("supporting_documentation" ->> 'idDocument'),"created","id") WHERE ("account"."supporting_documentation" ->> 'idDocument') is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_of_ownership_document" ON "account" USING btree ("tenant_id","livemode",("supporting_documentation" ->> 'ownershipStructureDocument'),"created","id") WHERE ("account"."supporting_documentation" ->> 'ownershipStructureDocument') is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_of_address_document" ON "account" USING btree ("tenant_id","livemode",("supporting_documentation" ->> 'physicalAddressDocument'),"created","id") WHERE ("account"."supporting_documentation" ->> 'physicalAddressDocument') is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_of_id_document" ON "address" USING btree ("tenant_id","livemode",("supporting_documentation" ->> 'idDocument'),"created","id") WHERE ("address"."supporting_documentation" ->> 'idDocument') is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "person_of_tax_card" ON "person" USING btree ("tenant_id","livemode",("identification" ->> 'taxCardImage'),"created","id") WHERE ("person"."identification" ->> 'taxCardImage') is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "person_of_passport" ON "person" USING btree ("tenant_id","livemode",("identification" ->> 'passportImage'),"created","id") WHERE ("person"."identification" ->> 'passportImage') is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_of_customer" ON "receivable" USING btree ("tenant_id","livemode","customer_id","created","id") WHERE "receivable"."customer_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_of_document" ON "receivable" USING btree ("tenant_id","livemode",("invoice" ->> 'document'),"created","id") WHERE ("receivable"."invoice" ->> 'document') is not null;