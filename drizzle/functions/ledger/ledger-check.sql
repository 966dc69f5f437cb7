-- The checks of the ledger that the worker makes tenant by tenant, and their history.

-- Begins a check of the ledger of a tenant and mode. Returns its id, or null when it is not due: another one runs, the
-- last one began less than `p_interval` seconds ago, or it failed in the last hour. A check that has not ended after
-- `p_limit` seconds has lost its gateway, and counts as failed. A check with the interval 0 is one that an operator
-- asks for: it takes the place of one that runs, whose gateway may have been killed a moment ago.
-- Without an event: the check is one of the service.
create or replace function begin_ledger_check(p_tenant text, p_live boolean, p_interval int, p_limit int)
returns text
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
  v_id text := new_id('ledger_check');
begin
  update ledger_check c
  set
    status = 'failed',
    ended = v_now,
    error = case
      when c.created <= v_now - p_limit then 'The gateway that made the check has ended.'
      else 'A check that an operator asked for took its place.'
    end
  where
    c.tenant_id = p_tenant
    and c.livemode = p_live
    and c.status = 'running'
    and (c.created <= v_now - p_limit or p_interval = 0);
  if
    exists (
      select
      from ledger_check c
      where
        c.tenant_id = p_tenant
        and c.livemode = p_live
        and c.created > v_now - case
          when c.status = 'failed' then least(3600, p_interval)
          else p_interval
        end
    )
  then
    return null;
  end if;
  insert into ledger_check (tenant_id, livemode, id, created, status)
  values (p_tenant, p_live, v_id, v_now, 'running')
  on conflict do nothing;
  if not found then
    return null;
  end if;
  -- The history goes back 90 days.
  delete from ledger_check c
  where c.tenant_id = p_tenant and c.livemode = p_live and c.created < v_now - 7776000;
  return v_id;
end;
$$;

-- Stores the outcome of a check. Returns its status; null when the check has ended before, because it took too long.
-- Without an event: the check is one of the service.
create or replace function end_ledger_check(
  p_tenant text,
  p_live boolean,
  p_id text,
  p_violations jsonb,
  p_violation_count int,
  p_broken_block bigint,
  p_error text
)
returns text
language plpgsql
as $$
declare
  v_status text := case
    when p_error is not null then 'failed'
    when p_violation_count > 0
    or p_broken_block is not null then 'violated'
    else 'passed'
  end;
  v_now bigint := wall_clock();
begin
  update ledger_check c
  set
    status = v_status,
    ended = v_now,
    violations = p_violations,
    violation_count = p_violation_count,
    broken_block = p_broken_block,
    error = left(p_error, 1000)
  where c.tenant_id = p_tenant and c.livemode = p_live and c.id = p_id and c.status = 'running';
  if not found then
    return null;
  end if;
  return v_status;
end;
$$;
