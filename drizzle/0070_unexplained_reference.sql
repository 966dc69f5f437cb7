-- The operator finds unexplained money by the reference under which it was taken back. The index has that alone.

CREATE INDEX IF NOT EXISTS "unexplained_by_reference" ON "unexplained" USING btree ("reference") WHERE reference is not null;
