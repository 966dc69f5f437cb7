-- Numbers the events that have no number, densely and in the order in which they are found. Neither time nor a sequence
-- gives the order of commits, and readers see numbered events only, so a reader that follows the numbers misses none.
-- One process at a time numbers a tenant and mode; a process that finds the counter locked returns 0.
-- Without an event: it makes events visible.
create or replace function number_events(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  v_last bigint;
  v_ids text[];
  n int;
begin
  insert into event_counter (tenant_id, livemode, last)
  values (p_tenant, p_live, 0)
  on conflict (tenant_id, livemode) do nothing;
  select c.last
  into v_last
  from event_counter c
  where c.tenant_id = p_tenant and c.livemode = p_live
  for update skip locked;
  if not found then
    return 0;
  end if;
  v_ids := array(
    select e.id
    from event e
    where e.tenant_id = p_tenant and e.livemode = p_live and e.number is null
    order by e.created, e.id
    limit p_limit
  );
  n := cardinality(v_ids);
  -- One statement numbers all events and finds each by its key; PostgreSQL could plan a join as a scan of all events.
  update event e
  set number = v_last + array_position(v_ids, e.id)
  where e.tenant_id = p_tenant and e.livemode = p_live and e.id = any (v_ids);
  update event_counter c set last = v_last + n where c.tenant_id = p_tenant and c.livemode = p_live;
  perform queue_deliveries(p_tenant, p_live, v_ids);
  return n;
end;
$$;

-- Deletes the events with the lowest numbers that are older than `p_seconds` by the tenant's clock, at most `p_limit`;
-- returns how many. It stops before the first number that it keeps, so the remaining numbers are dense: a reader that
-- knows a remaining event misses none after it.
-- Without an event: it deletes events after their time.
create or replace function forget_old_events(p_tenant text, p_live boolean, p_seconds bigint, p_limit int)
returns int
language plpgsql
as $$
declare
  n int;
  v_before bigint := clock(p_tenant, p_live) - p_seconds;
  v_last bigint;
begin
  select max(o.number)
  into v_last
  from
    (
      select x.number, bool_and(x.created < v_before) over (order by x.number) as old
      from
        (
          select e.number, e.created
          from event e
          where e.tenant_id = p_tenant and e.livemode = p_live and e.number is not null
          order by e.number
          limit p_limit
        ) x
    ) o
  where o.old;
  delete from event e where e.tenant_id = p_tenant and e.livemode = p_live and e.number <= v_last;
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  return n;
end;
$$;
