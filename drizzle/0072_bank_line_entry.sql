-- Finds the transfers of an entry again, which one file of a bank has as a sum and another by its transfers.
CREATE INDEX IF NOT EXISTS "bank_line_entry" ON "bank_line" USING btree ((details #>> '{entry,reference}')) WHERE details ? 'entry';
