-- Ends attempts to pay a checkout: by their time, or with what the acquirer or a test helper decided.
--
-- Longer than 60 lines: settle_transaction (two updates with their columns).

-- Ends an attempt. An attempt that failed because its time was over may still succeed, because the payer has really
-- paid; every other end is final, and the same end, reported again, changes nothing. What was taken in another currency
-- pays nothing: it is unexplained, and the attempt ends by its time.
create or replace function settle_transaction(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_id text,
  p_status text,
  p_reason text
)
returns checkout
language plpgsql
as $$
declare
  v transaction;
  c checkout;
  v_now bigint := clock(p_tenant, p_live);
begin
  select t.* into v from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.id = p_id;
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.checkout_id;
  if p_status = 'succeeded' then
    perform lock_balances(
      p_tenant,
      p_live,
      jsonb_build_array(
        jsonb_build_object('account', c.to_account_id, 'currency', c.currency),
        jsonb_build_object('account', transfer_target(p_tenant, p_live, c.to_account_id), 'currency', c.currency)
      )
    );
  end if;
  -- Read both rows again under their locks: another attempt may have succeeded meanwhile.
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id for update;
  select t.* into v from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.id = p_id for update;
  if v.status = 'processing' and p_status = 'failed' then
    update transaction t
    set
      status = 'failed',
      reason_code = p_reason,
      version = t.version + 1,
      updated_at = greatest(t.updated_at, v_now)
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
    perform emit_event(p_tenant, p_live, p_envelope, 'transaction.failed', 'transaction', to_jsonb(v));
    if c.deposit_id is null then
      update checkout x
      set
        effective_transaction_id = v.id,
        effective_transaction_status = 'failed',
        version = x.version + 1,
        updated_at = greatest(x.updated_at, v_now)
      where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id
      returning *
      into c;
      perform emit_event(p_tenant, p_live, p_envelope, 'checkout.updated', 'checkout', to_jsonb(c));
    end if;
  elseif
    p_status = 'succeeded'
    and v.taken_currency <> v.currency
    and (v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired'))
  then
    perform keep_unexplained(p_tenant, p_live, v);
  elseif
    p_status = 'succeeded'
    and (v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired'))
  then
    c := credit_checkout(p_tenant, p_live, p_envelope, c, v);
  end if;
  return c;
end;
$$;

-- Ends an attempt whose time is over.
create or replace function job_expire_transaction(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  c checkout;
begin
  c := settle_transaction(p_tenant, p_live, '{}', p_job.subject_id, 'failed', 'expired');
end;
$$;

-- Ends an attempt as the acquirer has decided.
create or replace function job_settle_transaction(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  c checkout;
begin
  c := settle_transaction(
    p_tenant,
    p_live,
    '{}',
    p_job.subject_id,
    p_job.args ->> 'status',
    p_job.args ->> 'reasonCode'
  );
end;
$$;
