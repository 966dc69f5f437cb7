-- Payouts: available money on its way out. A `pay_out` job stands for an account as long as it has available money.

-- Where an aggregator's users' money goes at once: its platform. Null for everybody else.
create or replace function transfer_target(p_tenant text, p_live boolean, p_account text)
returns text
language plpgsql
stable
as $$
begin
  return (
    select o.id
    from
      account a
      join account o on o.tenant_id = p_tenant and o.livemode = p_live and o.id = a.owner_id
    where
      a.tenant_id = p_tenant
      and a.livemode = p_live
      and a.id = p_account
      and a.kind = 'connected_user'
      and o.sub_type = 'aggregator'
  );
end;
$$;

-- The account whose payouts pay an account's money: its own, or those of its aggregator.
create or replace function paid_out_by(p_tenant text, p_live boolean, p_account text)
returns text
language plpgsql
stable
as $$
begin
  return coalesce(transfer_target(p_tenant, p_live, p_account), p_account);
end;
$$;

-- What follows when money has become available: on to the aggregator at once, or into the next payout.
create or replace function sweep_to_platform(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
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
  -- After a dispute the user owes: what came in makes that good first.
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
  perform emit_event(p_tenant, p_live, p_call, 'payment.completed', 'payment', to_jsonb(p));
  perform schedule_payout(p_tenant, p_live, v_target);
end;
$$;

-- Seconds until the next payout of a setting, in UTC: the next midnight, or that of the anchored day; a day that a
-- month lacks is its last.
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

-- Puts an account's next payout into the queue, once: by its setting's interval, or at once where its platform has live
-- FX. What could not be paid just now is tried again by the interval, with live FX too.
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
  -- One that is due, or will be while this statement still runs, may look before this commits: only one that comes
  -- later will do. It stays beside one at once: whoever runs a job holds its row, and would wait for somebody who moves
  -- the clock of all.
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

-- Puts the next payout anew, after something that it depends on has changed. Nothing to pay, nothing to put.
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
  -- One that a worker is at stays: it finds what it finds, and this one comes after it.
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

-- What an amount of a currency comes to in another, and the rate: a fixed table in test mode, the operator's in live
-- mode. It is cut to what the currency can be paid in, and exact: by what a dollar buys of either, and not by their
-- rounded ratio, which is only shown. No rate when nobody has said; no amount when it is more money than there is.
create or replace function exchanged(
  p_tenant text,
  p_live boolean,
  p_amount bigint,
  p_source text,
  p_target text,
  out amount bigint,
  out rate numeric
)
language plpgsql
stable
as $$
declare
  v_bought numeric;
  v_sold numeric;
  v_amount numeric;
begin
  if p_source = p_target then
    amount := p_amount;
    rate := 1;
    return;
  end if;
  select r.rate, 1
  into v_bought, v_sold
  from rate r
  where r.tenant_id = p_tenant and r.livemode = p_live and r.source = p_source and r.target = p_target;
  if v_bought is null and not p_live then
    select t.per_dollar, s.per_dollar
    into v_bought, v_sold
    from
      (
        values
          ('USD', 1),
          ('EUR', 0.92),
          ('GBP', 0.79),
          ('INR', 83),
          ('SGD', 1.35),
          ('AUD', 1.52),
          ('CAD', 1.37),
          ('AED', 3.6725),
          ('JPY', 150)
      ) s (currency, per_dollar),
      (
        values
          ('USD', 1),
          ('EUR', 0.92),
          ('GBP', 0.79),
          ('INR', 83),
          ('SGD', 1.35),
          ('AUD', 1.52),
          ('CAD', 1.37),
          ('AED', 3.6725),
          ('JPY', 150)
      ) t (currency, per_dollar)
    where s.currency = p_source and t.currency = p_target;
  end if;
  rate := trim_scale(round(v_bought / v_sold, 16));
  v_amount := div(p_amount * v_bought, v_sold);
  v_amount := v_amount - v_amount % least_amount(p_target);
  if v_amount <= 1e17 then
    amount := v_amount;
  end if;
end;
$$;

drop function if exists rate_of(text, boolean, text, text);

-- The currencies whose balances a payout of an account may change: those that the account has, and those that its
-- available money would be converted into. All of them are locked before anything else, in key order.
create or replace function payout_currencies(p_tenant text, p_live boolean, p_account text)
returns text[]
language plpgsql
stable
as $$
begin
  return array(
    select b.currency from balance b where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account
    union
    select d.currency
    from
      balance b
      cross join lateral (
        select a.currency
        from address a
        where
          a.tenant_id = p_tenant
          and a.livemode = p_live
          and a.linked_id = p_account
          and a.category = 'user_payout'
          and a.status = 'activated'
        order by (a.currency = b.currency) desc, a.created desc, a.id desc
        limit 1
      ) d
    where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.available > 0
  );
end;
$$;

-- The newest usable payout address of a currency, or else the newest of any. Its row is locked until the caller
-- commits, so that it is retired either before this reads it or after the payout is visible to the check that retires
-- it.
create or replace function payout_address(p_tenant text, p_live boolean, p_account text, p_currency text)
returns address
language plpgsql
volatile
as $$
declare
  d address;
begin
  for i in 1..10 loop
    select a.*
    into d
    from address a
    where
      a.tenant_id = p_tenant
      and a.livemode = p_live
      and a.linked_id = p_account
      and a.category = 'user_payout'
      and a.status = 'activated'
    order by (a.currency = p_currency) desc, a.created desc, a.id desc
    limit 1;
    exit when d.id is null;
    perform
    from address a
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = d.id and a.status = 'activated'
    for share;
    -- One that was replaced while this waited is not usable any more; the next statement sees the one that replaced it.
    exit when found;
    d := null;
  end loop;
  return d;
end;
$$;

-- Records why money of a currency could not be paid out when it was due, or that nothing is in its way (a null reason).
-- An event is written when the reason changes, and not each time that the payout is tried again.
create or replace function block_payout(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_account account,
  p_currency text,
  p_reason text
)
returns void
language plpgsql
as $$
declare
  v payout_block;
  v_id text;
  v_now bigint;
begin
  if p_reason is null then
    delete from payout_block k
    where k.tenant_id = p_tenant and k.livemode = p_live and k.account_id = p_account.id and k.currency = p_currency;
    return;
  end if;
  v_id := new_id('payout_block');
  v_now := clock(p_tenant, p_live);
  insert into payout_block
    (tenant_id, livemode, id, created, account_id, currency, reason_code, context_id, on_root_list)
  values
    (p_tenant, p_live, v_id, v_now, p_account.id, p_currency, p_reason, p_account.context_id, p_account.on_root_list)
  on conflict (tenant_id, livemode, account_id, currency) do update
    set
      reason_code = excluded.reason_code,
      created = excluded.created
    where payout_block.reason_code <> excluded.reason_code
  returning *
  into v;
  if found then
    perform emit_event(p_tenant, p_live, p_call, 'payout.blocked', 'payout_block', to_jsonb(v));
  end if;
end;
$$;

-- Pays out all of an account's available money, one payout per currency, each to the newest usable payout address of
-- that currency or else the newest of any. What cannot be paid now keeps its reason, and is tried again at the next
-- interval; the setting has the reason where payouts are off as a whole. What is too small waits for more money
-- instead.
create or replace function pay_out(p_tenant text, p_live boolean, p_call jsonb, p_account text)
returns void
language plpgsql
as $$
declare
  v account;
  s account_setting;
  c text;
  d address;
  b balance;
  v_rate numeric;
  v_amount bigint;
  y payout;
  v_id text;
  v_payment text;
  v_now bigint;
  v_currencies text[] := payout_currencies(p_tenant, p_live, p_account);
  v_reason text;
  v_later boolean := false;
  v_again boolean := false;
  v_owes boolean;
begin
  select a.* into v from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account;
  perform lock_balances(
    p_tenant,
    p_live,
    coalesce(
      (select jsonb_agg(jsonb_build_object('account', p_account, 'currency', x)) from unnest(v_currencies) x),
      '[]'
    )
  );
  -- Held until this commits: a hold that was answered is seen here, and one that comes now waits, so no payout appears
  -- after its answer.
  select x.*
  into s
  from account_setting x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = p_account
  for share;
  v_now := clock(p_tenant, p_live);
  delete from payout_block k
  where
    k.tenant_id = p_tenant
    and k.livemode = p_live
    and k.account_id = p_account
    and not exists (
      select
      from balance x
      where
        x.tenant_id = p_tenant
        and x.livemode = p_live
        and x.account_id = p_account
        and x.currency = k.currency
        and x.available > 0
    );
  -- What is owed comes first: as long as any is, nothing leaves, in whatever currency.
  v_owes := exists (
    select
    from balance x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = p_account and x.available < 0
  );
  for c in
    select x.currency
    from balance x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = p_account and x.available > 0
    order by 1
  loop
    d := payout_address(p_tenant, p_live, p_account, c);
    -- What has come in between is not locked: the next try locks it.
    if not array[c, coalesce(d.currency, c)] <@ v_currencies then
      v_again := true;
      continue;
    end if;
    select x.*
    into b
    from balance x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = p_account and x.currency = c;
    select e.amount, e.rate into v_amount, v_rate from exchanged(p_tenant, p_live, b.available, c, d.currency) e;
    v_reason := case
      when not coalesce(s.payouts_enabled, false) then 'not_enabled'
      when v_owes then 'balance_negative'
      when d.id is null then 'address_missing'
      when v_rate is null then 'rate_missing'
      when v_amount is null then 'amount_too_large'
      when v_amount <= 0 then 'amount_too_small'
    end;
    perform block_payout(p_tenant, p_live, p_call, v, c, nullif(v_reason, 'not_enabled'));
    if v_reason is not null then
      v_later := v_later or v_reason <> 'amount_too_small';
      continue;
    end if;
    v_id := new_id('payout');
    v_payment := insert_payment(p_tenant, p_live, v, 'payout', v_amount, d.currency, 'processing', null);
    insert into payout
      (
        tenant_id,
        livemode,
        id,
        created,
        account_id,
        address_id,
        amount,
        currency,
        status,
        payment_id,
        source_amount,
        source_currency,
        rate,
        context_id,
        on_root_list
      )
    values
      (
        p_tenant,
        p_live,
        v_id,
        v_now,
        p_account,
        d.id,
        v_amount,
        d.currency,
        'processing',
        v_payment,
        b.available,
        c,
        v_rate,
        v.context_id,
        v.on_root_list
      )
    returning *
    into y;
    if c <> d.currency then
      perform post(
        p_tenant,
        p_live,
        'conversion_out',
        v_id,
        v_payment,
        jsonb_build_array(leg(p_account, 'available', c, -b.available), leg(p_account, 'processing', c, b.available))
      );
      perform post(
        p_tenant,
        p_live,
        'conversion',
        v_id,
        v_payment,
        jsonb_build_array(
          leg(p_account, 'processing', c, -b.available),
          contra_leg('fx', c, b.available),
          contra_leg('fx', d.currency, -v_amount),
          leg(p_account, 'processing', d.currency, v_amount)
        )
      );
      perform post(
        p_tenant,
        p_live,
        'conversion_in',
        v_id,
        v_payment,
        jsonb_build_array(
          leg(p_account, 'processing', d.currency, -v_amount),
          leg(p_account, 'available', d.currency, v_amount)
        )
      );
    end if;
    perform post(
      p_tenant,
      p_live,
      'payout',
      v_id,
      v_payment,
      jsonb_build_array(
        leg(p_account, 'available', d.currency, -v_amount),
        leg(p_account, 'payout_processing', d.currency, v_amount)
      )
    );
    -- The locks whose money it is go along, an aggregator's users' too, by their batches, which are few however many
    -- locks there are.
    update lock_batch k
    set payout_id = v_id
    where
      k.tenant_id = p_tenant
      and k.livemode = p_live
      and k.account_id = p_account
      and k.held_in = c
      and k.payout_id is null;
    if not p_live then
      perform enqueue(p_tenant, p_live, 'settle_payout', v_id, 60);
    end if;
    perform emit_event(p_tenant, p_live, p_call, 'payout.processing', 'payout', to_jsonb(y));
  end loop;
  if v_later then
    perform schedule_payout(p_tenant, p_live, p_account, true);
  end if;
  if v_again then
    perform enqueue(p_tenant, p_live, 'pay_out', p_account, 0);
  end if;
end;
$$;

-- The end of a payout, once: completed or failed share one cause. The money and the status move at once. The locks
-- follow: the first 500 by the same statement, which are all that nearly every payout has, and the rest by jobs,
-- because no statement may take longer the more locks there are. Until then those receivables tell what they told while
-- the payout was under way: locked and not yet settled.
create or replace function move_payout(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof payout
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text'));
  y payout;
  v_to text := v_args ->> 'to';
begin
  select x.* into y from payout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  perform lock_all_balances(p_tenant, p_live, y.account_id);
  update payout x
  set
    status = v_to,
    version = x.version + 1
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = y.id and x.status = 'processing'
  returning *
  into y;
  if not found then
    perform refuse(400, 'status_invalid', 'payout.status');
  end if;
  perform post(
    p_tenant,
    p_live,
    'payout_end',
    y.id,
    y.payment_id,
    jsonb_build_array(
      leg(y.account_id, 'payout_processing', y.currency, -y.amount),
      case v_to
        when 'completed' then contra_leg('payout_rail', y.currency, y.amount)
        else leg(y.account_id, 'available', y.currency, y.amount)
      end
    )
  );
  perform move_payment(p_tenant, p_live, y.payment_id, v_to);
  if v_to = 'completed' then
    perform settle_locks(p_tenant, p_live, p_call, y, null);
  else
    perform free_locks(p_tenant, p_live, p_call, y, null);
    perform schedule_payout(p_tenant, p_live, y.account_id, true);
  end if;
  perform enqueue(p_tenant, p_live, 'retire_address', y.address_id, 0);
  perform emit_event(p_tenant, p_live, p_call, 'payout.' || v_to, 'payout', to_jsonb(y));
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(y));
  return next y;
end;
$$;

-- How many locks one call settles, frees or shrinks. They take 0.1 to 0.8 s, by the load of the machine; the balances
-- of the account are locked meanwhile.
create or replace function locks_per_call()
returns int
language plpgsql
immutable
as $$
begin
  return 500;
end;
$$;

-- Settles the locks of a completed payout, in the order of their ids and from `p_after` on; a job goes on where this
-- call stops. The caller has locked the balances of the payout's account, as every function does that changes these
-- receivables. Each receivable is changed once in a call, and tells one event. Every row is found by its key: a
-- statement for all of them could be planned as a scan of every lock there is.
create or replace function settle_locks(p_tenant text, p_live boolean, p_call jsonb, p_payout payout, p_after text)
returns void
language plpgsql
as $$
declare
  v_locks receivable_lock[];
  v_settled record;
  v_id text;
begin
  v_locks := array(
    select x.k
    from
      lock_batch b
      cross join lateral (
        select k
        from receivable_lock k
        where k.tenant_id = p_tenant and k.livemode = p_live and k.batch_id = b.id and k.id > coalesce(p_after, '')
        order by k.id
        limit locks_per_call()
      ) x
    where b.tenant_id = p_tenant and b.livemode = p_live and b.payout_id = p_payout.id
    order by (x.k).id
    limit locks_per_call()
  );
  for v_settled in
    select l.receivable_id, sum(l.amount)::bigint as amount, array_agg(l.id) as ids
    from unnest(v_locks) l
    where not l.settled and l.amount > 0
    group by 1
    order by 1
  loop
    foreach v_id in array v_settled.ids loop
      update receivable_lock k set settled = true where k.tenant_id = p_tenant and k.livemode = p_live and k.id = v_id;
    end loop;
    perform change_receivable(p_tenant, p_live, p_call, v_settled.receivable_id, -v_settled.amount, v_settled.amount);
  end loop;
  if cardinality(v_locks) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'settle_locks',
      p_payout.account_id,
      0,
      jsonb_build_object('payout', p_payout.id, 'after', v_locks[cardinality(v_locks)].id)
    );
  end if;
