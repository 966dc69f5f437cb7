-- Reads as of a time follow the order of entries, which is their version, also after a step back of the clock.

CREATE TABLE "late_entry" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"account_id" text NOT NULL,
	"currency" text NOT NULL,
	"version" bigint NOT NULL,
	"category" text NOT NULL,
	"balance_after" bigint NOT NULL,
	"as_of" bigint NOT NULL,
	CONSTRAINT "late_entry_pkey" PRIMARY KEY("tenant_id","livemode","account_id","currency","version")
);
--> statement-breakpoint
CREATE INDEX "late_entry_by_compartment" ON "late_entry" USING btree ("tenant_id","livemode",hashtext((account_id || ' ' || currency || ' ' || category)),"as_of","version");--> statement-breakpoint
-- Written by hand: the new table is distributed like the others.
SELECT tg_distribute('late_entry');--> statement-breakpoint
-- The entries that exist are read by jobs. A call that has begun before this migration ends in the old function and
-- keeps no time. It ends within seconds, and the jobs begin a minute later.
INSERT INTO "job" ("tenant_id", "livemode", "id", "created", "kind", "subject_id", "args", "due")
SELECT a.tenant_id, a.livemode, 'job_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 14, '0') || left(replace(gen_random_uuid()::text, '-', ''), 18), n.at, 'find_late_entries', a.id, jsonb_build_object('notBefore', n.at), n.at
FROM "account" a, (SELECT date_part('epoch', clock_timestamp())::bigint + 60 AS at) n
WHERE a.kind IN ('platform', 'direct_user');