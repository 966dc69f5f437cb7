-- Stores webhook endpoints and the deliveries of events to them.

CREATE TABLE "webhook_delivery" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"endpoint_id" text NOT NULL,
	"event_id" text NOT NULL,
	"event_type" text NOT NULL,
	"event_number" bigint,
	"status" text NOT NULL,
	"queued" bigint NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"next_attempt" bigint,
	"attempts" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "webhook_delivery_once" UNIQUE("tenant_id","livemode","event_id","endpoint_id"),
	CONSTRAINT "webhook_delivery_status" CHECK ("webhook_delivery"."status" in ('pending', 'succeeded', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoint" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"url" text NOT NULL,
	"event_types" text[] NOT NULL,
	"description" text,
	"connected" boolean NOT NULL,
	"enabled" boolean NOT NULL,
	"disabled_reason" text,
	"secret_sealed" text NOT NULL,
	"previous_secret_sealed" text,
	"previous_secret_until" bigint,
	"failing_since" bigint,
	"due" bigint,
	"claimed_until" bigint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "webhook_endpoint_reason" CHECK ("webhook_endpoint"."disabled_reason" in ('by_request', 'failing', 'gone'))
);
--> statement-breakpoint
-- Written by hand: the new tables are distributed like the others.
SELECT tg_distribute('webhook_endpoint');--> statement-breakpoint
SELECT tg_distribute('webhook_delivery');--> statement-breakpoint
-- Also written by hand. The next statements lock tables for readers and writers until the commit, and fail if they have
-- to wait for more than 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "worker_fault" DROP CONSTRAINT "worker_fault_work";--> statement-breakpoint
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint" FOREIGN KEY ("tenant_id","livemode","endpoint_id") REFERENCES "public"."webhook_endpoint"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_delivery_in_context" ON "webhook_delivery" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_root" ON "webhook_delivery" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_of_endpoint" ON "webhook_delivery" USING btree ("tenant_id","livemode","endpoint_id","created","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_pending" ON "webhook_delivery" USING btree ("tenant_id","livemode","endpoint_id","next_attempt","event_number") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_delivery_of_endpoint_in_context" ON "webhook_delivery" USING btree ("tenant_id","livemode","context_id","endpoint_id","created","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_age" ON "webhook_delivery" USING btree ("tenant_id","livemode","created","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoint_in_context" ON "webhook_endpoint" USING btree ("tenant_id","livemode","context_id","created","id") WHERE "webhook_endpoint"."context_id" <> "webhook_endpoint"."account_id";--> statement-breakpoint
CREATE INDEX "webhook_endpoint_root" ON "webhook_endpoint" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoint_of_account" ON "webhook_endpoint" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoint_due" ON "webhook_endpoint" USING btree ("due","tenant_id","livemode","id") WHERE enabled and due is not null;--> statement-breakpoint
CREATE INDEX "webhook_endpoint_root_enabled" ON "webhook_endpoint" USING btree ("tenant_id","livemode",(case when "on_root_list" then "enabled"::text end),"created","id") WHERE (case when "webhook_endpoint"."on_root_list" then "webhook_endpoint"."enabled"::text end) is not null;--> statement-breakpoint
CREATE INDEX "webhook_endpoint_context_by_enabled" ON "webhook_endpoint" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "enabled"::text), 0),"created","id") WHERE "webhook_endpoint"."context_id" <> "webhook_endpoint"."account_id";--> statement-breakpoint
CREATE INDEX "webhook_endpoint_account_by_enabled" ON "webhook_endpoint" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "enabled"::text), 0),"created","id");--> statement-breakpoint
ALTER TABLE "worker_fault" ADD CONSTRAINT "worker_fault_work" CHECK ("worker_fault"."work" in ('run_jobs', 'poll_statuses', 'number_events', 'seal_postings', 'sum_deposits', 'delete_old_answers', 'delete_old_events', 'delete_old_deliveries'));