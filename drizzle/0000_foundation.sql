-- The foundation: accounts with their settings, persons, files, addresses and keys, and what every write leaves behind:
-- its event, its answer under a key, and the work that it causes. Tenant and mode lead every key.

-- Distributes a new table where the database is a Citus cluster that is distributed already; does nothing elsewhere.
CREATE FUNCTION "tg_distribute"(p_table regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_on boolean := false;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    EXECUTE 'select exists (select from pg_dist_partition where logicalrelid = $1)' INTO v_on USING 'account'::regclass;
  END IF;
  IF v_on THEN
    EXECUTE format('select create_distributed_table(%L, %L, colocate_with => %L)', p_table::text, 'tenant_id', 'account');
  END IF;
END $$;--> statement-breakpoint
CREATE TABLE "account_setting" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"of_connected_user" boolean NOT NULL,
	"metadata" jsonb,
	"address" jsonb NOT NULL,
	"address_connected_user" boolean GENERATED ALWAYS AS (((address ->> 'connectedUser')::boolean)) STORED,
	"address_connected_user_partner" boolean GENERATED ALWAYS AS (((address ->> 'connectedUserPartner')::boolean)) STORED,
	"address_partner" boolean GENERATED ALWAYS AS (((address ->> 'partner')::boolean)) STORED,
	"address_platform" boolean GENERATED ALWAYS AS (((address ->> 'platform')::boolean)) STORED,
	"address_user" boolean GENERATED ALWAYS AS (((address ->> 'user')::boolean)) STORED,
	"address_currency" jsonb NOT NULL,
	"live_fx" boolean DEFAULT false NOT NULL,
	"payouts_applicable" boolean NOT NULL,
	"account_activated" boolean DEFAULT false NOT NULL,
	"platform_hold" boolean DEFAULT false NOT NULL,
	"service_hold" boolean DEFAULT false NOT NULL,
	"payouts_enabled" boolean GENERATED ALWAYS AS (case when payouts_applicable then account_activated and not platform_hold and not service_hold end) STORED,
	"payouts_reason" text GENERATED ALWAYS AS (case when not payouts_applicable then null when service_hold then 'service_hold' when not account_activated then 'account_not_activated' when platform_hold then 'platform_hold' end) STORED,
	"payouts_interval" text DEFAULT 'daily' NOT NULL,
	"payouts_monthly_anchor" smallint,
	"payouts_weekly_anchor" smallint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "account_setting_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "account_setting_of_account" UNIQUE("tenant_id","livemode","account_id")
);
--> statement-breakpoint
CREATE TABLE "account" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"kind" text NOT NULL,
	"type" text GENERATED ALWAYS AS (case kind when 'platform' then 'platform' when 'partner' then 'partner' else 'user' end) STORED NOT NULL,
	"edition" smallint NOT NULL,
	"sub_type" text,
	"status" text NOT NULL,
	"address" text DEFAULT 'deactivated' NOT NULL,
	"address_key" text,
	"nickname" text,
	"nickname_key" text GENERATED ALWAYS AS (lower(nickname)) STORED,
	"business_details" jsonb NOT NULL,
	"capability_status" text GENERATED ALWAYS AS (case status when 'verifying' then 'verifying' when 'activated' then 'activated' when 'draft' then 'pending' else 'hold' end) STORED NOT NULL,
	"logo_id" text,
	"metadata" jsonb,
	"supporting_documentation" jsonb NOT NULL,
	"tos_acceptance" jsonb NOT NULL,
	"owner_id" text,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "account_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "account_nickname_taken" UNIQUE("tenant_id","livemode","nickname_key"),
	CONSTRAINT "account_kind" CHECK ("account"."kind" in ('platform', 'direct_user', 'connected_user', 'partner')),
	CONSTRAINT "account_status" CHECK ("account"."status" in ('draft', 'verifying', 'activated', 'deactivated', 'hold')),
	CONSTRAINT "account_address" CHECK ("account"."address" in ('deactivated', 'requested', 'processing', 'activated'))
);
--> statement-breakpoint
CREATE TABLE "address" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"category" text NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"currency" text NOT NULL,
	"name" text,
	"is_reusable" boolean DEFAULT false NOT NULL,
	"linked_id" text NOT NULL,
	"bank_account" jsonb,
	"billing_details" jsonb,
	"supporting_documentation" jsonb,
	"vpa" jsonb,
	"wallet" jsonb,
	"wallet_provider" text GENERATED ALWAYS AS (wallet ->> 'provider') STORED,
	"vpa_upi_onetime" text GENERATED ALWAYS AS (vpa #>> '{upi,onetime}') STORED,
	"vpa_upi_recurring" text GENERATED ALWAYS AS (vpa #>> '{upi,recurring}') STORED,
	"metadata" jsonb,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "address_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "address_category" CHECK ("address"."category" in ('service_receive', 'user_payout', 'partner_payment', 'service_checkout', 'service_fee_advance')),
	CONSTRAINT "address_type" CHECK ("address"."type" in ('bank_account', 'wallet', 'vpa')),
	CONSTRAINT "address_status" CHECK ("address"."status" in ('activated', 'deactivated', 'expired', 'pending_deactivation'))
);
--> statement-breakpoint
CREATE TABLE "event" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"type" text NOT NULL,
	"object" text NOT NULL,
	"object_id" text NOT NULL,
	"data" jsonb NOT NULL,
	"request_id" text,
	"number" bigint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "event_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "event_number" UNIQUE("tenant_id","livemode","number")
);
--> statement-breakpoint
CREATE TABLE "idempotency" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"account_id" text NOT NULL,
	"key" text NOT NULL,
	"created" bigint NOT NULL,
	"operation" text NOT NULL,
	"request" jsonb NOT NULL,
	"answer" jsonb NOT NULL,
	CONSTRAINT "idempotency_pkey" PRIMARY KEY("tenant_id","livemode","account_id","key")
);
--> statement-breakpoint
CREATE TABLE "file" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"purpose" text NOT NULL,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"size" integer NOT NULL,
	"sha256" text NOT NULL,
	"metadata" jsonb,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "file_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "file_purpose" CHECK ("file"."purpose" in ('additional_verification', 'identity_document', 'tax_document', 'invoice', 'logo'))
);
--> statement-breakpoint
CREATE TABLE "file_content" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "file_content_pkey" PRIMARY KEY("tenant_id","livemode","id")
);
--> statement-breakpoint
CREATE TABLE "job" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"args" jsonb NOT NULL,
	"due" bigint NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"error" text,
	CONSTRAINT "job_pkey" PRIMARY KEY("tenant_id","livemode","id")
);
--> statement-breakpoint
CREATE TABLE "api_key" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"permission" text NOT NULL,
	"prefix" text NOT NULL,
	"digest" text NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint,
	"last_used_at" bigint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "api_key_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "api_key_digest" UNIQUE("tenant_id","livemode","digest"),
	CONSTRAINT "api_key_permission" CHECK ("api_key"."permission" in ('full', 'read'))
);
--> statement-breakpoint
CREATE TABLE "person" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"full_name" text NOT NULL,
	"relationship" jsonb NOT NULL,
	"identification" jsonb NOT NULL,
	"metadata" jsonb,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "person_pkey" PRIMARY KEY("tenant_id","livemode","id")
);
--> statement-breakpoint
ALTER TABLE "account_setting" ADD CONSTRAINT "account_setting_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "account" ADD CONSTRAINT "account_owner" FOREIGN KEY ("tenant_id","livemode","owner_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "address" ADD CONSTRAINT "address_account" FOREIGN KEY ("tenant_id","livemode","linked_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "file" ADD CONSTRAINT "file_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "file_content" ADD CONSTRAINT "file_content_file" FOREIGN KEY ("tenant_id","livemode","id") REFERENCES "public"."file"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person" ADD CONSTRAINT "person_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_setting_context" ON "account_setting" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "account_setting_root" ON "account_setting" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "account_context" ON "account" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "account_root" ON "account" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "account_owned" ON "account" USING btree ("tenant_id","livemode","owner_id","created","id");--> statement-breakpoint
CREATE INDEX "address_context" ON "address" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "address_root" ON "address" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "address_of_account" ON "address" USING btree ("tenant_id","livemode","linked_id","created","id");--> statement-breakpoint
CREATE INDEX "event_unnumbered" ON "event" USING btree ("tenant_id","livemode","created","id") WHERE number is null;--> statement-breakpoint
CREATE INDEX "event_of_object" ON "event" USING btree ("tenant_id","livemode","object_id","created","id");--> statement-breakpoint
CREATE INDEX "idempotency_age" ON "idempotency" USING btree ("tenant_id","livemode","created");--> statement-breakpoint
CREATE INDEX "file_context" ON "file" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "file_root" ON "file" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "file_of_account" ON "file" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "job_due" ON "job" USING btree ("due","tenant_id","livemode");--> statement-breakpoint
CREATE INDEX "api_key_context" ON "api_key" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "api_key_root" ON "api_key" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "api_key_of_account" ON "api_key" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "person_context" ON "person" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "person_root" ON "person" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "person_of_account" ON "person" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
SELECT tg_distribute('account_setting');--> statement-breakpoint
SELECT tg_distribute('file');--> statement-breakpoint
SELECT tg_distribute('file_content');--> statement-breakpoint
SELECT tg_distribute('person');--> statement-breakpoint
SELECT tg_distribute('address');--> statement-breakpoint
SELECT tg_distribute('api_key');--> statement-breakpoint
SELECT tg_distribute('event');--> statement-breakpoint
SELECT tg_distribute('idempotency');--> statement-breakpoint
SELECT tg_distribute('job');
