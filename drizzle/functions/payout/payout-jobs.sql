-- The jobs of payouts that end.

-- The sandbox bank completes a payout.
create or replace function job_settle_payout(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  if
    exists (
      select
      from payout y
      where y.tenant_id = p_tenant and y.livemode = p_live and y.id = p_job.subject_id and y.status = 'processing'
    )
  then
    perform move_payout(p_tenant, p_live, '{}', jsonb_build_object('id', p_job.subject_id, 'to', 'completed'));
  end if;
end;
$$;

-- Settles more locks of a completed payout, unless it has been returned meanwhile.
create or replace function job_settle_locks(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_payout payout;
begin
  perform lock_all_balances(p_tenant, p_live, p_job.subject_id);
  select x.*
  into v_payout
  from payout x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_job.args ->> 'payout';
  if v_payout.status = 'completed' then
    perform settle_locks(p_tenant, p_live, '{}', v_payout, p_job.args ->> 'after');
  end if;
end;
$$;

-- Frees more locks of a failed or returned payout.
create or replace function job_free_locks(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_payout payout;
begin
  perform lock_all_balances(p_tenant, p_live, p_job.subject_id);
  select x.*
  into v_payout
  from payout x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_job.args ->> 'payout';
  perform free_locks(p_tenant, p_live, '{}', v_payout, p_job.args ->> 'before');
end;
$$;
