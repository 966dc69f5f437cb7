-- Named credentials and sessions of operators, the audit log of what they do, and the processes of the gateways that run.
-- These tables are about the whole deployment and have no tenant, so they are not distributed: on Citus they stay local
-- tables of the coordinator. Two indexes serve the lists of the operator's console.

CREATE TABLE "gateway_process" (
	"id" text PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"process" integer NOT NULL,
	"version" text NOT NULL,
	"started_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "operator" (
	"id" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"created_by" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"prefix" text NOT NULL,
	"digest" text NOT NULL,
	"pepper_id" text NOT NULL,
	"last_used_at" bigint,
	"revoked_at" bigint,
	CONSTRAINT "operator_role" CHECK ("operator"."role" in ('read', 'operate'))
);
--> statement-breakpoint
CREATE TABLE "operator_action" (
	"number" bigint PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"action" bigint NOT NULL,
	"outcome" text NOT NULL,
	"operator" text NOT NULL,
	"operator_id" text,
	"operation" text NOT NULL,
	"object_id" text,
	"tenant" text,
	"mode" text,
	"request_id" text NOT NULL,
	"code" text,
	"details" jsonb NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "operator_action_outcome" CHECK ("operator_action"."outcome" in ('attempted', 'succeeded', 'refused', 'failed')),
	CONSTRAINT "operator_action_mode" CHECK ("operator_action"."mode" in ('test', 'live'))
);
--> statement-breakpoint
CREATE TABLE "operator_session" (
	"digest" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"operator_id" text,
	"key_digest" text,
	CONSTRAINT "operator_session_holder" CHECK ((operator_id is null) <> (key_digest is null))
);
--> statement-breakpoint
ALTER TABLE "operator_session" ADD CONSTRAINT "operator_session_operator" FOREIGN KEY ("operator_id") REFERENCES "public"."operator"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "operator_digest" ON "operator" USING btree ("digest");--> statement-breakpoint
CREATE UNIQUE INDEX "operator_name" ON "operator" USING btree (lower("name")) WHERE revoked_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "operator_action_id" ON "operator_action" USING btree ("id");--> statement-breakpoint
CREATE INDEX "operator_action_of_action" ON "operator_action" USING btree ("action");--> statement-breakpoint
CREATE INDEX "operator_action_begun" ON "operator_action" USING btree ("number") WHERE number = action;--> statement-breakpoint
CREATE INDEX "operator_action_of_operator" ON "operator_action" USING btree ("operator",(-"number")) WHERE number = action;--> statement-breakpoint
CREATE INDEX "operator_action_of_operation" ON "operator_action" USING btree ("operation",(-"number")) WHERE number = action;--> statement-breakpoint
CREATE INDEX "operator_action_of_both" ON "operator_action" USING btree ("operator","operation",(-"number")) WHERE number = action;--> statement-breakpoint
CREATE INDEX "operator_action_of_object" ON "operator_action" USING btree ("object_id","action") WHERE object_id is not null;--> statement-breakpoint
CREATE INDEX "operator_session_age" ON "operator_session" USING btree ("expires_at");--> statement-breakpoint
-- Written by hand. Connected users that were created with a null here could not be read.
UPDATE "account" SET "supporting_documentation" = '{}' WHERE "supporting_documentation" = 'null';--> statement-breakpoint
-- Written by hand. The next statements lock a table for writers until the commit, and fail if they have to wait for more
-- than 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
CREATE INDEX "bank_notice_age" ON "bank_notice" USING btree ("created","tenant_id","livemode","reference","event");--> statement-breakpoint
CREATE INDEX "account_setting_held" ON "account_setting" USING btree ("created","id","livemode") WHERE service_hold;