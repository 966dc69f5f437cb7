-- Refunds: money of a completed deposit on its way back to its payer.
--
-- Longer than 60 lines: create_refund (its locks, its row, and what both change).

-- What refunds have taken of a deposit: those that have succeeded, and those that are pending.
create or replace function refunded_of(p_tenant text, p_live boolean, p_deposit text)
returns bigint
language plpgsql
stable
as $$
begin
  return (
    select coalesce(sum(r.amount), 0)::bigint
    from refund r
    where r.tenant_id = p_tenant and r.livemode = p_live and r.deposit_id = p_deposit and r.status <> 'failed'
  );
end;
$$;

-- The account whose available money a refund of a deposit takes: its receiver, or the platform to which the receiver's
-- money has gone.
create or replace function refunding_account(p_tenant text, p_live boolean, p_to text)
returns text
language plpgsql
stable
as $$
begin
  return paid_out_by(p_tenant, p_live, receiver_of(p_tenant, p_live, p_to));
end;
$$;

-- Refunds a part of a completed deposit, or what disputes and refunds have left of it. The money that is not reconciled
-- yet goes first, then available money, which must be enough. It waits in `processing` of the accounts that gave it.
-- With `submits` the mode has an acquirer that carries out the refunds of checkouts.
create or replace function create_refund(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof refund
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('depositId text, amount? bigint null, reason? text null, submits? boolean')
  );
  d deposit;
  r refund;
  v_to account;
  v_now bigint;
  v_left bigint;
  v_category text;
  v_available bigint;
begin
  select x.*
  into d
  from deposit x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'depositId';
  perform lock_money_of(p_tenant, p_live, d);
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id for update;
  if d.status <> 'completed' or d.amount < 0 then
    perform refuse(400, 'status_invalid', 'deposit.status');
  end if;
  v_left := d.amount - d.disputed - refunded_of(p_tenant, p_live, d.id);
  r.amount := coalesce((v_args ->> 'amount')::bigint, v_left);
  if r.amount <= 0 or r.amount > v_left then
    perform refuse(
      402,
      'amount_exceeds_deposit',
      'refund.amount',
      'must be at most what disputes and other refunds have left of the deposit'
    );
  end if;
  v_category := category_of(p_tenant, p_live, d);
  r.from_pending := case
    when v_category = 'fee_advance' then r.amount
    else least(d.pending_rest, r.amount)
  end;
  r.debited_account_id := refunding_account(p_tenant, p_live, d.to_account_id);
  v_available := r.amount - r.from_pending;
  select a.* into v_to from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = d.to_account_id;
  v_now := clock(p_tenant, p_live);
  r.tenant_id := p_tenant;
  r.livemode := p_live;
  r.id := new_id('refund');
  r.created := v_now;
  r.account_id := d.to_account_id;
  r.deposit_id := d.id;
  r.checkout_id := (
    select p.checkout_id
    from payment p
    where p.tenant_id = p_tenant and p.livemode = p_live and p.id = d.payment_id
  );
  r.currency := d.currency;
  r.status := 'pending';
  r.reason := v_args ->> 'reason';
  r.context_id := d.context_id;
  r.on_root_list := d.on_root_list;
  r.version := 0;
  r.payment_id := insert_payment(p_tenant, p_live, v_to, 'refund', -r.amount, d.currency, 'processing', null);
  perform post(
    p_tenant,
    p_live,
    'refund',
    r.id,
    r.payment_id,
    jsonb_build_array(
      leg(d.to_account_id, v_category, d.currency, -r.from_pending),
      leg(d.to_account_id, 'processing', d.currency, r.from_pending),
      leg(r.debited_account_id, 'available', d.currency, -v_available),
      leg(r.debited_account_id, 'processing', d.currency, v_available)
    )
  );
  update deposit x
  set
    pending_rest = x.pending_rest - case
      when v_category = 'pending' then r.from_pending
      else 0
    end,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id;
  insert into refund select x.* from unnest(array[r]) x;
  if v_available > 0 then
    perform forget_payout_blocks(p_tenant, p_live, r.debited_account_id);
    r := shrink_for_refund(p_tenant, p_live, p_envelope, r, v_available);
  end if;
  -- What came through a checkout goes back through the acquirer, which in live mode may be connected later. In test
  -- mode the sandbox completes anything else.
  if r.checkout_id is not null and (p_live or (v_args ->> 'submits')::boolean) then
    perform enqueue(p_tenant, p_live, 'send_refund', r.id, 0);
  elseif not p_live then
    perform enqueue(p_tenant, p_live, 'settle_refund', r.id, 60);
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'refund.created', 'refund', to_jsonb(r) - 'freed_locks');
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(r) - 'freed_locks');
  return next r;
end;
$$;

-- Shrinks locks of a refund's deposit by an amount, as shrink_locks does, and adds to the refund which ones, the oldest
-- first. If more locks must shrink than one call handles, a job continues.
create or replace function shrink_for_refund(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_refund refund,
  p_amount bigint
)
returns refund
language plpgsql
as $$
declare
  r refund;
  v_locks receivable_lock[] := shrinkable_locks(p_tenant, p_live, p_refund.deposit_id, null);
  v_amount bigint := least(p_amount, (select sum(l.amount) from unnest(v_locks) l));
  v_freed jsonb;
  v_now bigint := clock(p_tenant, p_live);
begin
  perform shrink_locks(p_tenant, p_live, p_envelope, p_refund.deposit_id, v_amount);
  select
    jsonb_agg(jsonb_build_object('receivableId', l.receivable_id, 'amount', (l.amount - k.amount)::text) order by l.id)
  into v_freed
  from
    unnest(v_locks) l
    join receivable_lock k on k.tenant_id = p_tenant and k.livemode = p_live and k.id = l.id and k.amount < l.amount;
  update refund x
  set
    freed_locks = nullif(coalesce(v_freed, '[]') || coalesce(x.freed_locks, '[]'), '[]'),
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_refund.id
  returning *
  into r;
  if v_amount < p_amount and cardinality(v_locks) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'shrink_locks',
      r.debited_account_id,
      0,
      jsonb_build_object('deposit', r.deposit_id, 'refund', r.id)
    );
  end if;
  return r;
end;
$$;
