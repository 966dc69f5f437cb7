-- Whether deposits of an account are reconciled by themselves, which no account has until it switches it on. Written by
-- hand but for the statement: the table is locked until the commit, and the migration fails if it has to wait for more
-- than 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "account_setting" ADD COLUMN "auto_reconcile" boolean DEFAULT false NOT NULL;
