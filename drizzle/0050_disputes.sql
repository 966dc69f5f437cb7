-- Disputes as objects beside the deposits that take their money. The last line is written by hand: the new table is
-- distributed like the others. No other table is touched.

CREATE TABLE "dispute" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"deposit_id" text NOT NULL,
	"debit_deposit_id" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"reason_code" text NOT NULL,
	"acquirer_reason" text,
	"respond_by" bigint,
	"evidence_text" text,
	"evidence_file_ids" text[] DEFAULT '{}' NOT NULL,
	"submitted_at" bigint,
	"decided_at" bigint,
	"reference" text,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"updated_at" bigint,
	CONSTRAINT "dispute_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "dispute_of_debit" UNIQUE("tenant_id","livemode","debit_deposit_id"),
	CONSTRAINT "dispute_status" CHECK ("dispute"."status" in ('needs_response', 'under_review', 'won', 'lost', 'accepted'))
);
--> statement-breakpoint
CREATE INDEX "dispute_in_context" ON "dispute" USING btree ("tenant_id","livemode","context_id","created","id") WHERE "dispute"."context_id" <> "dispute"."account_id";--> statement-breakpoint
CREATE INDEX "dispute_root" ON "dispute" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "dispute_of_account" ON "dispute" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "dispute_of_deposit" ON "dispute" USING btree ("tenant_id","livemode","deposit_id","created","id");--> statement-breakpoint
CREATE INDEX "dispute_by_id" ON "dispute" USING btree ("id");--> statement-breakpoint
CREATE INDEX "dispute_queue" ON "dispute" USING btree ("status","created","id","livemode");--> statement-breakpoint
CREATE INDEX "dispute_root_status" ON "dispute" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"created","id") WHERE (case when "dispute"."on_root_list" then "dispute"."status" end) is not null;--> statement-breakpoint
CREATE INDEX "dispute_context_by_status" ON "dispute" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "dispute"."context_id" <> "dispute"."account_id";--> statement-breakpoint
CREATE INDEX "dispute_account_by_status" ON "dispute" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
SELECT tg_distribute('dispute');
