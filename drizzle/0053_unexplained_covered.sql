-- What of unexplained money was taken from the account since. The table is new since 0.3.0.

ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_amount";--> statement-breakpoint
ALTER TABLE "unexplained" ADD COLUMN "covered" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_amount" CHECK (case when "unexplained"."reason" = 'beyond_deposit'
        then "unexplained"."amount" < 0 and "unexplained"."deposit_id" is not null and "unexplained"."transaction_id" is null
          and "unexplained"."covered" between 0 and -"unexplained"."amount"
        else "unexplained"."amount" > 0 and "unexplained"."covered" = 0 and "unexplained"."transaction_id" is not null and "unexplained"."deposit_id" is null end);