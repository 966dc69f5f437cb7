-- Adds what each customer owes. While the index is built, writes to receivables wait. Where that is not acceptable, build
-- it beforehand by the same statement with CONCURRENTLY: an index that exists is not built again.

CREATE INDEX IF NOT EXISTS "receivable_owed" ON "receivable" USING btree ("tenant_id","livemode","customer_id","currency","amount_reconcilable") WHERE "receivable"."customer_id" is not null and "receivable"."status" = 'open';
