-- How a dispute was decided whose money is unexplained, because no balance had it: it comes back when the account wins.
-- The table and the function, which had other arguments before, are new since 0.3.0.

drop function if exists return_disputed(text, boolean, jsonb, dispute, deposit);--> statement-breakpoint
ALTER TABLE "unexplained" ADD COLUMN "decision" text;--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_decision" CHECK ("unexplained"."decision" in ('won', 'lost'));--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_decided" CHECK ("unexplained"."decision" is null or ("unexplained"."amount" < 0 and ("unexplained"."decision" = 'lost' or "unexplained"."status" = 'resolved')));
