-- A deposit, and the payment and the return of a payout, are one line of a bank each. The table is new since 0.3.0.

CREATE UNIQUE INDEX "bank_line_deposit" ON "bank_line" USING btree ("deposit_id","direction") WHERE state = 'booked' and deposit_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "bank_line_payout" ON "bank_line" USING btree ("payout_id","direction") WHERE state = 'booked' and payout_id is not null;--> statement-breakpoint
CREATE INDEX "bank_line_of_deposit" ON "bank_line" USING btree ("deposit_id") WHERE deposit_id is not null;--> statement-breakpoint
CREATE INDEX "bank_line_of_payout" ON "bank_line" USING btree ("payout_id") WHERE payout_id is not null;