-- The columns of the migrations before this one. An added column keeps readers of its table out until all migrations are
-- committed together, so they come after the building of indexes. Constant defaults rewrite no row.

-- Whether a platform made an address, which the activation of Edition 1 asks for. Stored ones count as made by it.
ALTER TABLE "address" ADD COLUMN "by_platform" boolean DEFAULT true NOT NULL;--> statement-breakpoint
-- The rows of imports that were seen before.
ALTER TABLE "import_row" DROP CONSTRAINT "import_row_status";--> statement-breakpoint
ALTER TABLE "import_row" ADD CONSTRAINT "import_row_status" CHECK ("import_row"."status" in ('created', 'valid', 'failed', 'seen_before')) NOT VALID;--> statement-breakpoint
ALTER TABLE "data_import" ADD COLUMN "allow_duplicates" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "data_import" ADD COLUMN "rows_seen_before" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Who has spent an allowance, for the part that is kept for the others, and when keys were rotated without points.
ALTER TABLE "allowance" ADD COLUMN "spent" jsonb;--> statement-breakpoint
ALTER TABLE "allowance" ADD COLUMN "rotations" bigint[];--> statement-breakpoint
-- The greatest time of a balance's entries, and whether one of them was late.
ALTER TABLE "balance" ADD COLUMN "latest" bigint;--> statement-breakpoint
ALTER TABLE "balance" ADD COLUMN "late" boolean DEFAULT false NOT NULL;