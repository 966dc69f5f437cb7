-- What takes money of a deposit back in live mode under a reference of its own, and what a bank says of a transfer. The
-- lines below the tables are written by hand: the new table is distributed like the others, and the last statement
-- locks the deposits until the commit, so it fails if it has to wait for more than 3 s. The new column rewrites no row.

CREATE TABLE "clawback" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"kind" text NOT NULL,
	"reference" text NOT NULL,
	"created" bigint NOT NULL,
	"disputes_id" text NOT NULL,
	"deposit_id" text NOT NULL,
	"amount" bigint NOT NULL,
	"reason_code" text NOT NULL,
	CONSTRAINT "clawback_pkey" PRIMARY KEY("tenant_id","livemode","kind","reference"),
	CONSTRAINT "clawback_kind" CHECK ("clawback"."kind" in ('recall', 'chargeback')),
	CONSTRAINT "clawback_amount" CHECK ("clawback"."amount" > 0)
);
--> statement-breakpoint
SELECT tg_distribute('clawback');--> statement-breakpoint
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "deposit" ADD COLUMN "bank_details" jsonb;
