-- Money of acquirers and banks that no object of an account explains.
--
-- Longer than 60 lines: insert_taken_back (its columns, and those of its posting); keep_taken_back (what was recorded
-- before, and what of the deposit no balance has).

-- Stores such money, and posts it to its contra account: it is in no balance. An acquirer took it with an attempt, or,
-- as a negative amount, what took money back took it beyond the deposit `p_deposit`, which has a negative amount. The
-- posting belongs to a payment, or to the row itself where there is none.
create or replace function insert_unexplained(
  p_tenant text,
  p_live boolean,
  p_transaction text,
  p_deposit text,
  p_payment text,
  p_amount bigint,
  p_currency text,
  p_reason text
)
returns text
language plpgsql
as $$
declare
  v_id text := new_id('unexplained');
  v_now bigint := clock(p_tenant, p_live);
begin
  insert into unexplained
    (tenant_id, livemode, id, created, transaction_id, deposit_id, amount, currency, reason, status)
  values
    (p_tenant, p_live, v_id, v_now, p_transaction, p_deposit, p_amount, p_currency, p_reason, 'open');
  perform post_outside(
    p_tenant,
    p_live,
    'unexplained',
    v_id,
    coalesce(p_payment, v_id),
    case
      when p_amount < 0 then 'dispute'
      else 'acquirer'
    end,
    'unexplained',
    p_amount,
    p_currency
  );
  return v_id;
end;
$$;

-- Stores what an attempt's success took beyond the attempt, or in another currency, if it did.
create or replace function keep_unexplained(p_tenant text, p_live boolean, p_transaction transaction)
returns void
language plpgsql
as $$
declare
  v transaction := p_transaction;
begin
  if v.taken_currency <> v.currency then
    perform insert_unexplained(
      p_tenant,
      p_live,
      v.id,
      null,
      v.payment_id,
      v.taken_amount,
      v.taken_currency,
      'other_currency'
    );
  elseif v.taken_amount > v.amount then
    perform insert_unexplained(
      p_tenant,
      p_live,
      v.id,
      null,
      v.payment_id,
      v.taken_amount - v.amount,
      v.currency,
      'beyond_attempt'
    );
  end if;
end;
$$;

-- Stores what was taken back of a deposit under its reference, with a note, and posts it; or of an attempt that was
-- taken in another currency, and so has no deposit. Returns NULL when money is stored under the reference already, or a
-- dispute or recall has it. The caller has locked the balances of the deposit.
create or replace function insert_taken_back(
  p_tenant text,
  p_live boolean,
  p_transaction text,
  p_deposit deposit,
  p_amount bigint,
  p_currency text,
  p_reference text,
  p_note text
)
returns unexplained
language plpgsql
as $$
declare
  v unexplained;
  v_id text := new_id('unexplained');
  v_now bigint := clock(p_tenant, p_live);
begin
  -- A dispute or recall and unexplained money are in two tables: no unique index keeps one reference to one of them.
  perform lock_root(p_tenant, p_live);
  if
    exists (
      select
      from clawback c
      where
        c.tenant_id = p_tenant
        and c.livemode = p_live
        and c.kind in ('chargeback', 'recall')
        and c.reference = p_reference
    )
  then
    return null;
  end if;
  insert into unexplained
    (tenant_id, livemode, id, created, transaction_id, deposit_id, amount, currency, reason, status, reference, note)
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      p_transaction,
      p_deposit.id,
      -p_amount,
      p_currency,
      'recorded',
      'open',
      p_reference,
      p_note
    )
  on conflict (tenant_id, livemode, reference) do nothing
  returning *
  into v;
  if found then
    perform post_outside(
      p_tenant,
      p_live,
      'unexplained',
      v.id,
      coalesce(p_deposit.payment_id, v.id),
      'dispute',
      'unexplained',
      v.amount,
      v.currency
    );
  end if;
  return v;
end;
$$;

-- The most that can have been taken back of a deposit: what was ever paid for it.
create or replace function paid_for(p_tenant text, p_live boolean, p_deposit deposit)
returns bigint
language plpgsql
stable
as $$
begin
  return (
    select greatest(p_deposit.amount, max(coalesce(t.taken_amount, t.amount)))
    from transaction t
    where t.tenant_id = p_tenant and t.livemode = p_live and t.deposit_id = p_deposit.id
  );
