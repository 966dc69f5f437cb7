-- The audit of the ledger.

-- What must never be: no rows means that every invariant holds. `rule` says which promise is broken, `what` where.
create or replace view violations as
  select tenant_id, livemode, rule, what from ledger_violations
  union all
  select tenant_id, livemode, rule, what from deposit_violations
  union all
  select tenant_id, livemode, rule, what from payout_violations
  union all
  select tenant_id, livemode, rule, what from checkout_violations
  union all
  select null, null, 'append-only is not enforced', x.what
  from append_only_breaches(array(select s.name from drizzle.runtime_role s)) x;
