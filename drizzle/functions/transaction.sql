-- Attempts to pay a checkout. An attempt begins with a form of the hosted page, and the acquirer or a test helper
-- decides it.
--
-- Longer than 60 lines: begin_transaction (the refusals in their order); decide_transaction (one decision per state of
-- the attempt).

-- Inserts an attempt. It expires with its checkout at the latest; otherwise the page would show a code as valid when
-- the checkout can no longer be paid. A test helper may create an attempt after the checkout has expired.
create or replace function insert_transaction(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
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
  perform emit_event(p_tenant, p_live, p_envelope, 'transaction.created', 'transaction', to_jsonb(v));
  return v;
end;
$$;

-- Begins an attempt. The same form, sent again, returns the same attempt. While the acquirer has an attempt, no other
-- can begin, so that a payer does not pay twice by mistake. An attempt with a code that has not been scanned blocks no
-- other attempt.
create or replace function begin_transaction(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
    -- Refuse the same attempt key with other content, or for an attempt that has already progressed.
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
    perform refuse(400, 'parameter_invalid', 'checkout.payment_methods', 'must include the method of the attempt');
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
      'A payment of this checkout is being confirmed. Wait for its result.'
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
      'The checkout has had too many attempts. Create another checkout.'
    );
  end if;
  v := insert_transaction(
    p_tenant,
    p_live,
    p_envelope,
    c,
    v_args ->> 'attemptKey',
    v_args ->> 'paymentMethod',
    v_args -> 'details',
    (v_args ->> 'seconds')::bigint
  );
  -- From here on the acquirer may have the attempt, so the worker polls its status until it is decided: an answer that
  -- was lost arrives that way.
  perform enqueue(p_tenant, p_live, 'inquire_transaction', v.id, 5);
  return next v;
end;
$$;

-- Records what the acquirer reports about an attempt, at once or, in the sandbox, after a delay. Arguments: id, status,
-- reasonCode, details, and `afterSeconds` or `afterExpiry` of the checkout. The same report again changes nothing. Only
-- one payer pays a code, so a report with other details than the submitted ones belongs to no attempt of ours. A
-- success is the exception, because the payer has been charged: it counts with any details and also after the attempt
-- has expired, and `mismatch` keeps what does not fit for the operator. `processing` records that the acquirer has the
-- attempt, or is about to receive it.
create or replace function decide_transaction(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
      version = t.version + 1,
      updated_at = v_now
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
    perform emit_event(p_tenant, p_live, p_envelope, 'transaction.submitted', 'transaction', to_jsonb(v));
  end if;
  v_fits := v_told is null or v_told = v.payment_method_details;
  v_queued := (
    select j.args ->> 'status'
    from job j
    where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'settle_transaction' and j.subject_id = v.id
    order by j.id
    limit 1
  );
  -- A checkout is credited once: the acquirer must refund the success of another attempt.
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
      updated_at = v_now,
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
    perform emit_event(p_tenant, p_live, p_envelope, 'transaction.mismatched', 'transaction', to_jsonb(v));
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

-- Test helper: creates an attempt that is decided at once. Money may arrive in any state of a checkout: a second time,
-- or late.
create or replace function pay_test_checkout(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
  -- There is no form, so each call is an attempt of its own. When a client sends a call again after a lost response,
  -- `store_idempotent_response` rolls back the second attempt.
  v := insert_transaction(
    p_tenant,
    p_live,
    p_envelope,
    c,
    new_id('test'),
    v_args ->> 'paymentMethod',
    v_args -> 'details',
    (v_args ->> 'seconds')::bigint
  );
  c := settle_transaction(p_tenant, p_live, p_envelope, v.id, v_args ->> 'status', v_args ->> 'reasonCode');
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(c));
  return next c;
end;
$$;

drop function if exists insert_transaction(text, boolean, jsonb, checkout, jsonb);
