-- Stores why money was not paid out, and what an acquirer reported that does not fit its attempt. Jobs, locks and
-- entries get indexes in the order in which they are processed.
-- Building an index takes seconds per million rows. Meanwhile writes to its table are refused after two seconds of
-- waiting, and reads continue. Where that is not acceptable, build the indexes beforehand by the same statements with
-- CONCURRENTLY: an index that exists is not built again.

CREATE INDEX IF NOT EXISTS "job_of_tenant" ON "job" USING btree ("tenant_id","livemode","due","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "job_stuck" ON "job" USING btree ("tenant_id","livemode","id") WHERE error is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "entry_of_compartment" ON "entry" USING btree ("tenant_id","livemode",(account_id || ' ' || currency || ' ' || category),"created","version");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_lock_in_payout" ON "receivable_lock" USING btree ("tenant_id","livemode","payout_id","id");--> statement-breakpoint
CREATE TABLE "payout_block" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"currency" text NOT NULL,
	"reason_code" text NOT NULL,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "payout_block_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "payout_block_of_account" UNIQUE("tenant_id","livemode","account_id","currency"),
	CONSTRAINT "payout_block_reason" CHECK ("payout_block"."reason_code" in ('address_missing', 'amount_too_large', 'amount_too_small', 'balance_negative', 'rate_missing'))
);--> statement-breakpoint
ALTER TABLE "payout_block" ADD CONSTRAINT "payout_block_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
-- Written by hand: the new table is distributed like the others.
SELECT tg_distribute('payout_block');--> statement-breakpoint
-- Available money of a payable account has either a scheduled payout or a reason why it is not paid out. Where it has
-- neither, this schedules a payout that is due now: it pays the money or records the reason.
INSERT INTO "job" ("tenant_id", "livemode", "id", "created", "kind", "subject_id", "args", "due")
SELECT DISTINCT ON (b.tenant_id, b.livemode, b.account_id) b.tenant_id, b.livemode, 'job_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 14, '0') || left(replace(gen_random_uuid()::text, '-', ''), 18),
  extract(epoch FROM clock_timestamp())::bigint, 'pay_out', b.account_id, '{}', extract(epoch FROM clock_timestamp())::bigint
FROM "balance" b JOIN "account_setting" s ON s.tenant_id = b.tenant_id AND s.livemode = b.livemode AND s.account_id = b.account_id
WHERE b.available > 0 AND s.payouts_applicable AND NOT EXISTS (SELECT FROM "job" j WHERE j.tenant_id = b.tenant_id AND j.livemode = b.livemode AND j.kind = 'pay_out' AND j.subject_id = b.account_id);--> statement-breakpoint
-- Write countries that were sent in lower case in upper case, because clients compare them as text.
update "account" set "business_details" = jsonb_set("business_details", '{physicalAddress,country}', to_jsonb(upper("business_details" #>> '{physicalAddress,country}'))) where "business_details" #>> '{physicalAddress,country}' <> upper("business_details" #>> '{physicalAddress,country}');--> statement-breakpoint
update "address" set "billing_details" = jsonb_set("billing_details", '{country}', to_jsonb(upper("billing_details" ->> 'country'))) where "billing_details" ->> 'country' <> upper("billing_details" ->> 'country');--> statement-breakpoint
-- The statements below wait for all readers of these tables, and block new readers until the commit. So they come
-- last, and fail after waiting for 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "pepper_id" text;--> statement-breakpoint
ALTER TABLE "transaction" ADD COLUMN "mismatch" jsonb;--> statement-breakpoint
CREATE INDEX "transaction_mismatched" ON "transaction" USING btree ("created","id") WHERE mismatch is not null;--> statement-breakpoint
DROP INDEX "receivable_lock_of_payout";