end;
$$;

-- Frees the locks of a failed payout, whose money is available again in the payout's currency. Those of deposits that
-- were taken back meanwhile shrink first, the newest before the others, whatever the number of calls; when the last
-- call has seen all of them, their batches are open again. Until then the account is not paid out: a payout takes along
-- the locks whose money it pays.
create or replace function free_locks(p_tenant text, p_live boolean, p_call jsonb, p_payout payout, p_before text)
returns void
language plpgsql
as $$
declare
  v_locks receivable_lock[];
  v_last text;
  v_id text;
begin
  v_locks := array(
    select x.k
    from
      lock_batch b
      cross join lateral (
        select k
        from receivable_lock k
        where
          k.tenant_id = p_tenant
          and k.livemode = p_live
          and k.batch_id = b.id
          and (p_before is null or k.id < p_before)
        order by k.id desc
        limit locks_per_call()
      ) x
    where b.tenant_id = p_tenant and b.livemode = p_live and b.payout_id = p_payout.id
    order by (x.k).id desc
    limit locks_per_call()
  );
  v_last := v_locks[cardinality(v_locks)].id;
  for v_id in select distinct x.deposit_id from unnest(v_locks) x order by 1 loop
    perform shrink_locks(p_tenant, p_live, p_call, v_id, overlocked_of(p_tenant, p_live, v_id), v_last);
  end loop;
  if cardinality(v_locks) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'free_locks',
      p_payout.account_id,
      0,
      jsonb_build_object('payout', p_payout.id, 'before', v_last)
    );
  else
    update lock_batch b
    set
      payout_id = null,
      held_in = p_payout.currency
    where b.tenant_id = p_tenant and b.livemode = p_live and b.payout_id = p_payout.id;
  end if;
end;
$$;

drop function if exists pass_on(text, boolean, jsonb, text, text);
