-- The locks of receivables: how they grow in open batches, and shrink when money of their deposit is taken back.

-- Locks the rows of receivables in the order of their ids, as every function does. A function that changes several
-- calls it for all of them before the first change.
create or replace function lock_receivables(p_tenant text, p_live boolean, p_ids text[])
returns void
language plpgsql
as $$
begin
  perform
  from receivable r
  where r.tenant_id = p_tenant and r.livemode = p_live and r.id = any (p_ids)
  order by r.id
  for no key update;
end;
$$;

-- Locks one receivable for its share of a deposit. Refuses a share beyond what it can still take, and one that its
-- currency cannot have: half a yen could not be paid out.
create or replace function lock_receivable(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_deposit deposit,
  p_id text,
  p_amount bigint,
  p_field text
)
returns void
language plpgsql
as $$
declare
  r receivable;
  v_id text := new_id('lock');
  v_now bigint := clock(p_tenant, p_live);
  v_batch text;
begin
  select y.*
  into r
  from receivable y
  where y.tenant_id = p_tenant and y.livemode = p_live and y.id = p_id
  for no key update;
  if r.voided then
    perform refuse(400, 'status_invalid', p_field, 'must not include a receivable that is void');
  end if;
  if p_amount % least_amount(p_deposit.currency) <> 0 then
    perform refuse(400, 'parameter_invalid', p_field, 'must end in .00, since its currency has no minor unit');
  end if;
  if p_amount > r.amount_reconcilable then
    perform refuse(402, 'amount_exceeds_reconcilable', p_field);
  end if;
  v_batch := open_lock_batch(p_tenant, p_live, paid_out_by(p_tenant, p_live, r.account_id), p_deposit.currency);
  insert into receivable_lock
    (tenant_id, livemode, id, created, receivable_id, deposit_id, account_id, currency, amount, batch_id)
  values
    (p_tenant, p_live, v_id, v_now, r.id, p_deposit.id, r.account_id, r.currency, p_amount, v_batch);
  perform change_receivable(p_tenant, p_live, p_envelope, r.id, p_amount, 0);
end;
$$;

-- Returns the open batch of an account's locks whose money is held in a currency, and creates it if there is none.
-- Payouts of the account take the batch along; they and the callers have locked the account's balance in that currency.
create or replace function open_lock_batch(p_tenant text, p_live boolean, p_account text, p_currency text)
returns text
language plpgsql
as $$
declare
  v_id text;
  v_now bigint;
begin
  select b.id
  into v_id
  from lock_batch b
  where
    b.tenant_id = p_tenant
    and b.livemode = p_live
    and b.account_id = p_account
    and b.held_in = p_currency
    and b.payout_id is null
  order by b.id desc
  limit 1;
  if found then
    return v_id;
  end if;
  v_id := new_id('lock_batch');
  v_now := clock(p_tenant, p_live);
  insert into lock_batch (tenant_id, livemode, id, created, account_id, held_in)
  values (p_tenant, p_live, v_id, v_now, p_account, p_currency);
  return v_id;
end;
$$;

-- The newest locks of a deposit from the id `p_from` on that may shrink: of open batches, and of failed and returned
-- payouts unless they are still settled; as many as one call handles.
create or replace function shrinkable_locks(p_tenant text, p_live boolean, p_deposit text, p_from text)
returns receivable_lock[]
language plpgsql
as $$
begin
  return array(
    select k
    from
      receivable_lock k
      join lock_batch b on b.tenant_id = p_tenant and b.livemode = p_live and b.id = k.batch_id
      left join payout y on y.tenant_id = p_tenant and y.livemode = p_live and y.id = b.payout_id
    where
      k.tenant_id = p_tenant
      and k.livemode = p_live
      and k.deposit_id = p_deposit
      and k.amount > 0
      and not k.settled
      and k.id >= coalesce(p_from, '')
      and (b.payout_id is null or y.status in ('failed', 'returned'))
    order by k.id desc
    limit locks_per_call()
  );
end;
$$;

-- Reduces a deposit's locks by `p_amount`, the newest first, but only locks that no payout has taken along. Locks of a
-- failed or returned payout that are being freed count as free. If more locks must shrink than one call handles, a job
-- continues: until then the receivables are locked for more money than there is, and the account is not paid out. With
-- `p_from`, only locks from that id on shrink.
create or replace function shrink_locks(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_deposit text,
  p_amount bigint,
  p_from text default null
)
returns void
language plpgsql
as $$
declare
  v_locks receivable_lock[];
  l receivable_lock;
  v_rest bigint := p_amount;
  v_shrink bigint;
begin
  if v_rest <= 0 then
    return;
  end if;
  v_locks := shrinkable_locks(p_tenant, p_live, p_deposit, p_from);
  -- The newest lock still shrinks first.
  perform lock_receivables(p_tenant, p_live, array(select x.receivable_id from unnest(v_locks) x));
  foreach l in array v_locks loop
    exit when v_rest <= 0;
    v_shrink := least(l.amount, v_rest);
    update receivable_lock k
    set amount = k.amount - v_shrink
    where k.tenant_id = p_tenant and k.livemode = p_live and k.id = l.id;
    perform change_receivable(p_tenant, p_live, p_envelope, l.receivable_id, -v_shrink, 0);
    v_rest := v_rest - v_shrink;
  end loop;
  if v_rest > 0 and p_from is null and cardinality(v_locks) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'shrink_locks',
      paid_out_by(p_tenant, p_live, l.account_id),
      0,
      jsonb_build_object('deposit', p_deposit)
    );
  end if;
end;
$$;

-- The amount by which the locks of a deposit exceed its reconciled money, which refunds have made less.
create or replace function overlocked_of(p_tenant text, p_live boolean, p_deposit text)
returns bigint
language plpgsql
stable
as $$
declare
  d deposit;
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_deposit;
  d.disputed := d.disputed + refunded_of(p_tenant, p_live, p_deposit);
  return coalesce(
    (
      select sum(k.amount)
      from receivable_lock k
      where k.tenant_id = p_tenant and k.livemode = p_live and k.deposit_id = p_deposit
    ),
    0
  ) - reconciled_of(d);
end;
$$;

-- Shrinks more locks of a deposit that was taken back, or refunded: the refund keeps which ones until it has ended.
create or replace function job_shrink_locks(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  r refund;
  v_deposit text := p_job.args ->> 'deposit';
begin
  perform lock_all_balances(p_tenant, p_live, p_job.subject_id);
  select x.*
  into r
  from refund x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_job.args ->> 'refund' and x.status = 'pending'
  for update;
  if found then
    perform shrink_for_refund(p_tenant, p_live, '{}', r, overlocked_of(p_tenant, p_live, v_deposit));
  else
    perform shrink_locks(p_tenant, p_live, '{}', v_deposit, overlocked_of(p_tenant, p_live, v_deposit));
  end if;
end;
$$;
