-- Stores the request log of accounts, without anything that the requests contained.

CREATE TABLE "request_log" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"api" text NOT NULL,
	"operation" text NOT NULL,
	"status" integer NOT NULL,
	"outcome" text NOT NULL,
	"codes" text[] NOT NULL,
	"milliseconds" integer NOT NULL,
	"api_key_id" text,
	"session_id" text,
	"on_behalf_of" text,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "request_log_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "request_log_api" CHECK ("request_log"."api" in ('graphql', 'rest')),
	CONSTRAINT "request_log_outcome" CHECK ("request_log"."outcome" in ('succeeded', 'refused', 'failed'))
);
--> statement-breakpoint
-- Written by hand: the new table is distributed like the others.
SELECT tg_distribute('request_log');--> statement-breakpoint
-- Also written by hand. The next statements lock a table for readers and writers until the commit, and fail if they have
-- to wait for more than 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "worker_fault" DROP CONSTRAINT "worker_fault_work";--> statement-breakpoint
CREATE INDEX "request_log_in_context" ON "request_log" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "request_log_root" ON "request_log" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "request_log_root_outcome" ON "request_log" USING btree ("tenant_id","livemode",(case when "on_root_list" then "outcome" end),"created","id") WHERE (case when "request_log"."on_root_list" then "request_log"."outcome" end) is not null;--> statement-breakpoint
CREATE INDEX "request_log_context_by_outcome" ON "request_log" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "outcome"), 0),"created","id");--> statement-breakpoint
CREATE INDEX "request_log_root_operation" ON "request_log" USING btree ("tenant_id","livemode",(case when "on_root_list" then "operation" end),"created","id") WHERE (case when "request_log"."on_root_list" then "request_log"."operation" end) is not null;--> statement-breakpoint
CREATE INDEX "request_log_context_by_operation" ON "request_log" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "operation"), 0),"created","id");--> statement-breakpoint
ALTER TABLE "worker_fault" ADD CONSTRAINT "worker_fault_work" CHECK ("worker_fault"."work" in ('run_jobs', 'poll_statuses', 'number_events', 'seal_postings', 'sum_deposits', 'delete_old_answers', 'delete_old_events', 'delete_old_deliveries', 'delete_old_requests'));