end;
$$;

-- Keeps what was taken back of a deposit as unexplained where no balance has it, once under its reference, and says
-- whether it did: refunds and disputes have left nothing of the deposit, the deposit is the second payment of a
-- checkout, which is in no balance, or the money is in another currency. What is more than was ever paid was not taken
-- back. The same again changes nothing; another deposit, amount or currency under the reference is a conflict. The
-- caller has locked the balances of the deposit.
create or replace function keep_taken_back(
  p_tenant text,
  p_live boolean,
  p_kind text,
  p_reference text,
  p_deposit text,
  p_amount bigint,
  p_currency text,
  p_note text
)
returns boolean
language plpgsql
as $$
declare
  d deposit;
  u unexplained;
  v_currency text;
  v_disputed boolean;
begin
  perform lock_root(p_tenant, p_live);
  v_disputed := exists (
    select
    from clawback c
    where c.tenant_id = p_tenant and c.livemode = p_live and c.kind = p_kind and c.reference = p_reference
  );
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_deposit;
  v_currency := coalesce(p_currency, d.currency);
  select x.*
  into u
  from unexplained x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.reference = p_reference;
  if
    (v_disputed and v_currency <> d.currency)
    or (
      not v_disputed
      and u.id is not null
      and (u.deposit_id, u.amount, u.currency) is distinct from (d.id, coalesce(-p_amount, u.amount), v_currency)
    )
  then
    perform refuse(409, 'state_conflict', 'deposit.reference', 'was already recorded with different content');
  elseif v_disputed or u.id is not null then
    return not v_disputed;
  end if;
  if
    d.amount < 0
    or coalesce(p_amount, 0) <= 0
    or (v_currency = d.currency and p_amount > paid_for(p_tenant, p_live, d))
    or (
      d.reason_code is distinct from 'duplicate'
      and (
        d.status <> 'completed'
        or (v_currency = d.currency and d.amount > d.disputed + refunded_of(p_tenant, p_live, d.id))
      )
    )
  then
    return false;
  end if;
  u := insert_taken_back(p_tenant, p_live, null, d, p_amount, v_currency, p_reference, p_note);
  -- Money of another deposit was stored under the reference meanwhile, or what takes back in the other way has it.
  if u.id is null then
    perform refuse(409, 'state_conflict', 'deposit.reference', 'was already recorded with different content');
  end if;
  return true;
end;
$$;

-- Records by hand what a bank or an acquirer has taken back of a deposit that has nothing left of it, under its
-- reference, which no dispute or recall has. The same again changes nothing. Where something is left, a dispute or a
-- recall takes it: kept here, it would stay with the account.
-- Without an event: no account sees it.
create or replace function record_unexplained(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof unexplained
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('depositId text, amount bigint, reference text, note text'));
  d deposit;
  v unexplained;
  v_reference text := checked_reference(v_args ->> 'reference', 'unexplained.reference');
  v_amount bigint := (v_args ->> 'amount')::bigint;
  v_left_text text := 'is of a deposit that has money left or is not completed. Open a dispute or record a recall.';
begin
  select x.*
  into d
  from deposit x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'depositId';
  perform lock_money_of(p_tenant, p_live, d);
  -- Read again below the lock, because another write may have changed it.
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id;
  v := insert_taken_back(p_tenant, p_live, null, d, v_amount, d.currency, v_reference, v_args ->> 'note');
  if v.id is null then
    select x.*
    into v
    from unexplained x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.reference = v_reference;
    if (v.deposit_id, v.amount, v.note) is distinct from (d.id, -v_amount, v_args ->> 'note') then
      perform refuse(409, 'state_conflict', 'unexplained.reference', 'was already recorded with different content');
    end if;
  elseif v_amount > paid_for(p_tenant, p_live, d) then
    perform refuse(402, 'amount_exceeds_deposit', 'unexplained.amount', 'is more than was paid');
  elseif
    d.reason_code is distinct from 'duplicate'
    and (
      d.status not in ('completed', 'reversed')
      or (d.status = 'completed' and d.amount > d.disputed + refunded_of(p_tenant, p_live, d.id))
    )
  then
    perform refuse(409, 'state_conflict', 'unexplained.amount', v_left_text);
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
