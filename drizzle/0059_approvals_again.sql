-- When an approval made a proposal its operator's, and why a line that answers a payout is not booked. The column is null
-- in rows of before. The tables are new since 0.3.0, or written only since.

ALTER TABLE "bank_line" DROP CONSTRAINT "bank_line_reason";--> statement-breakpoint
ALTER TABLE "payment_order" ADD COLUMN "adopted_at" bigint;--> statement-breakpoint
ALTER TABLE "adjustment" ADD COLUMN "adopted_at" bigint;--> statement-breakpoint
ALTER TABLE "bank_line" ADD CONSTRAINT "bank_line_reason" CHECK ("bank_line"."reason" in ('unknown_account', 'several_addresses', 'other_currency', 'no_reference', 'repeated', 'unclear', 'reversal', 'outgoing', 'other_amount', 'other_account', 'refused'));