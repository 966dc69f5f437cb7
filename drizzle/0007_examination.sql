-- Jobs and locks are worked through in bounded pieces: each piece is found by an index that has the order in which the work goes on.
DROP INDEX "receivable_lock_of_payout";--> statement-breakpoint
CREATE INDEX "job_of_tenant" ON "job" USING btree ("tenant_id","livemode","due","id");--> statement-breakpoint
CREATE INDEX "job_stuck" ON "job" USING btree ("tenant_id","livemode","id") WHERE error is not null;--> statement-breakpoint
CREATE INDEX "receivable_lock_of_payout" ON "receivable_lock" USING btree ("tenant_id","livemode","payout_id","id");