-- Duplicates of checkouts that are refunded from no account, and what was taken back beyond a deposit. Both tables are new
-- since 0.3.0, so the checks have few rows to read.

ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_reason";--> statement-breakpoint
ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_amount";--> statement-breakpoint
ALTER TABLE "unexplained" ALTER COLUMN "transaction_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "refund" ALTER COLUMN "debited_account_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "unexplained" ADD COLUMN "deposit_id" text;--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_of_deposit" UNIQUE("tenant_id","livemode","deposit_id");--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_reason" CHECK ("unexplained"."reason" in ('beyond_attempt', 'beyond_deposit', 'duplicate', 'other_currency'));--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_amount" CHECK (case when "unexplained"."reason" = 'beyond_deposit'
        then "unexplained"."amount" < 0 and "unexplained"."deposit_id" is not null and "unexplained"."transaction_id" is null
        else "unexplained"."amount" > 0 and "unexplained"."transaction_id" is not null and "unexplained"."deposit_id" is null end);