-- When an account is paid out: an account has a `pay_out` job as long as it has available money.

-- Returns the platform that receives the money of an aggregator's user at once, or null for every other account.
create or replace function transfer_target(p_tenant text, p_live boolean, p_account text)
returns text
language plpgsql
stable
as $$
declare
  v_owner text;
begin
  -- Not as a join, which takes longer than two look-ups by a key; of most accounts there is nothing more to find.
  select a.owner_id
  into v_owner
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account and a.kind = 'connected_user';
  if v_owner is null then
    return null;
  end if;
  return (
    select o.id
    from account o
    where o.tenant_id = p_tenant and o.livemode = p_live and o.id = v_owner and o.sub_type = 'aggregator'
  );
end;
$$;

-- Returns the account whose payouts pay an account's money: the account itself, or its aggregator.
create or replace function paid_out_by(p_tenant text, p_live boolean, p_account text)
returns text
language plpgsql
stable
as $$
begin
  return coalesce(transfer_target(p_tenant, p_live, p_account), p_account);
end;
$$;

-- Handles money that has become available: moves it to the aggregator at once, or schedules the next payout.
create or replace function sweep_to_platform(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_account text,
  p_currency text
)
returns void
language plpgsql
as $$
declare
  v_target text := transfer_target(p_tenant, p_live, p_account);
  v_amount bigint;
  v_payment text;
  v account;
  p payment;
begin
  if v_target is null then
    perform schedule_payout(p_tenant, p_live, p_account);
    return;
  end if;
  select b.available
  into v_amount
  from balance b
  where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.currency = p_currency;
  -- A user that is below zero since a release without transfers back: the money that came in reduces this first.
  if v_amount <= 0 then
    return;
  end if;
  select a.* into v from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account;
  v_payment := insert_payment(p_tenant, p_live, v, 'transfer', v_amount, p_currency, 'completed', null);
  perform post(
    p_tenant,
    p_live,
    'transfer',
    v_payment,
    v_payment,
    jsonb_build_array(
      leg(p_account, 'available', p_currency, -v_amount),
      leg(v_target, 'available', p_currency, v_amount)
    )
  );
  select y.* into p from payment y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_payment;
  perform emit_event(p_tenant, p_live, p_envelope, 'payment.completed', 'payment', to_jsonb(p));
  perform schedule_payout(p_tenant, p_live, v_target);
end;
$$;

-- Seconds until the next payout of a setting, in UTC: until the next midnight, or until the midnight of the anchored
-- day. In a month without that day, the last day counts.
create or replace function seconds_to_payout(p_setting account_setting, p_now bigint)
returns bigint
language plpgsql
stable
as $$
declare
  d date := (to_timestamp(p_now) at time zone 'utc')::date + 1;
begin
  if p_setting.payouts_interval = 'weekly' then
    d := d + (p_setting.payouts_weekly_anchor - extract(isodow from d)::int + 7) % 7;
  elseif p_setting.payouts_interval = 'monthly' then
    while extract(day from d)::int <> least(
      p_setting.payouts_monthly_anchor,
      extract(day from date_trunc('month', d) + interval '1 month - 1 day')::int
    ) loop
      d := d + 1;
    end loop;
  end if;
  return extract(epoch from d::timestamp at time zone 'utc')::bigint - p_now;
end;
$$;

-- Enqueues an account's next payout, once: by the interval of its setting, or at once where its platform has live FX.
-- Money that could not be paid just now (`p_again`) is tried again by the interval, with live FX too.
create or replace function schedule_payout(p_tenant text, p_live boolean, p_account text, p_again boolean default false)
returns void
language plpgsql
as $$
declare
  s account_setting;
  v_at_once boolean;
begin
  select x.*
  into s
  from account_setting x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = p_account;
  if not s.payouts_applicable then
    return;
  end if;
  v_at_once := not p_again
  and s.of_connected_user
  and exists (
    select
    from account_setting g
    where g.tenant_id = p_tenant and g.livemode = p_live and g.account_id = 'account_' || p_tenant and g.live_fx
  );
  -- A job that is due, or becomes due while this statement still runs, may read the balance before this commits, so
  -- only a later job makes a new one unnecessary. The later job is not deleted when a job at once is enqueued: a worker
  -- has locked the row of the job that it runs, and would wait for `advance_clock`, which updates all jobs.
  if
    not v_at_once
    and exists (
      select
      from job j
      where
        j.tenant_id = p_tenant
        and j.livemode = p_live
        and j.kind = 'pay_out'
        and j.subject_id = p_account
        and j.due > wall_clock() + 10
    )
  then
    return;
  end if;
  perform enqueue(
    p_tenant,
    p_live,
    'pay_out',
    p_account,
    case
      when v_at_once then 0
      else seconds_to_payout(s, clock(p_tenant, p_live))
    end
  );
end;
$$;

-- Schedules the next payout again, after something that it depends on has changed. Without available money there is
-- nothing to schedule.
create or replace function reschedule_payout(p_tenant text, p_live boolean, p_account text)
returns void
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
begin
  if
    not exists (
      select
      from balance b
      where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.available > 0
    )
  then
    return;
  end if;
  -- A job that a worker may be running stays: it pays out what it finds, and the new job runs after it.
  delete from job j
  where
    j.tenant_id = p_tenant
    and j.livemode = p_live
    and j.kind = 'pay_out'
    and j.subject_id = p_account
    and j.due > v_now + 10;
  perform schedule_payout(p_tenant, p_live, p_account);
end;
$$;

-- Pays out at once what the last payout to an address did not bring to it, after another address has replaced it.
create or replace function retry_payout(p_tenant text, p_live boolean, p_account text, p_address text)
returns void
language plpgsql
as $$
begin
  if
    (
      select y.status
      from payout y
      where y.tenant_id = p_tenant and y.livemode = p_live and y.address_id = p_address
      order by y.created desc, y.id desc
      limit 1
    ) in ('failed', 'returned')
    and exists (
      select
      from balance b
      where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.available > 0
    )
  then
    perform enqueue(p_tenant, p_live, 'pay_out', p_account, 0);
  end if;
end;
$$;

-- After a currency got a new rate, reschedules the payouts of the accounts that have money in it, in batches by id.
-- Without an event: the payouts have their own events.
create or replace function job_offer_payouts(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  b balance;
  n int := 0;
begin
  for b in
    select x.*
    from balance x
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.currency = p_job.subject_id
      and x.available > 0
      and x.account_id > coalesce(p_job.args ->> 'after', '')
    order by x.account_id
    limit 200
  loop
    perform reschedule_payout(p_tenant, p_live, b.account_id);
    n := n + 1;
  end loop;
  if n = 200 then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, 0, jsonb_build_object('after', b.account_id));
  end if;
end;
$$;

-- After live FX was switched on or off, reschedules the payouts that already wait, in batches by id.
-- Without an event: the payouts have their own events.
create or replace function job_reschedule_payouts(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_subject text;
  n int := 0;
begin
  for v_subject in
    select distinct x.subject_id
    from job x
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.kind = 'pay_out'
      and x.subject_id > coalesce(p_job.args ->> 'after', '')
    order by 1
    limit 200
  loop
    perform reschedule_payout(p_tenant, p_live, v_subject);
    n := n + 1;
  end loop;
  if n = 200 then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, 0, jsonb_build_object('after', v_subject));
  end if;
end;
$$;
