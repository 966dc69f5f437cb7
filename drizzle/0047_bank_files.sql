-- Files of banks with their lines and balances, and how CSV files are read. These tables are about the whole deployment
-- and have no tenant, so they are not distributed: on Citus they stay local tables of the coordinator. The two indexes
-- by which a line finds its address make writes to addresses wait while they are built, and fail if they have to wait
-- for more than 3 s. Where that is not acceptable, build them beforehand by the same statements with CONCURRENTLY: an
-- index that exists is not built again.

CREATE TABLE "bank_file" (
	"id" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"created_by" text NOT NULL,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"format" text NOT NULL,
	"lines" integer NOT NULL,
	"stored_at" bigint
);
--> statement-breakpoint
CREATE TABLE "bank_line" (
	"file_id" text NOT NULL,
	"number" integer NOT NULL,
	"line" integer NOT NULL,
	"statement" integer,
	"account" text,
	"payee" text,
	"direction" text NOT NULL,
	"is_reversal" boolean NOT NULL,
	"is_unclear" boolean NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"day" text NOT NULL,
	"reference" text,
	"details" jsonb NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"note" text,
	"tenant" text,
	"address_id" text,
	"given_reference" text,
	"original_reference" text,
	"allow_currency" boolean DEFAULT false NOT NULL,
	"deposit_id" text,
	"decided_by" text,
	"decided_at" bigint,
	CONSTRAINT "bank_line_pkey" PRIMARY KEY("file_id","number"),
	CONSTRAINT "bank_line_direction" CHECK ("bank_line"."direction" in ('credit', 'debit')),
	CONSTRAINT "bank_line_state" CHECK ("bank_line"."state" in ('matched', 'booked', 'seen_before', 'unmatched', 'returned')),
	CONSTRAINT "bank_line_reason" CHECK ("bank_line"."reason" in ('unknown_account', 'several_addresses', 'other_currency', 'no_reference', 'repeated', 'unclear', 'reversal', 'outgoing', 'refused')),
	CONSTRAINT "bank_line_unmatched" CHECK (("bank_line"."state" = 'unmatched') = ("bank_line"."reason" is not null)),
	CONSTRAINT "bank_line_booked" CHECK ("bank_line"."state" <> 'booked' or ("bank_line"."address_id" is not null and "bank_line"."deposit_id" is not null)),
	CONSTRAINT "bank_line_amount" CHECK ("bank_line"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "bank_mapping" (
	"name" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"created_by" text NOT NULL,
	"mapping" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bank_statement" (
	"file_id" text NOT NULL,
	"number" integer NOT NULL,
	"account" text,
	"currency" text,
	"day" text,
	"opening" bigint,
	"closing" bigint,
	"not_booked" integer NOT NULL,
	CONSTRAINT "bank_statement_pkey" PRIMARY KEY("file_id","number")
);
--> statement-breakpoint
ALTER TABLE "bank_line" ADD CONSTRAINT "bank_line_file" FOREIGN KEY ("file_id") REFERENCES "public"."bank_file"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bank_statement" ADD CONSTRAINT "bank_statement_file" FOREIGN KEY ("file_id") REFERENCES "public"."bank_file"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "bank_file_sha256" ON "bank_file" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "bank_file_age" ON "bank_file" USING btree ("created","id");--> statement-breakpoint
CREATE INDEX "bank_line_reference" ON "bank_line" USING btree ("reference","amount","day");--> statement-breakpoint
CREATE INDEX "bank_line_day" ON "bank_line" USING btree ("day","account","currency","file_id","number");--> statement-breakpoint
CREATE INDEX "bank_line_state" ON "bank_line" USING btree ("file_id","state","number");--> statement-breakpoint
CREATE INDEX "bank_line_unmatched" ON "bank_line" USING btree ("day","file_id","number") WHERE state = 'unmatched';--> statement-breakpoint
CREATE INDEX "bank_statement_day" ON "bank_statement" USING btree ("day","account","currency","file_id","number") WHERE closing is not null;--> statement-breakpoint
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_of_bank_iban" ON "address" USING btree (upper(translate("bank_account" ->> 'iban', ' -', ''))) WHERE livemode and category in ('service_receive', 'service_fee_advance');--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_of_bank_number" ON "address" USING btree (upper(translate("bank_account" ->> 'number', ' -', ''))) WHERE livemode and category in ('service_receive', 'service_fee_advance');