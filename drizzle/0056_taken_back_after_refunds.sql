-- What was taken back of deposits that refunds have left nothing of, as operators record it. The table is new since 0.3.0.

ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_of_deposit";--> statement-breakpoint
ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_reason";--> statement-breakpoint
ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_amount";--> statement-breakpoint
ALTER TABLE "unexplained" ADD COLUMN "reference" text;--> statement-breakpoint
ALTER TABLE "unexplained" ADD COLUMN "note" text;--> statement-breakpoint
CREATE UNIQUE INDEX "unexplained_beyond" ON "unexplained" USING btree ("tenant_id","livemode","deposit_id") WHERE reason = 'beyond_deposit';--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_of_reference" UNIQUE("tenant_id","livemode","reference");--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_recorded" CHECK (num_nonnulls("unexplained"."reference", "unexplained"."note") = case when "unexplained"."reason" = 'recorded' then 2 else 0 end);--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_reason" CHECK ("unexplained"."reason" in ('beyond_attempt', 'beyond_deposit', 'duplicate', 'other_currency', 'recorded'));--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_amount" CHECK (("unexplained"."reason" = 'beyond_deposit' or "unexplained"."reason" = 'recorded') = ("unexplained"."transaction_id" is null)
        and ("unexplained"."transaction_id" is null) = ("unexplained"."deposit_id" is not null)
        and case when "unexplained"."transaction_id" is null then "unexplained"."amount" < 0 and "unexplained"."covered" between 0 and -"unexplained"."amount"
          else "unexplained"."amount" > 0 and "unexplained"."covered" = 0 end);