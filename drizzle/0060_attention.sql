-- What needs attention is found by an index each: failing webhook endpoints, disputes that wait for a response, failed
-- payouts whose money has not gone out again, and accounts that are stopped, with the time since when. The new columns
-- of accounts and payouts are filled from events and later payouts, for the few rows that are read. Written by hand but
-- for the statements that create indexes: both tables are locked until the commit. On a cluster the migration fails if
-- it has to wait for more than 3 s.

CREATE INDEX IF NOT EXISTS "webhook_endpoint_failing" ON "webhook_endpoint" USING btree ("tenant_id","livemode","account_id","failing_since","id") WHERE failing_since is not null and disabled_reason is distinct from 'by_request';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "webhook_endpoint_failing_of_tenant" ON "webhook_endpoint" USING btree ("tenant_id","livemode","failing_since","id") WHERE failing_since is not null and disabled_reason is distinct from 'by_request';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "dispute_waiting_of_tenant" ON "dispute" USING btree ("tenant_id","livemode","created","id") WHERE status = 'needs_response';--> statement-breakpoint
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
ALTER TABLE "account" ADD COLUMN "status_since" bigint;--> statement-breakpoint
ALTER TABLE "payout" ADD COLUMN "retried_by" text;--> statement-breakpoint
-- A draft has been one since it was created. Events that are too old are deleted, and then nothing tells the time.
UPDATE account a SET status_since = case
  when a.status = 'draft' then a.created
  else (
    select max(e.created) from event e
    where e.tenant_id = a.tenant_id and e.livemode = a.livemode and hashtext(e.object_id) = hashtext(a.id)
      and e.object_id = a.id and e.number is not null and e.type = 'account.' || a.status
  )
end
WHERE a.status <> 'activated';--> statement-breakpoint
-- The next payout from the currency of a failed one took its money along.
UPDATE payout y SET retried_by = (
  select n.id from payout n
  where n.tenant_id = y.tenant_id and n.livemode = y.livemode and n.account_id = y.account_id
    and n.source_currency = y.currency and n.created >= coalesce(y.updated_at, y.created) and n.id <> y.id
  order by n.created, n.id
  limit 1
)
WHERE y.status in ('failed', 'returned');--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_stopped" ON "account" USING btree ("tenant_id","livemode","status","status_since" NULLS FIRST,"id") WHERE "account"."kind" <> 'partner' and "account"."status" <> 'activated';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_unpaid" ON "payout" USING btree ("tenant_id","livemode","account_id","updated_at","id") WHERE status in ('failed', 'returned') and retried_by is null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_unpaid_of_tenant" ON "payout" USING btree ("tenant_id","livemode","updated_at","id") WHERE status in ('failed', 'returned') and retried_by is null;
