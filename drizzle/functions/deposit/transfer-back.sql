-- Transfers back: what is taken from a user of an aggregator comes from the platform, which has got the user's money.

-- Covers what an aggregator's user is below zero by a payment of type `transfer` with a negative amount: the platform
-- gives back what it got. Its available money may then be below zero; money in its payouts stays there. Does nothing
-- for other accounts. `p_cause` is that of the posting that took the money, which is covered once. The caller has
-- locked both balances.
create or replace function transfer_back(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_account text,
  p_currency text,
  p_cause text
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
    return;
  end if;
  select b.available
  into v_amount
  from balance b
  where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.currency = p_currency;
  if v_amount is null or v_amount >= 0 then
    return;
  end if;
  select a.* into v from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account;
  v_payment := insert_payment(p_tenant, p_live, v, 'transfer', v_amount, p_currency, 'completed', null);
  perform post(
    p_tenant,
    p_live,
    'transfer_back',
    coalesce(p_cause, v_payment),
    v_payment,
    jsonb_build_array(
      leg(p_account, 'available', p_currency, -v_amount),
      leg(v_target, 'available', p_currency, v_amount)
    )
  );
  select y.* into p from payment y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_payment;
  perform emit_event(p_tenant, p_live, p_envelope, 'payment.completed', 'payment', to_jsonb(p));
  perform forget_payout_blocks(p_tenant, p_live, v_target);
end;
$$;

-- Finds the users of an aggregator that are below zero since a release without transfers back, and leaves each to a job
-- that it enqueues, some balances in each call. The platform is paid nothing until all of these jobs are done.
-- Without an event: the transfers have their own events.
create or replace function job_find_debts(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_wait bigint := (p_job.args ->> 'notBefore')::bigint - wall_clock();
  v_after text := coalesce(p_job.args ->> 'after', '');
  v_up_to text;
  v_account text;
begin
  -- The job is due earlier when a test clock has moved.
  if v_wait > 0 then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, v_wait, p_job.args);
    return;
  end if;
  select max(x.account_id)
  into v_up_to
  from
    (
      select b.account_id
      from balance b
      where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id > v_after
      order by b.account_id
      limit 500
    ) x;
  if v_up_to is null then
    return;
  end if;
  for v_account in
    select distinct b.account_id
    from balance b
    where
      b.tenant_id = p_tenant
      and b.livemode = p_live
      and b.account_id > v_after
      and b.account_id <= v_up_to
      and b.available < 0
      and b.account_id <> p_job.subject_id
    order by 1
  loop
    perform enqueue(p_tenant, p_live, 'transfer_back', p_job.subject_id, 0, jsonb_build_object('account', v_account));
  end loop;
  perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, 0, jsonb_build_object('after', v_up_to));
end;
$$;

-- Covers what a user of an aggregator is below zero, in every currency.
create or replace function job_transfer_back(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_account text := p_job.args ->> 'account';
  v_currency text;
  v_currencies text[] := array(
    select b.currency
    from balance b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = v_account and b.available < 0
    order by 1
  );
begin
  perform lock_balances(p_tenant, p_live, balance_keys(array[v_account, p_job.subject_id], v_currencies));
  foreach v_currency in array v_currencies loop
    perform transfer_back(p_tenant, p_live, '{}', v_account, v_currency, null);
  end loop;
end;
$$;
