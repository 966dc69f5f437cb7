-- Adds lists of accounts by balance, the filter of checkouts by status, and the time of the last change of each object. A
-- column that is added is NULL in the rows that exist, and writes none of them. The indexes of checkouts make writes to
-- that table wait while they are built, seconds per million rows. Where that is not acceptable, build them beforehand by
-- the same statements with CONCURRENTLY, one after the other: an index that exists is not built again.

CREATE TABLE "balance_rank" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"account_id" text NOT NULL,
	"currency" text NOT NULL,
	"ranked_as" text NOT NULL,
	"amount" numeric NOT NULL,
	"version" bigint NOT NULL,
	"owner_id" text,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "balance_rank_pkey" PRIMARY KEY("tenant_id","livemode","account_id","currency")
);
--> statement-breakpoint
CREATE INDEX "balance_rank_root_kind" ON "balance_rank" USING btree ("tenant_id","livemode",(case when "on_root_list" then "ranked_as" end),"amount","account_id") WHERE (case when "balance_rank"."on_root_list" then "balance_rank"."ranked_as" end) is not null;--> statement-breakpoint
CREATE INDEX "balance_rank_context_by_kind" ON "balance_rank" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "ranked_as"), 0),"amount","account_id");--> statement-breakpoint
CREATE INDEX "balance_rank_tenant_by_kind" ON "balance_rank" USING btree ("tenant_id","livemode",hashtextextended(("tenant_id" || ' ' || "ranked_as"), 0),"amount","account_id");--> statement-breakpoint
CREATE INDEX "balance_rank_owner_by_kind" ON "balance_rank" USING btree ("tenant_id","livemode",hashtextextended(("owner_id" || ' ' || "ranked_as"), 0),"amount","account_id") WHERE ("balance_rank"."owner_id" || ' ' || "balance_rank"."ranked_as") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_root_status" ON "checkout" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"created","id") WHERE (case when "checkout"."on_root_list" then "checkout"."status" end) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_context_by_status" ON "checkout" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_to_by_status" ON "checkout" USING btree ("tenant_id","livemode",hashtextextended(("to_account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_from_by_status" ON "checkout" USING btree ("tenant_id","livemode",hashtextextended(("from_account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_due_root_status" ON "checkout" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"expires_at","id") WHERE (status = 'initialized' and (case when "checkout"."on_root_list" then "checkout"."status" end) is not null);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_due_context_by_status" ON "checkout" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"expires_at","id") WHERE status = 'initialized';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_due_to_by_status" ON "checkout" USING btree ("tenant_id","livemode",hashtextextended(("to_account_id" || ' ' || "status"), 0),"expires_at","id") WHERE status = 'initialized';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "checkout_due_from_by_status" ON "checkout" USING btree ("tenant_id","livemode",hashtextextended(("from_account_id" || ' ' || "status"), 0),"expires_at","id") WHERE status = 'initialized';--> statement-breakpoint
CREATE INDEX "session_of_key" ON "session" USING btree ("tenant_id","livemode","api_key_id","expires_at") WHERE revoked_at is null;--> statement-breakpoint
-- Written by hand: without NOT VALID, all receivables would be read while writes to them wait. New rows are checked, and
-- those that exist name partners of their accounts, which are never deleted.
ALTER TABLE "receivable" ADD CONSTRAINT "receivable_customer" FOREIGN KEY ("tenant_id","livemode","customer_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action NOT VALID;--> statement-breakpoint
-- Written by hand: the new table is distributed like the others.
SELECT tg_distribute('balance_rank');--> statement-breakpoint
-- The balances that exist are ranked by jobs. A call that has begun before this migration ends in the old function and
-- ranks nothing. It ends within seconds, and the jobs begin a minute later.
INSERT INTO "job" ("tenant_id", "livemode", "id", "created", "kind", "subject_id", "args", "due")
SELECT a.tenant_id, a.livemode, 'job_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 14, '0') || left(replace(gen_random_uuid()::text, '-', ''), 18), n.at, 'rank_balances', a.id, jsonb_build_object('notBefore', n.at), n.at
FROM "account" a, (SELECT date_part('epoch', clock_timestamp())::bigint + 60 AS at) n
WHERE a.kind IN ('platform', 'direct_user');--> statement-breakpoint
-- Last, because an added column keeps readers out until the migration is committed.
ALTER TABLE "account_setting" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "account" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "address" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "checkout" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "deposit" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "payment" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "payout" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "person" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "receivable" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "transaction" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "webhook_delivery" ADD COLUMN "updated_at" bigint;--> statement-breakpoint
ALTER TABLE "webhook_endpoint" ADD COLUMN "updated_at" bigint;
