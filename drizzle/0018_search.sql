-- Search: the entries by which lists find objects, written by each call that creates or changes an object from now on. A
-- job of each root account and mode adds the entries of the objects that exist. Nothing that exists is changed.

CREATE TABLE "search_backfill" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"up_to" text NOT NULL,
	"not_before" bigint NOT NULL,
	CONSTRAINT "search_backfill_pkey" PRIMARY KEY("tenant_id","livemode")
);
--> statement-breakpoint
CREATE TABLE "search_entry" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"list" bigint NOT NULL,
	"root_list" bigint,
	"start" text COLLATE "C" NOT NULL,
	"age" bigint NOT NULL,
	"id" text NOT NULL,
	CONSTRAINT "search_entry_pkey" PRIMARY KEY("tenant_id","livemode","list","start","age","id")
);
--> statement-breakpoint
CREATE INDEX "search_entry_root" ON "search_entry" USING btree ("tenant_id","livemode","root_list","start","age","id") WHERE root_list is not null;--> statement-breakpoint
-- Written by hand: the new tables are distributed like the others.
SELECT tg_distribute('search_backfill');--> statement-breakpoint
SELECT tg_distribute('search_entry');--> statement-breakpoint
-- A call that has begun before this migration ends in the old function and writes no entries. It ends within seconds,
-- and the jobs begin a minute later, so they find what it wrote.
INSERT INTO "search_backfill" ("tenant_id", "livemode", "up_to", "not_before")
SELECT a.tenant_id, a.livemode, '', date_part('epoch', clock_timestamp())::bigint + 60
FROM "account" a
WHERE a.kind IN ('platform', 'direct_user');--> statement-breakpoint
INSERT INTO "job" ("tenant_id", "livemode", "id", "created", "kind", "subject_id", "args", "due")
SELECT b.tenant_id, b.livemode, 'job_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 14, '0') || left(replace(gen_random_uuid()::text, '-', ''), 18), b.not_before, 'backfill_search', 'account_' || b.tenant_id, '{}', b.not_before
FROM "search_backfill" b;
