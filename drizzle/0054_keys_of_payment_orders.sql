-- Idempotency keys of payment orders and of the operator's own accounts, and what an order has left out. The tables are
-- the operator's, small and new since 0.3.0; no row is rewritten. The functions had fewer arguments before.

drop function if exists add_own_account(jsonb, text);--> statement-breakpoint
drop function if exists create_payment_order(text, text, text, text);--> statement-breakpoint
drop function if exists propose_payment_order(text, int, bigint);--> statement-breakpoint
ALTER TABLE "own_account" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
ALTER TABLE "payment_order" ADD COLUMN "left_out" jsonb;--> statement-breakpoint
ALTER TABLE "payment_order" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
CREATE UNIQUE INDEX "own_account_of_key" ON "own_account" USING btree ("idempotency_key");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_order_of_key" ON "payment_order" USING btree ("idempotency_key") WHERE payouts > 0;