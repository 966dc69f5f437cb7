-- Totals of deposits by hour and day. A call that changes whether a deposit counts stores the change, and the worker
-- adds the stored changes to the totals. A reader adds the totals and the changes that are still stored, in one
-- statement: the result is exact at any moment, and no write waits for a total.

-- The deposits that count: the completed ones, and their disputes with negative amounts. A reversed deposit does not
-- count, and neither do its disputes: together they took back the whole deposit.
-- The disputed deposit is looked up by its key, because PostgreSQL could plan a join as a scan of all deposits.
create or replace view counted_deposit as
  select
    d.tenant_id,
    d.livemode,
    d.id,
    d.created,
    d.to_account_id,
    d.context_id,
    d.on_root_list,
    d.payment_method,
    d.currency,
    d.amount
  from deposit d
  where
    d.status = 'completed'
    and coalesce(
      (
        select o.status
        from deposit o
        where o.tenant_id = d.tenant_id and o.livemode = d.livemode and o.id = d.disputes_id
      ),
      ''
    ) <> 'reversed';

-- Stores that a deposit counts from now on (1), or that it and its disputes do not count any more (-1): those that were
-- not won, which count no more since then. Returns the deposit's id.
create or replace function change_deposit_totals(p_tenant text, p_live boolean, p_deposit deposit, p_count int)
returns text
language plpgsql
as $$
declare
  d deposit;
begin
  insert into deposit_total_change
    (tenant_id, livemode, to_account_id, deposit_id, count, created, context_id, payment_method, currency, amount)
  values
    (
      p_tenant,
      p_live,
      p_deposit.to_account_id,
      p_deposit.id,
      p_count,
      p_deposit.created,
      p_deposit.context_id,
      p_deposit.payment_method,
      p_deposit.currency,
      p_deposit.amount * p_count
    );
  if p_count > 0 then
    return p_deposit.id;
  end if;
  for d in
    select x.*
    from deposit x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.disputes_id = p_deposit.id and x.status = 'completed'
    order by x.id
  loop
    insert into deposit_total_change
      (tenant_id, livemode, to_account_id, deposit_id, count, created, context_id, payment_method, currency, amount)
    values
      (
        p_tenant,
        p_live,
        d.to_account_id,
        d.id,
        p_count,
        d.created,
        d.context_id,
        d.payment_method,
        d.currency,
        d.amount * p_count
      );
  end loop;
  return p_deposit.id;
end;
$$;

-- Adds changes to the totals of the receiving account, of the account on whose list the deposit is, and of the root
-- account. The totals are locked in the order of their keys, so two workers never wait for each other in a circle.
create or replace function add_to_deposit_totals(p_tenant text, p_live boolean, p_changes deposit_total_change[])
returns void
language plpgsql
as $$
begin
  insert into deposit_total
    (tenant_id, livemode, account_id, of_others, seconds, start, payment_method, currency, count, amount)
  select
    p_tenant,
    p_live,
    a.account_id,
    a.account_id <> c.to_account_id,
    s.seconds,
    c.created - c.created % s.seconds,
    c.payment_method,
    c.currency,
    sum(c.count),
    sum(c.amount)
  from
    unnest(p_changes) c
    cross join lateral (
      select c.to_account_id
      union
      select c.context_id
      union
      select 'account_' || p_tenant
    ) a (account_id)
    cross join (
      values
        (3600),
        (86400)
    ) s (seconds)
  where c.count <> 0
  group by 3, 4, 5, 6, 7, 8
  order by 3, 4, 5, 6, 7, 8
  on conflict (tenant_id, livemode, account_id, of_others, seconds, start, payment_method, currency) do update
    set
      count = deposit_total.count + excluded.count,
      amount = deposit_total.amount + excluded.amount;
end;
$$;

