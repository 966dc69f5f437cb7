-- Which money a lock stands for, so that a payout takes along those of what it pays out; and the reversals that wait for their deposits.

ALTER TABLE "receivable_lock" ADD COLUMN "held_in" text;--> statement-breakpoint
UPDATE "receivable_lock" SET "held_in" = "currency";--> statement-breakpoint
ALTER TABLE "receivable_lock" ALTER COLUMN "held_in" SET NOT NULL;--> statement-breakpoint
CREATE INDEX "bank_notice_waiting" ON "bank_notice" USING btree ("created","tenant_id","livemode","reference") WHERE deposit_id is null;
