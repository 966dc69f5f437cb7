-- Totals of the deposits that were there before the totals.

-- Adds the deposits from before the totals, at most `p_limit`, in the order of their ids; returns how many it looked
-- at, or null when all have been added. A deposit is added as it was before its stored changes: as it counts now, minus
-- these changes. One statement reads both, so a deposit that changes at the same time is added right.
create or replace function backfill_deposit_totals(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  v_up_to text;
  v_changes deposit_total_change[];
  n int;
begin
  select b.up_to
  into v_up_to
  from deposit_total_backfill b
  where b.tenant_id = p_tenant and b.livemode = p_live
  for update;
  if not found then
    return null;
  end if;
  v_changes := deposits_before_changes(p_tenant, p_live, v_up_to, p_limit);
  n := cardinality(v_changes);
  if n = 0 then
    delete from deposit_total_backfill b where b.tenant_id = p_tenant and b.livemode = p_live;
    return null;
  end if;
  perform add_to_deposit_totals(p_tenant, p_live, v_changes);
  update deposit_total_backfill b
  set up_to = (v_changes[n]).deposit_id
  where b.tenant_id = p_tenant and b.livemode = p_live;
  return n;
end;
$$;

-- Adds some of the deposits from before the totals, and leaves the rest to a job that it enqueues.
-- Without an event: the deposits have their own events.
create or replace function job_backfill_deposit_totals(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_wait bigint;
begin
  select b.not_before - wall_clock()
  into v_wait
  from deposit_total_backfill b
  where b.tenant_id = p_tenant and b.livemode = p_live;
  -- The job is due earlier when a test clock has moved.
  if v_wait > 0 or backfill_deposit_totals(p_tenant, p_live, 1000) is not null then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, greatest(v_wait, 0));
  end if;
end;
$$;
