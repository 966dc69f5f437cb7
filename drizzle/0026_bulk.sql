-- Adds exports of whole lists and imports of CSV files, with what is stored of each row, and the files for imports.

CREATE TABLE "data_export" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"list" text NOT NULL,
	"filters" text NOT NULL,
	"format" text NOT NULL,
	"rows" integer DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"parts" integer DEFAULT 0 NOT NULL,
	"sha256" text,
	"snapshot_at" bigint,
	"status" text NOT NULL,
	"caller" jsonb NOT NULL,
	"error" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due" bigint NOT NULL,
	"completed_at" bigint,
	"expires_at" bigint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "data_export_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "export_status" CHECK ("data_export"."status" in ('pending', 'running', 'completed', 'failed', 'expired')),
	CONSTRAINT "data_export_format" CHECK ("data_export"."format" in ('csv', 'jsonl'))
);
--> statement-breakpoint
CREATE TABLE "export_part" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"export_id" text NOT NULL,
	"start" bigint NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "export_part_pkey" PRIMARY KEY("tenant_id","livemode","export_id","start")
);
--> statement-breakpoint
CREATE TABLE "import_row" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"import_id" text NOT NULL,
	"row" integer NOT NULL,
	"status" text NOT NULL,
	"object_id" text,
	"problems" jsonb NOT NULL,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "import_row_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "import_row_once" UNIQUE("tenant_id","livemode","import_id","row"),
	CONSTRAINT "import_row_status" CHECK ("import_row"."status" in ('created', 'valid', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "data_import" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"kind" text NOT NULL,
	"file_id" text NOT NULL,
	"dry_run" boolean NOT NULL,
	"rows" integer NOT NULL,
	"rows_done" integer DEFAULT 0 NOT NULL,
	"rows_failed" integer DEFAULT 0 NOT NULL,
	"status" text NOT NULL,
	"caller" jsonb NOT NULL,
	"error" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due" bigint NOT NULL,
	"completed_at" bigint,
	"expires_at" bigint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "data_import_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "data_import_kind" CHECK ("data_import"."kind" in ('partners', 'receivables')),
	CONSTRAINT "import_status" CHECK ("data_import"."status" in ('pending', 'running', 'completed', 'failed', 'expired'))
);
--> statement-breakpoint
-- Written by hand: the new tables are distributed like the others.
SELECT tg_distribute('data_export');--> statement-breakpoint
SELECT tg_distribute('export_part');--> statement-breakpoint
SELECT tg_distribute('data_import');--> statement-breakpoint
SELECT tg_distribute('import_row');--> statement-breakpoint
-- Also written by hand. The next statements lock the tables of accounts and files for writers until the commit, and fail
-- if they have to wait for more than 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "file" DROP CONSTRAINT "file_purpose";--> statement-breakpoint
ALTER TABLE "data_export" ADD CONSTRAINT "data_export_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "export_part" ADD CONSTRAINT "export_part_export" FOREIGN KEY ("tenant_id","livemode","export_id") REFERENCES "public"."data_export"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "import_row" ADD CONSTRAINT "import_row_import" FOREIGN KEY ("tenant_id","livemode","import_id") REFERENCES "public"."data_import"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "data_import" ADD CONSTRAINT "data_import_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "data_import" ADD CONSTRAINT "data_import_file" FOREIGN KEY ("tenant_id","livemode","file_id") REFERENCES "public"."file"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "data_export_in_context" ON "data_export" USING btree ("tenant_id","livemode","context_id","created","id") WHERE "data_export"."context_id" <> "data_export"."account_id";--> statement-breakpoint
CREATE INDEX "data_export_root" ON "data_export" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "data_export_of_account" ON "data_export" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "data_export_due" ON "data_export" USING btree ("due","tenant_id","livemode","id");--> statement-breakpoint
CREATE INDEX "data_export_root_status" ON "data_export" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"created","id") WHERE (case when "data_export"."on_root_list" then "data_export"."status" end) is not null;--> statement-breakpoint
CREATE INDEX "data_export_context_by_status" ON "data_export" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "data_export"."context_id" <> "data_export"."account_id";--> statement-breakpoint
CREATE INDEX "data_export_account_by_status" ON "data_export" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX "import_row_in_context" ON "import_row" USING btree ("tenant_id","livemode","context_id","created","id");--> statement-breakpoint
CREATE INDEX "import_row_root" ON "import_row" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "import_row_of_import" ON "import_row" USING btree ("tenant_id","livemode","import_id","created","id");--> statement-breakpoint
CREATE INDEX "import_row_of_import_in_context" ON "import_row" USING btree ("tenant_id","livemode","context_id","import_id","created","id");--> statement-breakpoint
CREATE INDEX "import_row_root_status" ON "import_row" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"created","id") WHERE (case when "import_row"."on_root_list" then "import_row"."status" end) is not null;--> statement-breakpoint
CREATE INDEX "import_row_context_by_status" ON "import_row" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX "import_row_import_by_status" ON "import_row" USING btree ("tenant_id","livemode",hashtextextended(("import_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX "data_import_in_context" ON "data_import" USING btree ("tenant_id","livemode","context_id","created","id") WHERE "data_import"."context_id" <> "data_import"."account_id";--> statement-breakpoint
CREATE INDEX "data_import_root" ON "data_import" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "data_import_of_account" ON "data_import" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "data_import_due" ON "data_import" USING btree ("due","tenant_id","livemode","id");--> statement-breakpoint
CREATE INDEX "data_import_root_status" ON "data_import" USING btree ("tenant_id","livemode",(case when "on_root_list" then "status" end),"created","id") WHERE (case when "data_import"."on_root_list" then "data_import"."status" end) is not null;--> statement-breakpoint
CREATE INDEX "data_import_context_by_status" ON "data_import" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "data_import"."context_id" <> "data_import"."account_id";--> statement-breakpoint
CREATE INDEX "data_import_account_by_status" ON "data_import" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
ALTER TABLE "file" ADD CONSTRAINT "file_purpose" CHECK ("file"."purpose" in ('additional_verification', 'identity_document', 'tax_document', 'invoice', 'logo', 'import'));