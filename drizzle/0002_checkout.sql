-- Checkouts: payment sessions that a partner opens in a browser, the attempts to pay them, and the receivables that they are against.
-- Work is found by what it is about, too: every checkout that can be paid has some.

CREATE TABLE "checkout" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"amount" bigint NOT NULL,
	"gross_amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"from_account_id" text NOT NULL,
	"to_account_id" text NOT NULL,
	"to_address_id" text NOT NULL,
	"payment_methods" text[] NOT NULL,
	"receivable_ids" text[] NOT NULL,
	"redirect_url" text NOT NULL,
	"status" text NOT NULL,
	"effective_transaction_id" text,
	"effective_transaction_status" text,
	"deposit_id" text,
	"metadata" jsonb,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "checkout_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "checkout_status" CHECK ("checkout"."status" in ('initialized', 'completed', 'expired', 'cancelled')),
	CONSTRAINT "checkout_amount" CHECK ("checkout"."amount" > 0 and "checkout"."gross_amount" >= "checkout"."amount"),
	CONSTRAINT "checkout_paid" CHECK (("checkout"."deposit_id" is not null) = ("checkout"."effective_transaction_status" is not distinct from 'succeeded'))
);
--> statement-breakpoint
CREATE TABLE "checkout_receivable" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"checkout_id" text NOT NULL,
	"receivable_id" text NOT NULL,
	"position" integer NOT NULL,
	CONSTRAINT "checkout_receivable_pkey" PRIMARY KEY("tenant_id","livemode","id")
);
--> statement-breakpoint
CREATE TABLE "transaction" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"checkout_id" text NOT NULL,
	"attempt_key" text NOT NULL,
	"expires_at" bigint NOT NULL,
	"payment_method" text NOT NULL,
	"payment_method_details" jsonb,
	"amount" bigint NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"reason_code" text,
	"payment_id" text,
	"deposit_id" text,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "transaction_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "transaction_attempt" UNIQUE("tenant_id","livemode","checkout_id","attempt_key"),
	CONSTRAINT "transaction_status" CHECK ("transaction"."status" in ('processing', 'succeeded', 'failed')),
	CONSTRAINT "transaction_reason" CHECK (("transaction"."reason_code" is not null) = ("transaction"."status" = 'failed'))
);
--> statement-breakpoint
ALTER TABLE "checkout" ADD CONSTRAINT "checkout_from_account" FOREIGN KEY ("tenant_id","livemode","from_account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checkout" ADD CONSTRAINT "checkout_to_account" FOREIGN KEY ("tenant_id","livemode","to_account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checkout_receivable" ADD CONSTRAINT "checkout_receivable_checkout" FOREIGN KEY ("tenant_id","livemode","checkout_id") REFERENCES "public"."checkout"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checkout_receivable" ADD CONSTRAINT "checkout_receivable_receivable" FOREIGN KEY ("tenant_id","livemode","receivable_id") REFERENCES "public"."receivable"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "checkout_context" ON "checkout" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "checkout_root" ON "checkout" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "checkout_to" ON "checkout" USING btree ("tenant_id","livemode","to_account_id","created","id");--> statement-breakpoint
CREATE INDEX "checkout_from" ON "checkout" USING btree ("tenant_id","livemode","from_account_id","created","id");--> statement-breakpoint
CREATE INDEX "checkout_of_receivable" ON "checkout_receivable" USING btree ("tenant_id","livemode","receivable_id","created","id");--> statement-breakpoint
CREATE INDEX "transaction_context" ON "transaction" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "transaction_of_checkout" ON "transaction" USING btree ("tenant_id","livemode","checkout_id","created","id");--> statement-breakpoint
CREATE INDEX "job_of_subject" ON "job" USING btree ("tenant_id","livemode","subject_id");--> statement-breakpoint
SELECT tg_distribute('checkout');--> statement-breakpoint
SELECT tg_distribute('checkout_receivable');--> statement-breakpoint
SELECT tg_distribute('transaction');
