-- Rows of imports whose objects were seen before are not stored again: what rows are compared by.
-- While the indexes are built, writes of accounts and receivables wait. Where that is not acceptable, build them
-- beforehand by the same statements with CONCURRENTLY: an index that exists is not built again.

CREATE INDEX IF NOT EXISTS "account_seen" ON "account" USING btree ("tenant_id","livemode",hashtextextended("owner_id" || ' ' || ("business_details" ->> 'legalName')
        || jsonb_strip_nulls("business_details" -> 'physicalAddress')::text, 0)) WHERE "account"."kind" = 'partner';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_seen" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended("customer_id" || ' ' || ("invoice" ->> 'referenceNumber'), 0)) WHERE "receivable"."customer_id" is not null and not "receivable"."voided";