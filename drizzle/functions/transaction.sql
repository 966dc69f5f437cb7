-- Attempts to pay a checkout. An attempt begins by a form of the hosted page, and is decided by the acquirer or by a
-- test helper.

-- An attempt's time ends with its checkout's at the latest, or a code would be shown as good when nothing can be paid
-- any more; a test helper's may come after both.
create or replace function insert_transaction(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_checkout checkout,
  p_key text,
  p_method text,
  p_details jsonb,
  p_seconds bigint
)
returns transaction
language plpgsql
as $$
declare
  v transaction;
  v_id text := new_id('transaction');
  v_now bigint := clock(p_tenant, p_live);
  v_end bigint := greatest(v_now, least(v_now + p_seconds, p_checkout.expires_at));
begin
  insert into transaction
    (
      tenant_id,
      livemode,
      id,
      created,
      checkout_id,
      attempt_key,
      expires_at,
      payment_method,
      payment_method_details,
      amount,
      currency,
      status,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      p_checkout.id,
      p_key,
      v_end,
      p_method,
      nullif(p_details, 'null'),
      p_checkout.gross_amount,
      p_checkout.currency,
      'processing',
      p_checkout.context_id,
      p_checkout.on_root_list
    )
  returning *
  into v;
  perform enqueue(p_tenant, p_live, 'expire_transaction', v_id, v_end - v_now);
  perform emit_event(p_tenant, p_live, p_call, 'transaction.created', 'transaction', to_jsonb(v));
  return v;
end;
$$;

-- Begins an attempt. The same form again is the same attempt. While one is with the acquirer there is no other: a payer
-- is not let to pay twice by mistake; a code that nobody may ever scan hinders nothing.
create or replace function begin_transaction(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('checkoutId text, attemptKey text, paymentMethod text, details? object null, seconds int')
  );
  c checkout;
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
  v_method text := case v_args ->> 'paymentMethod'
    when 'card' then 'cards'
    else 'upi'
  end;
begin
  select x.*
  into c
  from checkout x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'checkoutId'
  for update;
  if c.status <> 'initialized' or c.expires_at <= v_now then
    perform refuse(400, 'status_invalid', 'checkout.status');
  end if;
  select t.*
  into v
  from transaction t
  where
    t.tenant_id = p_tenant
    and t.livemode = p_live
    and t.checkout_id = c.id
    and t.attempt_key = v_args ->> 'attemptKey';
  if found then
    -- Under the same name another attempt, or one that has gone on meanwhile, is not begun again.
    if
      v.status <> 'processing'
      or v.expires_at <= v_now
      or v.payment_method <> v_args ->> 'paymentMethod'
      or v.payment_method_details is distinct from nullif(v_args -> 'details', 'null')
    then
      perform refuse(409, 'state_conflict', 'checkout.effective_transaction', 'The attempt has already progressed.');
    end if;
    return next v;
    return;
  end if;
  if not v_method = any (c.payment_methods) then
    perform refuse(400, 'parameter_invalid', 'checkout.payment_methods', 'do not include this method');
  end if;
  if
    exists (
      select
      from transaction t
      where
        t.tenant_id = p_tenant
        and t.livemode = p_live
        and t.checkout_id = c.id
        and t.status = 'processing'
        and t.payment_method_details is not null
        and t.expires_at > v_now
    )
  then
    perform refuse(
      409,
      'state_conflict',
      'checkout.effective_transaction',
      'A payment of this checkout is being confirmed.'
    );
  end if;
  -- A cap on attempts, against the testing of stolen cards. The page says beforehand when it is reached.
  if
    (
      select count(*) from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.checkout_id = c.id
    ) >= checkout_attempts_max()
  then
    perform refuse(
      429,
      'rate_limit_exceeded',
      'checkout.id',
      'The checkout has had too many attempts; create another.'
    );
  end if;
  v := insert_transaction(
    p_tenant,
    p_live,
    p_call,
    c,
    v_args ->> 'attemptKey',
    v_args ->> 'paymentMethod',
    v_args -> 'details',
    (v_args ->> 'seconds')::bigint
  );
  -- From here on the acquirer may have it, so until it is decided somebody asks: an answer that was lost comes yet.
  perform enqueue(p_tenant, p_live, 'inquire_transaction', v.id, 5);
  return next v;
end;
$$;

