-- Corrections of available money that two operators make. The line at the end is written by hand: the new table is
-- distributed like the others, and no other table is touched.

CREATE TABLE "adjustment" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"credit_amount" bigint,
	"credit_currency" text,
	"debit_amount" bigint,
	"debit_currency" text,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"proposed_by" text NOT NULL,
	"proposed_by_id" text,
	"decided_by" text,
	"decided_by_id" text,
	"decided_at" bigint,
	"payment_id" text,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "adjustment_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "adjustment_status" CHECK ("adjustment"."status" in ('proposed', 'approved', 'rejected')),
	CONSTRAINT "adjustment_amount" CHECK ("adjustment"."credit_amount" > 0 and "adjustment"."debit_amount" > 0),
	CONSTRAINT "adjustment_sides" CHECK (("adjustment"."credit_amount" is null) = ("adjustment"."credit_currency" is null)
        and ("adjustment"."debit_amount" is null) = ("adjustment"."debit_currency" is null)
        and "adjustment"."credit_currency" is distinct from "adjustment"."debit_currency"),
	CONSTRAINT "adjustment_decision" CHECK (("adjustment"."status" = 'proposed') = ("adjustment"."decided_by" is null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "adjustment_of_payment" ON "adjustment" USING btree ("tenant_id","livemode","payment_id");--> statement-breakpoint
CREATE INDEX "adjustment_by_id" ON "adjustment" USING btree ("id");--> statement-breakpoint
CREATE INDEX "adjustment_queue" ON "adjustment" USING btree ("status","created","id","livemode");--> statement-breakpoint
SELECT tg_distribute('adjustment');
