-- What an acquirer took with an attempt, and what of it the attempt does not explain. The lines below the indexes are
-- written by hand: the new table is distributed like the others, and the last statements lock the attempts to pay until
-- the commit, so they fail if they have to wait for more than 3 s. The new columns rewrite no row. The index makes
-- payments wait while it is built. Where that is not acceptable, build it beforehand by the same statement with
-- CONCURRENTLY: an index that exists is not built again.

CREATE TABLE "unexplained" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"transaction_id" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"resolution" text,
	"resolved_by" text,
	"resolved_at" bigint,
	CONSTRAINT "unexplained_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "unexplained_of_transaction" UNIQUE("tenant_id","livemode","transaction_id"),
	CONSTRAINT "unexplained_status" CHECK ("unexplained"."status" in ('open', 'resolved')),
	CONSTRAINT "unexplained_reason" CHECK ("unexplained"."reason" in ('beyond_attempt', 'other_currency')),
	CONSTRAINT "unexplained_amount" CHECK ("unexplained"."amount" > 0),
	CONSTRAINT "unexplained_resolution" CHECK (num_nonnulls("unexplained"."resolution", "unexplained"."resolved_by", "unexplained"."resolved_at")
        = case when "unexplained"."status" = 'resolved' then 3 else 0 end)
);
--> statement-breakpoint
CREATE INDEX "unexplained_by_id" ON "unexplained" USING btree ("id");--> statement-breakpoint
CREATE INDEX "unexplained_queue" ON "unexplained" USING btree ("status","created","id","livemode");--> statement-breakpoint
SELECT tg_distribute('unexplained');--> statement-breakpoint
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "transaction" ADD COLUMN "taken_amount" bigint;--> statement-breakpoint
ALTER TABLE "transaction" ADD COLUMN "taken_currency" text;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "transaction_by_id" ON "transaction" USING btree ("id");
