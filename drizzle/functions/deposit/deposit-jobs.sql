-- The jobs of deposits: the sandbox bank begins to process a deposit, and completes it.

-- The sandbox bank begins to process a deposit, unless a client has moved it. One that a client has begun to process is
-- completed like its own. The deposit is locked meanwhile, so it gets one job for its completion.
create or replace function job_process_deposit(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_status text;
begin
  select d.status
  into v_status
  from deposit d
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = p_job.subject_id
  for update;
  if v_status = 'initialized' then
    perform move_deposit(
      p_tenant,
      p_live,
      '{}',
      jsonb_build_object('id', p_job.subject_id, 'from', jsonb_build_array('initialized'), 'to', 'processing')
    );
  elseif
    v_status is distinct from 'processing'
    or exists (
      select
      from job j
      where
        j.tenant_id = p_tenant
        and j.livemode = p_live
        and j.subject_id = p_job.subject_id
        and j.kind = 'complete_deposit'
    )
  then
    return;
  end if;
  perform enqueue(p_tenant, p_live, 'complete_deposit', p_job.subject_id, 1);
end;
$$;

-- The sandbox bank completes a deposit, unless a client has moved it. The caller has locked the balances.
create or replace function job_complete_deposit(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  perform
  from deposit d
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = p_job.subject_id and d.status = 'processing'
  for update;
  if found then
    perform move_deposit(
      p_tenant,
      p_live,
      '{}',
      jsonb_build_object('id', p_job.subject_id, 'from', jsonb_build_array('processing'), 'to', 'completed')
    );
  end if;
end;
$$;

-- The deposits of some ids. It is planned for each call: a session keeps a plan, and one from when the table was small
-- scans it.
create or replace function deposits_by_id(p_tenant text, p_live boolean, p_ids text[])
returns setof deposit
language plpgsql
stable
set plan_cache_mode = force_custom_plan
as $$
begin
  return query select d.* from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = any (p_ids);
end;
$$;
