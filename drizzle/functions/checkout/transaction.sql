-- Attempts to pay a checkout, and their beginning with a form of the hosted page.
--
-- Longer than 60 lines: insert_transaction (an insert with its columns); begin_transaction (the refusals in their
-- order).

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
  update checkout c
  set
    last_tried_at = v_now,
    version = c.version + 1,
    updated_at = greatest(c.updated_at, v_now)
  where c.tenant_id = p_tenant and c.livemode = p_live and c.id = p_checkout.id;
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
  v_now bigint;
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
  -- Read the clock after the lock, so that no attempt begins for a checkout that expired meanwhile.
  v_now := clock(p_tenant, p_live);
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
