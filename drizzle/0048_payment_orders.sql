-- Payment orders and the accounts of the operator that they are paid from. These tables are about the whole deployment
-- and have no tenant, so they are not distributed: on Citus they stay local tables of the coordinator. The new columns
-- rewrite no row. The two indexes of payouts make writes to payouts wait while they are built, and fail if they have to
-- wait for more than 3 s. Where that is not acceptable, build them beforehand by the same statements with CONCURRENTLY,
-- behind the new column: what exists is not made again.

CREATE TABLE "own_account" (
	"id" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"created_by" text NOT NULL,
	"holder" text NOT NULL,
	"currency" text NOT NULL,
	"iban" text,
	"number" text,
	"bic" text,
	"ifsc" text,
	"closed_at" bigint,
	CONSTRAINT "own_account_number" CHECK (("own_account"."iban" is null) <> ("own_account"."number" is null))
);
--> statement-breakpoint
CREATE TABLE "payment_order" (
	"id" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"created_by" text NOT NULL,
	"created_by_id" text,
	"own_account_id" text NOT NULL,
	"currency" text NOT NULL,
	"value_date" text NOT NULL,
	"status" text NOT NULL,
	"payouts" integer,
	"total" bigint,
	"decided_by" text,
	"decided_by_id" text,
	"decided_at" bigint,
	"note" text,
	"sent_by" text,
	"sent_by_id" text,
	"sent_at" bigint,
	CONSTRAINT "payment_order_status" CHECK ("payment_order"."status" in ('gathering', 'proposed', 'approved', 'sent', 'rejected')),
	CONSTRAINT "payment_order_counted" CHECK ("payment_order"."status" not in ('proposed', 'approved', 'sent') or "payment_order"."payouts" > 0),
	CONSTRAINT "payment_order_approved" CHECK ("payment_order"."status" not in ('approved', 'sent') or "payment_order"."decided_by_id" is not null)
);
--> statement-breakpoint
ALTER TABLE "bank_line" DROP CONSTRAINT "bank_line_booked";--> statement-breakpoint
ALTER TABLE "bank_line" ADD COLUMN "payout_id" text;--> statement-breakpoint
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "payout" ADD COLUMN IF NOT EXISTS "order_id" text;--> statement-breakpoint
ALTER TABLE "payment_order" ADD CONSTRAINT "payment_order_account" FOREIGN KEY ("own_account_id") REFERENCES "public"."own_account"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "own_account_in_use" ON "own_account" USING btree (coalesce(iban, number),"currency") WHERE closed_at is null;--> statement-breakpoint
CREATE INDEX "payment_order_age" ON "payment_order" USING btree ("status","created","id");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_order_gathering" ON "payment_order" USING btree ("own_account_id") WHERE status = 'gathering';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_to_order" ON "payout" USING btree ("currency","created","id") WHERE livemode and status = 'processing' and order_id is null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_of_order" ON "payout" USING btree ("order_id","tenant_id","id") WHERE order_id is not null;--> statement-breakpoint
ALTER TABLE "bank_line" ADD CONSTRAINT "bank_line_booked" CHECK ("bank_line"."state" <> 'booked' or ("bank_line"."address_id" is not null and "bank_line"."deposit_id" is not null)
        or "bank_line"."payout_id" is not null);