-- Adds stored changes to the totals and deletes them, at most `p_limit`; returns how many. Several workers may do this
-- at once: each takes the changes that no other one has locked. Until the deposits from before the totals have been
-- added, the changes stay, because adding a deposit needs to know which of its changes are stored.
-- Without an event: the deposits have their own events.
create or replace function sum_deposits(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  v_changes deposit_total_change[];
begin
  if exists (select from deposit_total_backfill b where b.tenant_id = p_tenant and b.livemode = p_live) then
    return 0;
  end if;
  v_changes := array(
    select c
    from deposit_total_change c
    where c.tenant_id = p_tenant and c.livemode = p_live
    order by c.to_account_id, c.deposit_id, c.count
    limit p_limit
    for update skip locked
  );
  perform add_to_deposit_totals(p_tenant, p_live, v_changes);
  delete from deposit_total_change c
  using unnest(v_changes) x
  where
    c.tenant_id = p_tenant
    and c.livemode = p_live
    and c.to_account_id = x.to_account_id
    and c.deposit_id = x.deposit_id
    and c.count = x.count;
  return cardinality(v_changes);
end;
$$;

-- Returns the deposits after `p_after` in the order of their ids, at most `p_limit`, as they counted before their
-- stored changes: a deposit that did not count then has the count 0. Its own changes and its disputed deposit are
-- looked up by their keys, because PostgreSQL could plan joins as scans of all deposits.
create or replace function deposits_before_changes(p_tenant text, p_live boolean, p_after text, p_limit int)
returns deposit_total_change[]
language plpgsql
stable
as $$
begin
  return array(
    select
      row(
        p_tenant,
        p_live,
        x.to_account_id,
        x.id,
        x.count,
        x.created,
        x.context_id,
        x.payment_method,
        x.currency,
        x.count * x.amount
      )::deposit_total_change
    from
      (
        select
          d.to_account_id,
          d.id,
          d.created,
          d.context_id,
          d.payment_method,
          d.currency,
          d.amount,
          (
            d.status = 'completed'
            and coalesce(
              (
                select o.status
                from deposit o
                where o.tenant_id = p_tenant and o.livemode = p_live and o.id = d.disputes_id
              ),
              ''
            ) <> 'reversed'
          )::int - (
            select coalesce(sum(c.count), 0)
            from deposit_total_change c
            where
              c.tenant_id = p_tenant
              and c.livemode = p_live
              and c.to_account_id = d.to_account_id
              and c.deposit_id = d.id
          )::int as count
        from deposit d
        where d.tenant_id = p_tenant and d.livemode = p_live and d.id > p_after
        order by d.id
        limit p_limit
      ) x
    order by x.id
  );
end;
$$;

-- Totals that are not the sum of the deposits that count. Deposits that are still to be added are left out.
create or replace view deposit_total_violations as
  with
    change as (
      select tenant_id, livemode, id, created, to_account_id, context_id, payment_method, currency, 1 as count, amount
      from counted_deposit
      union all
      select
        tenant_id,
        livemode,
        deposit_id,
        created,
        to_account_id,
        context_id,
        payment_method,
        currency,
        -count,
        -amount
      from deposit_total_change
    ),
    share as (
      select
        c.tenant_id,
        c.livemode,
        a.account_id,
        a.account_id <> c.to_account_id as of_others,
        s.seconds,
        c.created - c.created % s.seconds as start,
        c.payment_method,
        c.currency,
        c.count,
        c.amount
      from
        change c
        left join deposit_total_backfill b on b.tenant_id = c.tenant_id and b.livemode = c.livemode
        cross join lateral (
          select c.to_account_id
          union
          select c.context_id
          union
          select 'account_' || c.tenant_id
        ) a (account_id)
        cross join (
          values
            (3600),
            (86400)
        ) s (seconds)
      where c.id <= coalesce(b.up_to, c.id)
      union all
      select
        tenant_id,
        livemode,
        account_id,
        of_others,
        seconds,
        start,
        payment_method,
        currency,
        -count,
        -amount
      from deposit_total
    )
  select
    tenant_id,
    livemode,
    'deposit total is not the sum of its deposits' as rule,
    concat_ws(' ', account_id, payment_method, currency, to_timestamp(min(start)) at time zone 'utc') as what
  from share
  group by tenant_id, livemode, account_id, of_others, seconds, start, payment_method, currency
  having sum(count) <> 0 or sum(amount) <> 0;
