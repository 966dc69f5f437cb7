-- Stores the work of a tenant that fails, so that the operator sees it, and when a failing job failed first.

CREATE TABLE "worker_fault" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"work" text NOT NULL,
	"error" text NOT NULL,
	"since" bigint NOT NULL,
	"attempts" integer NOT NULL,
	"next_attempt" bigint NOT NULL,
	CONSTRAINT "worker_fault_pkey" PRIMARY KEY("tenant_id","livemode","work"),
	CONSTRAINT "worker_fault_work" CHECK ("worker_fault"."work" in ('run_jobs', 'poll_statuses', 'number_events', 'seal_postings', 'delete_old_answers', 'delete_old_events'))
);
--> statement-breakpoint
-- Written by hand: the new table is distributed like the others.
SELECT tg_distribute('worker_fault');--> statement-breakpoint
-- Also written by hand. The next statement locks the table for readers and writers until the commit, and fails if it
-- has to wait for more than 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "job" ADD COLUMN "failing_since" bigint;