-- The audit of the ledger.

-- Broken invariants of the ledger: no rows means that all hold. `rule` names the invariant, and `what` names what
-- breaks it.
create or replace view violations as
  select tenant_id, livemode, rule, what from ledger_violations
  union all
  select tenant_id, livemode, rule, what from deposit_violations
  union all
  select tenant_id, livemode, rule, what from deposit_total_violations
  union all
  select tenant_id, livemode, rule, what from balance_rank_violations
  union all
  select tenant_id, livemode, rule, what from late_entry_violations
  union all
  select tenant_id, livemode, rule, what from payout_violations
  union all
  select tenant_id, livemode, rule, what from refund_violations
  union all
  select tenant_id, livemode, rule, what from dispute_violations
  union all
  select tenant_id, livemode, rule, what from checkout_violations
  union all
  select tenant_id, livemode, rule, what from adjustment_violations
  union all
  select null, null, rule, what from payment_order_breaches
  union all
  select null, null, rule, what from bank_line_breaches
  union all
  select tenant_id, livemode, rule, what from payment_violations
  union all
  select tenant_id, livemode, rule, what from event_violations
  union all
  select null, null, 'append-only is not enforced', x.what
  from append_only_breaches(array(select s.name from drizzle.runtime_role s)) x;
