-- The operator lists the attempts of which an acquirer has not said how they ended. The index has few rows: a job is in
-- it from an attempt to the answer of the acquirer.

CREATE INDEX "job_of_poll" ON "job" USING btree ("created","id") WHERE kind = 'inquire_transaction' and livemode;