-- Payouts of available money. An account has a `pay_out` job as long as it has available money.
--
-- Longer than 60 lines: pay_out (checks under locks and one insert with its columns).

-- Returns the newest usable payout address of a currency, or else the newest of any currency. Locks its row until the
-- caller commits, so that the address is retired either before this function reads it, or after the check that retires
-- it can see the payout.
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
    -- An address that was replaced while this waited for the lock is not usable any more; the next query sees its
    -- replacement.
    exit when found;
    d := null;
  end loop;
  return d;
end;
$$;

-- Records why money of a currency could not be paid out when it was due; a null reason removes the record. Emits an
-- event when the reason changes, and not each time that the payout is tried again.
create or replace function block_payout(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
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
    perform emit_event(p_tenant, p_live, p_envelope, 'payout.blocked', 'payout_block', to_jsonb(v));
  end if;
end;
$$;

-- Removes the records of why money of an account could not be paid out, in the currencies in which nothing is available
-- any more.
create or replace function forget_payout_blocks(p_tenant text, p_live boolean, p_account text)
returns void
language plpgsql
as $$
begin
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
end;
$$;

-- Pays out all available money of an account, one payout per currency, each to the newest usable payout address of that
-- currency or else the newest of any currency. Money that cannot be paid now gets a recorded reason, and is tried again
-- at the next interval; an amount that is too small waits for more money. Where payouts are off, the setting says why.
create or replace function pay_out(p_tenant text, p_live boolean, p_envelope jsonb, p_account text)
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
  -- Lock the setting until this commits: a hold whose response was sent is visible here, and a new hold waits, so no
  -- payout appears after the response to a hold.
  select x.*
  into s
  from account_setting x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = p_account
  for share;
  v_now := clock(p_tenant, p_live);
  perform forget_payout_blocks(p_tenant, p_live, p_account);
  -- A debt comes first: as long as any balance is negative, no money leaves in any currency.
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
    -- A balance that this payout needs only since the locks were taken is not locked: the next try locks it.
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
    perform block_payout(p_tenant, p_live, p_envelope, v, c, nullif(v_reason, 'not_enabled'));
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
      perform convert_available(p_tenant, p_live, v_id, v_payment, p_account, c, b.available, d.currency, v_amount);
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
    -- It takes along the few batches of locks whose money it pays, including those of an aggregator's users.
    update lock_batch k
    set payout_id = v_id
    where
      k.tenant_id = p_tenant
      and k.livemode = p_live
      and k.account_id = p_account
      and k.held_in = c
      and k.payout_id is null;
    -- It takes the money of earlier payouts that failed or came back.
    update payout x
    set retried_by = v_id
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.account_id = p_account
      and x.status in ('failed', 'returned')
      and x.retried_by is null
      and x.currency = c;
    if not p_live then
      perform enqueue(p_tenant, p_live, 'settle_payout', v_id, 60);
    end if;
    perform emit_event(p_tenant, p_live, p_envelope, 'payout.processing', 'payout', to_jsonb(y));
  end loop;
  if v_later then
    perform schedule_payout(p_tenant, p_live, p_account, true);
  end if;
  if v_again then
    perform enqueue(p_tenant, p_live, 'pay_out', p_account, 0);
  end if;
end;
$$;

-- Pays an account out. While a job still frees the locks of a failed payout, or shrinks the locks of a deposit that was
-- taken back, the payout waits: it must take along the locks whose money it pays. An aggregator's payout also waits for
-- the jobs that cover what its users are below zero.
create or replace function job_pay_out(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  perform lock_all_balances(p_tenant, p_live, p_job.subject_id);
  if
    exists (
      select
      from job x
      where
        x.tenant_id = p_tenant
        and x.livemode = p_live
        and x.subject_id = p_job.subject_id
        and x.kind in ('free_locks', 'shrink_locks', 'find_debts', 'transfer_back')
    )
  then
    perform enqueue(p_tenant, p_live, 'pay_out', p_job.subject_id, 1);
  else
    perform pay_out(p_tenant, p_live, '{}', p_job.subject_id);
  end if;
end;
$$;
