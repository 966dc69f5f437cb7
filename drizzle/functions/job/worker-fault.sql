-- The faults of a tenant's work: the worker stores a failed attempt, waits longer each time, and deletes the fault
-- after the first attempt that succeeds.

-- The seconds from a failed attempt to the next one.
create or replace function worker_fault_pause(p_attempts int)
returns int
language plpgsql
immutable
as $$
begin
  return least(60, 2 ^ least(p_attempts - 1, 6));
end;
$$;

-- Stores a failed attempt. Returns the seconds until the next one.
-- Without an event: the fault is one of the service.
create or replace function record_worker_fault(p_tenant text, p_live boolean, p_work text, p_error text)
returns int
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
  v_pause int;
begin
  insert into worker_fault as f (tenant_id, livemode, work, error, since, attempts, next_attempt)
  values (p_tenant, p_live, p_work, left(p_error, 1000), v_now, 1, v_now + worker_fault_pause(1))
  on conflict (tenant_id, livemode, work) do update
    set
      error = excluded.error,
      attempts = f.attempts + 1,
      next_attempt = v_now + worker_fault_pause(f.attempts + 1)
  returning f.next_attempt - v_now
  into v_pause;
  return v_pause;
end;
$$;

-- Claims the next attempt at work that has failed: it returns 0 to one worker when the attempt is due, and the seconds
-- to wait to all others. It also returns 0 when there is no fault any more. An attempt that is further ahead than any
-- pause is due: the clock was ahead when it was stored.
-- Without an event: the fault is one of the service.
create or replace function claim_worker_fault(p_tenant text, p_live boolean, p_work text)
returns int
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
  v_wait int;
begin
  update worker_fault f
  set next_attempt = v_now + worker_fault_pause(f.attempts + 1)
  where
    f.tenant_id = p_tenant
    and f.livemode = p_live
    and f.work = p_work
    and f.next_attempt not between v_now + 1 and v_now + worker_fault_pause(f.attempts + 1);
  if found then
    return 0;
  end if;
  select f.next_attempt - v_now
  into v_wait
  from worker_fault f
  where f.tenant_id = p_tenant and f.livemode = p_live and f.work = p_work;
  return coalesce(v_wait, 0);
end;
$$;

-- Deletes the fault of work that has succeeded. Returns the number of deleted rows.
-- Without an event: the fault is one of the service.
create or replace function clear_worker_fault(p_tenant text, p_live boolean, p_work text)
returns int
language plpgsql
as $$
declare
  n int;
begin
  delete from worker_fault f where f.tenant_id = p_tenant and f.livemode = p_live and f.work = p_work;
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  return n;
end;
$$;
