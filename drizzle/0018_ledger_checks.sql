-- Stores the checks of the ledger that the gateways make tenant by tenant.

CREATE TABLE "ledger_check" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"status" text NOT NULL,
	"ended" bigint,
	"violations" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"violation_count" integer DEFAULT 0 NOT NULL,
	"broken_block" bigint,
	"error" text,
	CONSTRAINT "ledger_check_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "ledger_check_status" CHECK ("ledger_check"."status" in ('running', 'passed', 'violated', 'failed'))
);
--> statement-breakpoint
SELECT tg_distribute('ledger_check');--> statement-breakpoint
CREATE INDEX "ledger_check_of_tenant" ON "ledger_check" USING btree ("tenant_id","livemode","created","id");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_check_running" ON "ledger_check" USING btree ("tenant_id","livemode") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "ledger_check_by_status" ON "ledger_check" USING btree ("status","created","id","livemode");