-- What the acquirer says of an attempt, at once or, in the sandbox, after a while. Args: id, status, reasonCode,
-- details, and `afterSeconds` or `afterExpiry` of the checkout. Said again it changes nothing, and one code is paid by
-- one payer: what is said about other details than those that were submitted concerns no attempt of ours. A success is
-- the exception, because the payer has been charged: it counts whatever it came with and after the attempt's time, too,
-- and what does not fit is kept for the operator (`mismatch`). `processing` notes that the acquirer has it, or is about
-- to.
create or replace function decide_transaction(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, details? object null, status text, reasonCode? text null, afterSeconds? int,
        afterExpiry? boolean'
    )
  );
  v transaction;
  c checkout;
  v_now bigint := clock(p_tenant, p_live);
  v_open boolean;
  v_fits boolean;
  v_paid boolean;
  v_queued text;
  v_told jsonb := nullif(v_args -> 'details', 'null');
  v_status text := v_args ->> 'status';
begin
  select t.*
  into v
  from transaction t
  where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v_args ->> 'id'
  for update;
  v_open := v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired' and v_status <> 'failed');
  if v_open and v.payment_method_details is null and v_told is not null then
    update transaction t
    set
      payment_method_details = v_told,
      version = t.version + 1
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
    perform emit_event(p_tenant, p_live, p_call, 'transaction.submitted', 'transaction', to_jsonb(v));
  end if;
  v_fits := v_told is null or v_told = v.payment_method_details;
  v_queued := (
    select j.args ->> 'status'
    from job j
    where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'settle_transaction' and j.subject_id = v.id
    order by j.id
    limit 1
  );
  -- A checkout is credited once: the success of another attempt is for the acquirer to refund.
  v_paid := exists (
    select
    from checkout x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.checkout_id and x.deposit_id is not null
  );
  if
    v_status = 'succeeded'
    and v.mismatch is null
    and (not v_fits or v_queued = 'failed' or (v.status = 'failed' and v.reason_code not in ('expired', 'duplicate')))
  then
    update transaction t
    set
      version = t.version + 1,
      mismatch = jsonb_build_object(
        'credited',
        v.status = 'succeeded' or (v_open and v_queued is distinct from 'failed' and not v_paid),
        'details',
        v_told,
        'created',
        v_now::text
      )
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
    perform emit_event(p_tenant, p_live, p_call, 'transaction.mismatched', 'transaction', to_jsonb(v));
  end if;
  if v_open and v_queued is null and (v_fits or v_status = 'succeeded') then
    if v_status <> 'processing' then
      select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.checkout_id;
      perform enqueue(
        p_tenant,
        p_live,
        'settle_transaction',
        v.id,
        case
          when (v_args ->> 'afterExpiry')::boolean then c.expires_at - v_now + 1
          else coalesce((v_args ->> 'afterSeconds')::bigint, 0)
        end,
        jsonb_build_object('status', v_status, 'reasonCode', v_args ->> 'reasonCode')
      );
      delete from job j
      where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id;
    elseif
      not exists (
        select
        from job j
        where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id
      )
    then
      perform enqueue(p_tenant, p_live, 'inquire_transaction', v.id, 5);
    end if;
  end if;
  return next v;
end;
$$;

-- Test helper: an attempt that is decided at once. Whatever state a checkout is in, money may come: a second time, or
-- late.
create or replace function pay_test_checkout(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof checkout
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, status text, reasonCode text null, paymentMethod text, details object, seconds int')
  );
  c checkout;
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  if v_args ->> 'status' = 'succeeded' then
    perform lock_balances(
      p_tenant,
      p_live,
      jsonb_build_array(
        jsonb_build_object('account', c.to_account_id, 'currency', c.currency),
        jsonb_build_object('account', transfer_target(p_tenant, p_live, c.to_account_id), 'currency', c.currency)
      )
    );
  end if;
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id for update;
  if v_args ->> 'status' = 'failed' and (c.status <> 'initialized' or c.expires_at <= v_now) then
    perform refuse(400, 'status_invalid', 'checkout.status');
  end if;
  -- There is no form, so each call is an attempt of its own; one that is sent anew after a lost answer is undone by
  -- `store_idempotent_response`.
  v := insert_transaction(
    p_tenant,
    p_live,
    p_call,
    c,
    new_id('test'),
    v_args ->> 'paymentMethod',
    v_args -> 'details',
    (v_args ->> 'seconds')::bigint
  );
  c := settle_transaction(p_tenant, p_live, p_call, v.id, v_args ->> 'status', v_args ->> 'reasonCode');
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(c));
  return next c;
end;
$$;

drop function if exists insert_transaction(text, boolean, jsonb, checkout, jsonb);
