-- Admits the values that the next release stores: payments of refunds and adjustments, payouts that are returned, and
-- files of evidence. Written by hand: each table is locked for writers until the commit, so the migration fails if it has
-- to wait for more than 3 s, and NOT VALID keeps it from reading all rows meanwhile. New rows are checked, and those that
-- exist have met a stricter check.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "payment" DROP CONSTRAINT "payment_type";--> statement-breakpoint
ALTER TABLE "payment" ADD CONSTRAINT "payment_type" CHECK ("payment"."type" in ('deposit', 'checkout', 'payout', 'dispute', 'transfer', 'refund', 'adjustment')) NOT VALID;--> statement-breakpoint
ALTER TABLE "payout" DROP CONSTRAINT "payout_status";--> statement-breakpoint
ALTER TABLE "payout" ADD CONSTRAINT "payout_status" CHECK ("payout"."status" in ('processing', 'completed', 'failed', 'returned')) NOT VALID;--> statement-breakpoint
ALTER TABLE "file" DROP CONSTRAINT "file_purpose";--> statement-breakpoint
ALTER TABLE "file" ADD CONSTRAINT "file_purpose" CHECK ("file"."purpose" in ('additional_verification', 'identity_document', 'tax_document', 'invoice', 'logo', 'import', 'dispute_evidence')) NOT VALID;
