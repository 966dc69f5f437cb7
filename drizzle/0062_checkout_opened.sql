-- Checkouts say when their page was last open in a browser, and when the latest attempt to pay began.
ALTER TABLE "checkout" ADD COLUMN "opened_at" bigint;--> statement-breakpoint
ALTER TABLE "checkout" ADD COLUMN "last_tried_at" bigint;
