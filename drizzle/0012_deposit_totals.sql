-- Totals of deposits by hour and day, so that the cost of a chart does not grow with the deposits. A row of
-- deposit_total_change is written by each call that completes, disputes or reverses a deposit from now on, and a job of
-- each root account and mode adds the deposits that exist.

CREATE TABLE "deposit_total" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"account_id" text NOT NULL,
	"of_others" boolean NOT NULL,
	"seconds" integer NOT NULL,
	"start" bigint NOT NULL,
	"payment_method" text NOT NULL,
	"currency" text NOT NULL,
	"count" bigint NOT NULL,
	"amount" numeric NOT NULL,
	CONSTRAINT "deposit_total_pkey" PRIMARY KEY("tenant_id","livemode","account_id","of_others","seconds","start","payment_method","currency"),
	CONSTRAINT "deposit_total_span" CHECK ("deposit_total"."seconds" in (3600, 86400) and "deposit_total"."start" % "deposit_total"."seconds" = 0)
);
--> statement-breakpoint
CREATE TABLE "deposit_total_backfill" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"up_to" text NOT NULL,
	"not_before" bigint NOT NULL,
	CONSTRAINT "deposit_total_backfill_pkey" PRIMARY KEY("tenant_id","livemode")
);
--> statement-breakpoint
CREATE TABLE "deposit_total_change" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"to_account_id" text NOT NULL,
	"deposit_id" text NOT NULL,
	"count" integer NOT NULL,
	"created" bigint NOT NULL,
	"context_id" text NOT NULL,
	"payment_method" text NOT NULL,
	"currency" text NOT NULL,
	"amount" bigint NOT NULL,
	CONSTRAINT "deposit_total_change_pkey" PRIMARY KEY("tenant_id","livemode","to_account_id","deposit_id","count")
);
--> statement-breakpoint
-- Written by hand: the new tables are distributed like the others. The rows of the totals change often; the room that
-- is left in their pages lets PostgreSQL change a row without a new entry in the index.
SELECT tg_distribute('deposit_total');--> statement-breakpoint
SELECT tg_distribute('deposit_total_backfill');--> statement-breakpoint
SELECT tg_distribute('deposit_total_change');--> statement-breakpoint
ALTER TABLE "deposit_total" SET (fillfactor = 70);--> statement-breakpoint
-- A call that has begun before this migration ends in the old function and writes no change. It ends within seconds,
-- and the jobs begin a minute later, so they find what it wrote.
INSERT INTO "deposit_total_backfill" ("tenant_id", "livemode", "up_to", "not_before")
SELECT a.tenant_id, a.livemode, '', date_part('epoch', clock_timestamp())::bigint + 60
FROM "account" a
WHERE a.kind IN ('platform', 'direct_user');--> statement-breakpoint
INSERT INTO "job" ("tenant_id", "livemode", "id", "created", "kind", "subject_id", "args", "due")
SELECT b.tenant_id, b.livemode, 'job_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 14, '0') || left(replace(gen_random_uuid()::text, '-', ''), 18), b.not_before, 'backfill_deposit_totals', 'account_' || b.tenant_id, '{}', b.not_before
FROM "deposit_total_backfill" b;--> statement-breakpoint
-- The next statements lock the table for readers and writers until the commit, and fail after waiting for 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "worker_fault" DROP CONSTRAINT "worker_fault_work";--> statement-breakpoint
ALTER TABLE "worker_fault" ADD CONSTRAINT "worker_fault_work" CHECK ("worker_fault"."work" in ('run_jobs', 'poll_statuses', 'number_events', 'seal_postings', 'sum_deposits', 'delete_old_answers', 'delete_old_events'));