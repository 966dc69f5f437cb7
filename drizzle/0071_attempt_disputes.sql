-- What was taken back of an attempt that was taken in another currency, and so has no deposit. The table and the
-- function are new since 0.3.0.

drop function if exists insert_taken_back(text, boolean, deposit, bigint, text, text, text);--> statement-breakpoint
ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_of_transaction";--> statement-breakpoint
ALTER TABLE "unexplained" DROP CONSTRAINT "unexplained_amount";--> statement-breakpoint
CREATE UNIQUE INDEX "unexplained_of_transaction" ON "unexplained" USING btree ("tenant_id","livemode","transaction_id") WHERE amount > 0;--> statement-breakpoint
ALTER TABLE "unexplained" ADD CONSTRAINT "unexplained_amount" CHECK (num_nonnulls("unexplained"."transaction_id", "unexplained"."deposit_id") = 1
        and case "unexplained"."reason" when 'recorded' then "unexplained"."amount" < 0
          when 'beyond_deposit' then "unexplained"."amount" < 0 and "unexplained"."deposit_id" is not null
          else "unexplained"."amount" > 0 and "unexplained"."transaction_id" is not null end
        and "unexplained"."covered" between 0 and case when "unexplained"."deposit_id" is null then 0 else -"unexplained"."amount" end);
