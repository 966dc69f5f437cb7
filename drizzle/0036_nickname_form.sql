-- Lets the comparison of nicknames by their Unicode form find the existing ones, which may be there twice. While the
-- index is built, writes of accounts wait. Where that is not acceptable, build it beforehand by the same statement with
-- CONCURRENTLY: an index that exists is not built again.

CREATE INDEX IF NOT EXISTS "account_nickname" ON "account" USING btree ("tenant_id","livemode",hashtextextended(lower(btrim(normalize("nickname", nfkc), ' ' || chr(9) || chr(10) || chr(13))), 0)) WHERE "account"."nickname" is not null;
