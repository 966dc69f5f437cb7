-- What owners ask to change of accounts that they can no longer update. The index of payouts by the reference of a bank
-- also serves those of one tenant.

CREATE TABLE "change_request" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"changes" jsonb NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"answer" text,
	"answered_at" bigint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"updated_at" bigint,
	CONSTRAINT "change_request_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "change_request_status" CHECK ("change_request"."status" in ('open', 'accepted', 'declined', 'withdrawn'))
);
--> statement-breakpoint
DROP INDEX IF EXISTS "payout_by_reference";--> statement-breakpoint
CREATE UNIQUE INDEX IF NOT EXISTS "change_request_open" ON "change_request" USING btree ("tenant_id","livemode","account_id") WHERE status = 'open';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_in_context" ON "change_request" USING btree ("tenant_id","livemode","context_id","created","id") WHERE "change_request"."context_id" <> "change_request"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_root" ON "change_request" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_of_account" ON "change_request" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_by_id" ON "change_request" USING btree ("id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_queue" ON "change_request" USING btree ("status","created","id","livemode");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_root_status" ON "change_request" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"created","id") WHERE (case when "change_request"."on_root_list" then "change_request"."status" end) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_context_by_status" ON "change_request" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "change_request"."context_id" <> "change_request"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "change_request_account_by_status" ON "change_request" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_of_reference" ON "payout" USING btree ("bank_reference","tenant_id","livemode","created","id") WHERE bank_reference is not null;
--> statement-breakpoint
SELECT tg_distribute('change_request');
