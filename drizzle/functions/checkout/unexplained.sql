-- Money of acquirers and banks that no object of an account explains.

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
      when p_transaction is null then 'dispute'
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

-- Records what a bank or an acquirer has taken back of a deposit that has nothing left of it, under its reference. The
-- same again changes nothing.
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
  v_amount bigint := -(v_args ->> 'amount')::bigint;
  v_id text := new_id('unexplained');
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.*
  into d
  from deposit x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'depositId';
  insert into unexplained
    (tenant_id, livemode, id, created, deposit_id, amount, currency, reason, status, reference, note)
  values
    (p_tenant, p_live, v_id, v_now, d.id, v_amount, d.currency, 'recorded', 'open', v_reference, v_args ->> 'note')
  on conflict (tenant_id, livemode, reference) do nothing
  returning *
  into v;
  if found then
    perform post_outside(
      p_tenant,
      p_live,
      'unexplained',
      v.id,
      d.payment_id,
      'dispute',
      'unexplained',
      v.amount,
      v.currency
    );
  else
    select x.*
    into v
    from unexplained x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.reference = v_reference;
    if (v.deposit_id, v.amount, v.note) is distinct from (d.id, v_amount, v_args ->> 'note') then
      perform refuse(409, 'state_conflict', 'unexplained.reference', 'was already recorded with different content');
    end if;
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Records what became of it, once. It moves nothing.
-- Without an event: no account sees it.
create or replace function resolve_unexplained(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof unexplained
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, resolution text, resolvedBy text'));
  v unexplained;
  v_now bigint := clock(p_tenant, p_live);
begin
  update unexplained x
  set
    status = 'resolved',
    resolution = v_args ->> 'resolution',
    resolved_by = v_args ->> 'resolvedBy',
    resolved_at = greatest(v_now, x.created)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id' and x.status = 'open'
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'unexplained.status');
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
