-- Credits the money of a successful attempt. A checkout is credited once: the balances are locked first, then the
-- checkout.
--
-- Longer than 60 lines: credit_checkout (a deposit and two updates, in the order of their locks).

-- Credits the money of a successful attempt: what the acquirer took, up to the amount of the checkout. The first
-- success of a checkout is credited, and locks the receivables in their order, each for as much as it can still take;
-- what was taken beyond the attempt is unexplained. Any other success becomes a failed deposit and posts nothing: a job
-- refunds it.
create or replace function credit_checkout(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_checkout checkout,
  p_transaction transaction
)
returns checkout
language plpgsql
as $$
declare
  c checkout := p_checkout;
  v transaction := p_transaction;
  d deposit;
  v_from account;
  v_to account;
  v_first boolean := p_checkout.deposit_id is null;
  v_id text := new_id('deposit');
  v_now bigint := clock(p_tenant, p_live);
  v_amount bigint := least(coalesce(p_transaction.taken_amount, p_transaction.amount), p_checkout.amount);
  v_address text;
  v_payment text;
  v_locked bigint;
begin
  select a.* into v_to from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = c.to_account_id;
  select a.*
  into v_from
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = c.from_account_id
  for no key update;
  v_address := payment_address(p_tenant, p_live, p_envelope, v_from, v.payment_method, c.currency);
  v_payment := insert_payment(
    p_tenant,
    p_live,
    v_to,
    'checkout',
    v_amount,
    c.currency,
    case
      when v_first then 'processing'
      else 'failed'
    end,
    v_id
  );
  update payment p set checkout_id = c.id where p.tenant_id = p_tenant and p.livemode = p_live and p.id = v_payment;
  d.id := v_id;
  d.created := v_now;
  d.amount := v_amount;
  d.currency := c.currency;
  d.from_account_id := v_from.id;
  d.from_address_id := v_address;
  d.to_account_id := v_to.id;
  d.to_address_id := c.to_address_id;
  d.payment_method := v.payment_method;
  d.payment_method_details := v.payment_method_details;
  d.reason_code := case
    when not v_first then 'duplicate'
  end;
  d.statement_descriptor := c.id;
  d.status := case
    when v_first then 'processing'
    else 'failed'
  end;
  d.payment_id := v_payment;
  d.context_id := c.context_id;
  d.on_root_list := c.on_root_list;
  d := insert_deposit(p_tenant, p_live, d);
  update transaction t
  set
    status = case
      when v_first then 'succeeded'
      else 'failed'
    end,
    reason_code = case
      when not v_first then 'duplicate'
    end,
    payment_id = v_payment,
    deposit_id = v_id,
    version = t.version + 1,
    updated_at = greatest(t.updated_at, v_now)
  where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
  returning *
  into v;
  perform emit_event(p_tenant, p_live, p_envelope, 'transaction.' || v.status, 'transaction', to_jsonb(v));
  if not v_first then
    perform emit_event(p_tenant, p_live, p_envelope, 'deposit.failed', 'deposit', to_jsonb(d));
    perform enqueue(p_tenant, p_live, 'send_refund', v.id, 0);
    return c;
  end if;
  -- A payment after the checkout's time is late, even if no worker has expired the checkout yet.
  if c.status = 'initialized' and c.expires_at <= v_now then
    select e.*
    into c
    from end_checkout(p_tenant, p_live, p_envelope - 'key', jsonb_build_object('id', c.id, 'to', 'expired')) e;
  end if;
  update checkout x
  set
    status = case
      when x.status = 'initialized' then 'completed'
      else x.status
    end,
    effective_transaction_id = v.id,
    effective_transaction_status = 'succeeded',
    deposit_id = v_id,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id
  returning *
  into c;
  perform move_deposit(
    p_tenant,
    p_live,
    p_envelope - 'key',
    jsonb_build_object('id', v_id, 'from', jsonb_build_array('processing'), 'to', 'completed')
  );
  select y.* into d from deposit y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_id;
  perform keep_unexplained(p_tenant, p_live, v);
  v_locked := lock_receivables_of(p_tenant, p_live, p_envelope, c, d);
  if v_locked > 0 then
    d := make_available(p_tenant, p_live, p_envelope, v_id, v_locked);
    perform emit_event(
      p_tenant,
      p_live,
      p_envelope,
      'deposit.reconciled',
      'deposit',
      to_jsonb(d) || jsonb_build_object('allocations', allocations_of(p_tenant, p_live, v_id))
    );
  end if;
  perform emit_event(
    p_tenant,
    p_live,
    p_envelope,
    case
      when c.status = 'completed' then 'checkout.completed'
      else 'checkout.late_payment'
    end,
    'checkout',
    to_jsonb(c)
  );
  return c;
end;
$$;

-- Locks the receivables of a checkout in their order, each for as much as it can still take of the deposit. Returns the
-- amount of all locks.
create or replace function lock_receivables_of(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_checkout checkout,
  p_deposit deposit
)
returns bigint
language plpgsql
as $$
declare
  r receivable;
  v_receivable text;
  v_share bigint;
  v_rest bigint := p_deposit.amount;
begin
  perform lock_receivables(p_tenant, p_live, p_checkout.receivable_ids);
  foreach v_receivable in array p_checkout.receivable_ids loop
    exit when v_rest = 0;
    select y.* into r from receivable y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_receivable;
    v_share := least(v_rest, r.amount_reconcilable);
    continue when v_share <= 0;
    perform lock_receivable(p_tenant, p_live, p_envelope, p_deposit, r.id, v_share, 'deposit.receivables');
    v_rest := v_rest - v_share;
  end loop;
  return p_deposit.amount - v_rest;
end;
$$;

-- Returns what a new deposit counts towards, in the order of its locks: [{receivable_id, amount}, …].
create or replace function allocations_of(p_tenant text, p_live boolean, p_deposit text)
returns jsonb
language plpgsql
stable
as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('receivable_id', k.receivable_id, 'amount', k.amount::text) order by k.id)
    from receivable_lock k
    where k.tenant_id = p_tenant and k.livemode = p_live and k.deposit_id = p_deposit
  );
end;
$$;

-- The legs for the source of a deposit's money: a bank, or the acquirer and the part that is kept as a fee. The fee is
-- what was taken beyond the amount of the checkout, up to the amount of the attempt.
create or replace function source_legs(p_tenant text, p_live boolean, p_deposit deposit)
returns jsonb
language plpgsql
stable
as $$
declare
  t transaction;
  v_checkout text;
  v_taken bigint;
begin
  -- Not as a join: most deposits have no checkout.
  select p.checkout_id
  into v_checkout
  from payment p
  where p.tenant_id = p_tenant and p.livemode = p_live and p.id = p_deposit.payment_id;
  if v_checkout is null then
    return jsonb_build_array(contra_leg('bank', p_deposit.currency, -p_deposit.amount));
  end if;
  select x.*
  into t
  from transaction x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.deposit_id = p_deposit.id;
  v_taken := least(coalesce(t.taken_amount, t.amount), t.amount);
  return jsonb_build_array(
    contra_leg('acquirer', t.currency, -v_taken),
    contra_leg('fees', t.currency, v_taken - p_deposit.amount)
  );
end;
$$;
