-- The jobs that fail are counted by mode, and the live one that fails for the longest time is found, of payouts too:
-- each failure moves a job's due time, so that alone does not say that its money is late. The indexes have entries of
-- what fails alone. Writes to the table of jobs wait while it is read for them, about a second per million jobs.

CREATE INDEX IF NOT EXISTS "job_failing" ON "job" USING btree ("livemode","failing_since") WHERE failing_since is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "job_failing_payout" ON "job" USING btree ("failing_since") WHERE livemode and kind = 'pay_out' and failing_since is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "worker_fault_of_mode" ON "worker_fault" USING btree ("livemode");
