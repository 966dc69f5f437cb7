-- Money: the double-entry ledger and what moves it. Postings and their entries are append-only by privilege; nothing
-- references them by foreign key, since the key check would need the privilege that is revoked.

CREATE TABLE "test_clock" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"offset_seconds" bigint NOT NULL,
	"now" bigint NOT NULL,
	CONSTRAINT "test_clock_pkey" PRIMARY KEY("tenant_id","livemode")
);
--> statement-breakpoint
CREATE TABLE "bank_notice" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"reference" text NOT NULL,
	"event" text NOT NULL,
	"created" bigint NOT NULL,
	"deposit_id" text,
	"content" jsonb NOT NULL,
	CONSTRAINT "bank_notice_pkey" PRIMARY KEY("tenant_id","livemode","reference","event"),
	CONSTRAINT "bank_notice_event" CHECK ("bank_notice"."event" in ('received', 'reversed'))
);
--> statement-breakpoint
CREATE TABLE "deposit" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"from_account_id" text,
	"from_address_id" text,
	"to_account_id" text NOT NULL,
	"to_address_id" text,
	"payment_method" text NOT NULL,
	"payment_method_details" jsonb,
	"reason_code" text,
	"statement_descriptor" text NOT NULL,
	"status" text NOT NULL,
	"metadata" jsonb,
	"payment_id" text NOT NULL,
	"disputes_id" text,
	"pending_rest" bigint DEFAULT 0 NOT NULL,
	"disputed" bigint DEFAULT 0 NOT NULL,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "deposit_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "deposit_status" CHECK ("deposit"."status" in ('initialized', 'processing', 'completed', 'cancelled', 'failed', 'reversed')),
	CONSTRAINT "deposit_rest" CHECK ("deposit"."pending_rest" >= 0 and "deposit"."disputed" >= 0 and ("deposit"."amount" < 0 or "deposit"."pending_rest" + "deposit"."disputed" <= "deposit"."amount"))
);
--> statement-breakpoint
CREATE TABLE "event_counter" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"last" bigint NOT NULL,
	CONSTRAINT "event_counter_pkey" PRIMARY KEY("tenant_id","livemode")
);
--> statement-breakpoint
CREATE TABLE "balance" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"account_id" text NOT NULL,
	"currency" text NOT NULL,
	"available" bigint DEFAULT 0 NOT NULL,
	"fee_advance" bigint DEFAULT 0 NOT NULL,
	"payout_processing" bigint DEFAULT 0 NOT NULL,
	"pending" bigint DEFAULT 0 NOT NULL,
	"processing" bigint DEFAULT 0 NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"owner_id" text,
	"of_partner" boolean NOT NULL,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "balance_pkey" PRIMARY KEY("tenant_id","livemode","account_id","currency"),
	CONSTRAINT "balance_not_negative" CHECK ("balance"."pending" >= 0 and "balance"."processing" >= 0 and "balance"."payout_processing" >= 0 and "balance"."fee_advance" >= 0)
);
--> statement-breakpoint
CREATE TABLE "contra_entry" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"posting_id" text NOT NULL,
	"contra" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	CONSTRAINT "contra_entry_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "contra_entry_amount" CHECK ("contra_entry"."amount" <> 0)
);
--> statement-breakpoint
CREATE TABLE "entry" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"posting_id" text NOT NULL,
	"account_id" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"category" text NOT NULL,
	"payment_id" text NOT NULL,
	"balance_after" bigint NOT NULL,
	"version" bigint NOT NULL,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "entry_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "entry_version" UNIQUE("tenant_id","livemode","account_id","currency","version"),
	CONSTRAINT "entry_amount" CHECK ("entry"."amount" <> 0)
);
--> statement-breakpoint
CREATE TABLE "posting" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"kind" text NOT NULL,
	"cause" text NOT NULL,
	"payment_id" text NOT NULL,
	CONSTRAINT "posting_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "posting_cause" UNIQUE("tenant_id","livemode","kind","cause")
);
--> statement-breakpoint
CREATE TABLE "posting_seal" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"posting_id" text NOT NULL,
	"block" bigint NOT NULL,
	CONSTRAINT "posting_seal_pkey" PRIMARY KEY("tenant_id","livemode","posting_id")
);
--> statement-breakpoint
CREATE TABLE "seal_block" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"number" bigint NOT NULL,
	"created" bigint NOT NULL,
	"postings" bigint NOT NULL,
	"previous" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "seal_block_pkey" PRIMARY KEY("tenant_id","livemode","number")
);
--> statement-breakpoint
CREATE TABLE "unsealed" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"posting_id" text NOT NULL,
	CONSTRAINT "unsealed_pkey" PRIMARY KEY("tenant_id","livemode","posting_id")
);
--> statement-breakpoint
CREATE TABLE "payment" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"type" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"deposit_id" text,
	"checkout_id" text,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "payment_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "payment_type" CHECK ("payment"."type" in ('deposit', 'checkout', 'payout', 'dispute', 'transfer')),
	CONSTRAINT "payment_status" CHECK ("payment"."status" in ('processing', 'completed', 'cancelled', 'failed', 'reversed'))
);
--> statement-breakpoint
CREATE TABLE "payout" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"address_id" text NOT NULL,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"payment_id" text NOT NULL,
	"source_amount" bigint NOT NULL,
	"source_currency" text NOT NULL,
	"rate" numeric NOT NULL,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "payout_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "payout_status" CHECK ("payout"."status" in ('processing', 'completed', 'failed')),
	CONSTRAINT "payout_amount" CHECK ("payout"."amount" > 0 and "payout"."source_amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "rate" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"source" text NOT NULL,
	"target" text NOT NULL,
	"rate" numeric NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "rate_pkey" PRIMARY KEY("tenant_id","livemode","source","target"),
	CONSTRAINT "rate_positive" CHECK ("rate"."rate" > 0)
);
--> statement-breakpoint
CREATE TABLE "receivable" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"currency" text NOT NULL,
	"amount_maximum_reconcilable" bigint NOT NULL,
	"amount_locked" bigint DEFAULT 0 NOT NULL,
	"amount_settled_payouts" bigint DEFAULT 0 NOT NULL,
	"amount_reconcilable" bigint GENERATED ALWAYS AS (case when voided then 0 else amount_maximum_reconcilable - amount_locked - amount_settled_payouts end) STORED NOT NULL,
	"deposit_ids_amount_locked" text[] DEFAULT '{}' NOT NULL,
	"description" text,
	"invoice" jsonb NOT NULL,
	"purpose_code" text NOT NULL,
	"transaction_type" text NOT NULL,
	"voided" boolean DEFAULT false NOT NULL,
	"status" text GENERATED ALWAYS AS (case when voided then 'void' when amount_settled_payouts = amount_maximum_reconcilable then 'settled' when amount_locked + amount_settled_payouts = amount_maximum_reconcilable then 'locked' else 'open' end) STORED NOT NULL,
	"system_message" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"metadata" jsonb,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "receivable_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "receivable_amounts" CHECK ("receivable"."amount_locked" >= 0 and "receivable"."amount_settled_payouts" >= 0 and "receivable"."amount_maximum_reconcilable" > 0 and "receivable"."amount_locked" + "receivable"."amount_settled_payouts" <= "receivable"."amount_maximum_reconcilable")
);
--> statement-breakpoint
CREATE TABLE "receivable_lock" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"receivable_id" text NOT NULL,
	"deposit_id" text NOT NULL,
	"account_id" text NOT NULL,
	"currency" text NOT NULL,
	"amount" bigint NOT NULL,
	"payout_id" text,
	"settled" boolean DEFAULT false NOT NULL,
	CONSTRAINT "receivable_lock_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "receivable_lock_amount" CHECK ("receivable_lock"."amount" >= 0)
);
--> statement-breakpoint
ALTER TABLE "idempotency" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "deposit" ADD CONSTRAINT "deposit_to_account" FOREIGN KEY ("tenant_id","livemode","to_account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deposit" ADD CONSTRAINT "deposit_from_account" FOREIGN KEY ("tenant_id","livemode","from_account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "balance" ADD CONSTRAINT "balance_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payout" ADD CONSTRAINT "payout_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "receivable" ADD CONSTRAINT "receivable_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "receivable_lock" ADD CONSTRAINT "receivable_lock_receivable" FOREIGN KEY ("tenant_id","livemode","receivable_id") REFERENCES "public"."receivable"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deposit_context" ON "deposit" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "deposit_root" ON "deposit" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "deposit_to" ON "deposit" USING btree ("tenant_id","livemode","to_account_id","created","id");--> statement-breakpoint
CREATE INDEX "deposit_from" ON "deposit" USING btree ("tenant_id","livemode","from_account_id","created","id");--> statement-breakpoint
CREATE INDEX "balance_of_partners" ON "balance" USING btree ("tenant_id","livemode","context_id","currency") WHERE of_partner;--> statement-breakpoint
CREATE INDEX "contra_entry_of_posting" ON "contra_entry" USING btree ("tenant_id","livemode","posting_id");--> statement-breakpoint
CREATE INDEX "entry_of_account" ON "entry" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "entry_of_payment" ON "entry" USING btree ("tenant_id","livemode","payment_id","created","id");--> statement-breakpoint
CREATE INDEX "entry_of_posting" ON "entry" USING btree ("tenant_id","livemode","posting_id");--> statement-breakpoint
CREATE INDEX "posting_seal_of_block" ON "posting_seal" USING btree ("tenant_id","livemode","block","posting_id");--> statement-breakpoint
CREATE INDEX "payment_context" ON "payment" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "payment_root" ON "payment" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "payment_of_account" ON "payment" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "payout_context" ON "payout" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "payout_root" ON "payout" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "payout_of_account" ON "payout" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "payout_under_way" ON "payout" USING btree ("tenant_id","livemode","address_id") WHERE status = 'processing';--> statement-breakpoint
CREATE INDEX "receivable_context" ON "receivable" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "receivable_root" ON "receivable" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "receivable_of_account" ON "receivable" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "receivable_lock_of_receivable" ON "receivable_lock" USING btree ("tenant_id","livemode","receivable_id","id");--> statement-breakpoint
CREATE INDEX "receivable_lock_of_deposit" ON "receivable_lock" USING btree ("tenant_id","livemode","deposit_id","id");--> statement-breakpoint
CREATE INDEX "receivable_lock_of_payout" ON "receivable_lock" USING btree ("tenant_id","livemode","payout_id");--> statement-breakpoint
CREATE INDEX "receivable_lock_unpaid" ON "receivable_lock" USING btree ("tenant_id","livemode","account_id") WHERE payout_id is null and amount > 0;--> statement-breakpoint
CREATE INDEX "event_context" ON "event" USING btree ("tenant_id","livemode","context_id","number","id");--> statement-breakpoint
CREATE INDEX "event_root" ON "event" USING btree ("tenant_id","livemode","on_root_list","number","id");--> statement-breakpoint
SELECT tg_distribute('test_clock');--> statement-breakpoint
SELECT tg_distribute('bank_notice');--> statement-breakpoint
SELECT tg_distribute('deposit');--> statement-breakpoint
SELECT tg_distribute('event_counter');--> statement-breakpoint
SELECT tg_distribute('balance');--> statement-breakpoint
SELECT tg_distribute('contra_entry');--> statement-breakpoint
SELECT tg_distribute('entry');--> statement-breakpoint
SELECT tg_distribute('posting');--> statement-breakpoint
SELECT tg_distribute('posting_seal');--> statement-breakpoint
SELECT tg_distribute('seal_block');--> statement-breakpoint
SELECT tg_distribute('unsealed');--> statement-breakpoint
SELECT tg_distribute('payment');--> statement-breakpoint
SELECT tg_distribute('payout');--> statement-breakpoint
SELECT tg_distribute('rate');--> statement-breakpoint
SELECT tg_distribute('receivable');--> statement-breakpoint
SELECT tg_distribute('receivable_lock');--> statement-breakpoint
REVOKE UPDATE, DELETE, TRUNCATE ON "posting", "entry", "contra_entry", "seal_block", "posting_seal" FROM CURRENT_USER;
