-- The allowance of a root account and mode: points that come back at a rate, up to a maximum (the burst). A gateway
-- takes a lease of points and spends it without further calls. The row has only the time at which the allowance is full
-- again, so that time alone refills it. Everything is whole numbers: microseconds, and points per second.
--
-- Longer than 60 lines: count_senders (one statement that shares what comes back, with its locks).

-- Gives points back (or, if negative, takes points that were used already), and then grants a lease: as many points as
-- wanted, or as there are; none when there are fewer than needed. `remaining` is what is left, below zero after a debt.
-- A repeated call grants a second lease, which costs its account at most these points; so the call has no key.
-- p_debt is what one answer may take beyond its estimate; a gateway of 0.3.0 does not say.
-- Without an event: what a request costs is in its response.
create or replace function take_allowance(
  p_tenant text,
  p_live boolean,
  p_back bigint,
  p_need bigint,
  p_want bigint,
  p_burst bigint,
  p_rate bigint,
  p_debt bigint default 0
)
returns table (granted bigint, remaining bigint)
language plpgsql
as $$
declare
  v_full_at bigint;
  v_now bigint;
  -- How long it takes until the allowance is full.
  v_refill bigint;
  -- The longest debt: as much as the allowance holds, or as one answer may take where that is more.
  v_refill_max constant bigint := (p_burst + greatest(p_burst, p_debt)) * 1000000 / p_rate;
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
    v_refill := p_burst * 1000000 / p_rate;
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

-- Adds what senders have spent of an allowance since the last call to what was known, and returns those that have spent
-- most, with their points. Together they have spent no more than is gone: what comes back is first that of all others,
-- and then an equal part of each. So who spends all that comes back stays known, and who spends little is forgotten.
-- Without an event: what a request costs is in its response.
create or replace function count_senders(p_tenant text, p_live boolean, p_spent jsonb, p_burst bigint, p_rate bigint)
returns jsonb
language plpgsql
as $$
declare
  -- The most senders that are known of an allowance.
  v_senders_max constant int := 20;
  v_full_at bigint;
  v_known jsonb;
  -- The points that are gone of the allowance; of a debt, as much as the allowance holds suffices to share it.
  v_gone bigint;
  v_spent jsonb;
begin
  perform set_config('synchronous_commit', 'off', true);
  select a.full_at, coalesce(a.spent, '{}')
  into v_full_at, v_known
  from allowance a
  where a.tenant_id = p_tenant and a.livemode = p_live
  for update;
  if not found then
    return '{}';
  end if;
  v_gone := (v_full_at - (date_part('epoch', clock_timestamp()) * 1000000)::bigint) * p_rate / 1000000;
  v_gone := least(greatest(v_gone, 0), 2 * p_burst);
  with
    both_of as (
      select x.key, x.value::bigint as points
      from jsonb_each_text(v_known) x
      union all
      select x.key, x.value::bigint as points
      from jsonb_each_text(p_spent) x
    ),
    most as (
      select b.key, sum(b.points)::bigint as points
      from both_of b
      group by b.key
      having sum(b.points) > 0
      order by 2 desc, 1
      limit v_senders_max
    ),
    -- For each sender, what it and each that has spent more would give back, if those that have spent less give all.
    given as (
      select
        m.key,
        m.points,
        (
          sum(m.points) over () - v_gone - coalesce(
            sum(m.points) over (
              order by m.points, m.key
              rows between unbounded preceding and 1 preceding
            ),
            0
          )
        ) / (count(*) over () - row_number() over (order by m.points, m.key) + 1) as back
      from most m
    ),
    level as (
      select greatest(ceil(max(g.back)), 0)::bigint as back
      from given g
    )
  select coalesce(jsonb_object_agg(g.key, g.points - l.back), '{}')
  into v_spent
  from
    given g
    cross join level l
  where g.points > l.back;
  update allowance a
  set spent = nullif(v_spent, '{}')
  where a.tenant_id = p_tenant and a.livemode = p_live;
  return v_spent;
end;
$$;

-- Whether one more rotation of a key may be answered although the allowance is used up: at most ten in each minute.
-- Without an event: the rotation has one.
create or replace function take_rotation(p_tenant text, p_live boolean)
returns boolean
language plpgsql
as $$
declare
  v_now bigint;
  v_times bigint[];
begin
  select coalesce(a.rotations, '{}')
  into v_times
  from allowance a
  where a.tenant_id = p_tenant and a.livemode = p_live
  for update;
  if not found then
    return false;
  end if;
  v_now := (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
  -- A time that is ahead is one of a clock that was set back since.
  v_times := array(
    select t
    from unnest(v_times) t
    where t > v_now - 60000000 and t <= v_now
    order by t
  );
  if cardinality(v_times) >= 10 then
    return false;
  end if;
  update allowance a
  set rotations = v_times || v_now
  where a.tenant_id = p_tenant and a.livemode = p_live;
  return true;
end;
$$;
