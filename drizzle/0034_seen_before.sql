-- Rows of imports whose objects were seen before are not stored again: what rows are compared by, and their count.
-- While the indexes are built, writes of accounts and receivables wait. Where that is not acceptable, build them
-- beforehand by the same statements with CONCURRENTLY: an index that exists is not built again.

ALTER TABLE "import_row" DROP CONSTRAINT "import_row_status";--> statement-breakpoint
ALTER TABLE "data_import" ADD COLUMN "allow_duplicates" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "data_import" ADD COLUMN "rows_seen_before" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_seen" ON "account" USING btree ("tenant_id","livemode",hashtextextended("owner_id" || ' ' || ("business_details" ->> 'legalName')
        || jsonb_strip_nulls("business_details" -> 'physicalAddress')::text, 0)) WHERE "account"."kind" = 'partner';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_seen" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended("customer_id" || ' ' || ("invoice" ->> 'referenceNumber'), 0)) WHERE "receivable"."customer_id" is not null and not "receivable"."voided";--> statement-breakpoint
ALTER TABLE "import_row" ADD CONSTRAINT "import_row_status" CHECK ("import_row"."status" in ('created', 'valid', 'failed', 'seen_before'));
