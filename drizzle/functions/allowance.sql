-- The allowance of a root account and mode: points that come back at a rate, up to a maximum (the burst). A gateway
-- takes a lease of points and spends it without further calls. The row has only the time at which the allowance is full
-- again, so that time alone refills it. Everything is whole numbers: microseconds, and points per second.

-- Gives points back (or, if negative, takes points that were used already), and then grants a lease: as many points as
-- wanted, or as there are; none when there are fewer than needed. `remaining` is what is left, below zero after a debt.
-- A repeated call grants a second lease, which costs its account at most these points; so the call has no key.
-- Without an event: what a request costs is in its response.
create or replace function take_allowance(
  p_tenant text,
  p_live boolean,
  p_back bigint,
  p_need bigint,
  p_want bigint,
  p_burst bigint,
  p_rate bigint
)
returns table (granted bigint, remaining bigint)
language plpgsql
as $$
declare
  v_full_at bigint;
  v_now bigint;
  -- How long it takes until the allowance is full.
  v_refill bigint;
  -- The longest debt: as much as the allowance holds.
  v_refill_max constant bigint := 2 * p_burst * 1000000 / p_rate;
begin
  -- A crash of the server may lose the leases of its last moments, which is worth less than a wait for the disk.
  perform set_config('synchronous_commit', 'off', true);
  select a.full_at
  into v_full_at
  from allowance a
  where a.tenant_id = p_tenant and a.livemode = p_live
  for update;
  if not found then
    insert into allowance as a (tenant_id, livemode, full_at)
    values (p_tenant, p_live, 0)
    on conflict (tenant_id, livemode) do update
      set full_at = a.full_at
    returning a.full_at
    into v_full_at;
  end if;
  -- The clock is read after the row is locked, so that the time of two calls does not overlap.
  v_now := (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
  v_refill := greatest(v_full_at - v_now, 0);
  -- Beyond the longest debt: the clock was ahead at the last call and was set back, or the burst was greater. What is
  -- left is unknown, so nothing is, and it comes back from now on.
  if v_refill > v_refill_max then
    v_refill := v_refill_max / 2;
  end if;
  v_refill := least(greatest(v_refill - p_back * 1000000 / p_rate, 0), v_refill_max);
  remaining := p_burst - (v_refill * p_rate + 999999) / 1000000;
  granted := case
    when remaining >= p_need then least(greatest(p_want, 0), remaining)
    else 0
  end;
  remaining := remaining - granted;
  v_refill := v_refill + (granted * 1000000 + p_rate - 1) / p_rate;
  if v_now + v_refill <> greatest(v_full_at, v_now) then
    update allowance a
    set full_at = v_now + v_refill
    where a.tenant_id = p_tenant and a.livemode = p_live;
  end if;
  return next;
end;
$$;
