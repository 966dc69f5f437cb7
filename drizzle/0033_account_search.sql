-- Lets the operator find accounts of all tenants by their names. While the index is built, writes of accounts, deposits
-- and receivables wait. Where that is not acceptable, build it beforehand by the same statement with CONCURRENTLY: an
-- index that exists is not built again.

CREATE INDEX IF NOT EXISTS "search_entry_account" ON "search_entry" USING btree ("start","age","id","livemode") WHERE left("search_entry"."id", 8) = 'account_' and left("search_entry"."start", 1) <> '=';