-- Why a payout failed or was returned, and the bank's reference of it. Written by hand: the table is locked for writers
-- until the commit, so the migration fails if it has to wait for more than 3 s, and NOT VALID keeps it from reading all
-- rows meanwhile. Rows that exist have no reason.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "payout" ADD COLUMN "reason_code" text;--> statement-breakpoint
ALTER TABLE "payout" ADD COLUMN "bank_reference" text;--> statement-breakpoint
ALTER TABLE "payout" ADD CONSTRAINT "payout_reason" CHECK ("payout"."reason_code" in ('account_closed', 'account_invalid', 'bank_rejected', 'general', 'limit_exceeded', 'name_mismatch', 'regulatory')) NOT VALID;
