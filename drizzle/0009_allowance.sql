-- The allowance of each root account and mode, from which gateways take leases. Nothing that exists is changed.

CREATE TABLE "allowance" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"full_at" bigint NOT NULL,
	CONSTRAINT "allowance_pkey" PRIMARY KEY("tenant_id","livemode")
);--> statement-breakpoint
-- Written by hand: the new table is distributed like the others. Its rows are changed every few seconds; the room that
-- is left in its pages lets PostgreSQL change a row without a new entry in the index.
SELECT tg_distribute('allowance');--> statement-breakpoint
ALTER TABLE "allowance" SET (fillfactor = 50);
