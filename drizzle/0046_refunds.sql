-- Refunds, and what a recall or chargeback said beyond what they had left of its deposit. The lines below the indexes are
-- written by hand: the new table is distributed like the others, and the last statement locks the recalls and
-- chargebacks until the commit, so it fails if it has to wait for more than 3 s. The new column rewrites no row.

CREATE TABLE "refund" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"deposit_id" text NOT NULL,
	"checkout_id" text,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"failure_reason" text,
	"bank_reference" text,
	"payment_id" text NOT NULL,
	"from_pending" bigint NOT NULL,
	"debited_account_id" text NOT NULL,
	"freed_locks" jsonb,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"updated_at" bigint,
	CONSTRAINT "refund_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "refund_of_payment" UNIQUE("tenant_id","livemode","payment_id"),
	CONSTRAINT "refund_status" CHECK ("refund"."status" in ('pending', 'succeeded', 'failed')),
	CONSTRAINT "refund_amount" CHECK ("refund"."amount" > 0 and "refund"."from_pending" between 0 and "refund"."amount")
);
--> statement-breakpoint
CREATE INDEX "refund_in_context" ON "refund" USING btree ("tenant_id","livemode","context_id","created","id") WHERE "refund"."context_id" <> "refund"."account_id";--> statement-breakpoint
CREATE INDEX "refund_root" ON "refund" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "refund_of_account" ON "refund" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "refund_of_deposit" ON "refund" USING btree ("tenant_id","livemode","deposit_id","created","id");--> statement-breakpoint
CREATE INDEX "refund_of_checkout" ON "refund" USING btree ("tenant_id","livemode","checkout_id","created","id") WHERE checkout_id is not null;--> statement-breakpoint
CREATE INDEX "refund_by_id" ON "refund" USING btree ("id");--> statement-breakpoint
CREATE INDEX "refund_queue" ON "refund" USING btree ("status","created","id","livemode");--> statement-breakpoint
CREATE INDEX "refund_root_status" ON "refund" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"created","id") WHERE (case when "refund"."on_root_list" then "refund"."status" end) is not null;--> statement-breakpoint
CREATE INDEX "refund_context_by_status" ON "refund" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "refund"."context_id" <> "refund"."account_id";--> statement-breakpoint
CREATE INDEX "refund_account_by_status" ON "refund" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
SELECT tg_distribute('refund');--> statement-breakpoint
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "clawback" ADD COLUMN "beyond" bigint;
