-- Decisions about attempts to pay a checkout, by the acquirer or a test helper.
--
-- Longer than 60 lines: decide_transaction (one decision per state of the attempt).

-- Records what the acquirer reports about an attempt, at once or, in the sandbox, after a delay. Arguments: id, status,
-- reasonCode, details, and `afterSeconds` or `afterExpiry` of the checkout. The same report again changes nothing. Only
-- one payer pays a code, so a report with other details than the submitted ones belongs to no attempt of ours. A
-- success is the exception, because the payer has been charged: it counts with any details and also after the attempt
-- has expired, and `mismatch` keeps what does not fit for the operator. The first success says what was taken, by
-- default the amount of the attempt; a later one with another amount is kept in `mismatch`. `processing` records that
-- the acquirer has the attempt, or is about to receive it.
create or replace function decide_transaction(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, details? object null, status text, reasonCode? text null, amount? bigint, currency? text,
        afterSeconds? int, afterExpiry? boolean'
    )
  );
  v transaction;
  c checkout;
  v_now bigint := clock(p_tenant, p_live);
  v_amount bigint := (v_args ->> 'amount')::bigint;
  v_currency text := v_args ->> 'currency';
  v_contradicts boolean;
  v_mismatch jsonb;
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
  v_open := v.taken_amount is null
  and (v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired' and v_status <> 'failed'));
  if v_open and v.payment_method_details is null and v_told is not null then
    update transaction t
    set
      payment_method_details = v_told,
      version = t.version + 1,
      updated_at = greatest(t.updated_at, v_now)
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
  v_contradicts := v_amount is not null
  and (
    coalesce(v_queued = 'succeeded', false)
    or v.taken_amount is not null
    or v.status = 'succeeded'
    or coalesce(v.reason_code = 'duplicate', false)
  )
  and (v_amount, v_currency) is distinct from (
    coalesce(v.taken_amount, v.amount),
    coalesce(v.taken_currency, v.currency)
  );
  if
    v_status = 'succeeded'
    and v_open
    and v_queued is null
    and (v_amount, v_currency) is distinct from (v.amount, v.currency)
    and v_amount is not null
  then
    update transaction t
    set
      taken_amount = v_amount,
      taken_currency = v_currency,
      version = t.version + 1,
      updated_at = greatest(t.updated_at, v_now)
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
  end if;
  if
    v_status = 'succeeded'
    and v.mismatch is null
    and (
      v_contradicts
      or not v_fits
      or v_queued = 'failed'
      or (v.status = 'failed' and v.reason_code not in ('expired', 'duplicate'))
    )
  then
    -- Before the update: a cluster refuses this function in a CASE of it.
    v_mismatch := jsonb_build_object(
      'credited',
      v.status = 'succeeded'
      or (
        (v_open or v_queued is not distinct from 'succeeded')
        and v_queued is distinct from 'failed'
        and not v_paid
        and coalesce(v.taken_currency, v.currency) = v.currency
      ),
      'details',
      v_told,
      'created',
      v_now::text
    );
    if v_contradicts or (v_amount, v_currency) <> (v.amount, v.currency) then
      v_mismatch := v_mismatch || jsonb_build_object('amount', v_amount::text, 'currency', v_currency);
    end if;
    update transaction t
    set
      version = t.version + 1,
      updated_at = greatest(t.updated_at, v_now),
      mismatch = v_mismatch
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
  elseif v_status = 'failed' and v_fits and v.reason_code = 'expired' then
    -- It has ended by its time already. There is nothing more to ask.
    delete from job j
    where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id;
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
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
    args_of(
      'id text, status text, reasonCode text null, paymentMethod text, details object, seconds int, amount? bigint,
        currency? text'
    )
  );
  c checkout;
  v transaction;
  v_amount bigint;
  v_currency text;
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
  if v_args ->> 'status' = 'failed' and (c.status <> 'initialized' or c.expires_at <= clock(p_tenant, p_live)) then
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
  v_amount := coalesce((v_args ->> 'amount')::bigint, v.amount);
  v_currency := coalesce(v_args ->> 'currency', v.currency);
  if (v_amount, v_currency) <> (v.amount, v.currency) then
    update transaction t
    set
      taken_amount = v_amount,
      taken_currency = v_currency,
      version = t.version + 1,
      updated_at = greatest(t.updated_at, t.created)
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id;
  end if;
  c := settle_transaction(p_tenant, p_live, p_envelope, v.id, v_args ->> 'status', v_args ->> 'reasonCode');
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(c));
  return next c;
end;
$$;
