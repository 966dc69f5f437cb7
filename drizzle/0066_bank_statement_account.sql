-- Finds the last closing balance of a bank's account before a day, with which the report of the day compares its opening.
CREATE INDEX IF NOT EXISTS "bank_statement_account" ON "bank_statement" USING btree ("account","currency","day","file_id","number") WHERE closing is not null;
