-- Disputes and reversals: both take the money of a deposit back.
--
-- Longer than 60 lines: claw_back (one posting and its effects); dispute_deposit (its locks, its deposit, and what both
-- change).

-- Takes money of a deposit back: first what is still pending of it, then the receiver's available funds, the only
-- compartment that may go below zero because of this. What a user of an aggregator is then below zero comes back from
-- the platform at once. Locks of the deposit that are not in a payout shrink by the amount that came from the available
-- funds; locks in a payout stay until it fails.
create or replace function claw_back(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_deposit deposit,
  p_amount bigint,
  p_kind text,
  p_cause text,
  p_payment text,
  p_category text
)
returns void
language plpgsql
as $$
declare
  v_pending bigint := least(p_deposit.pending_rest, p_amount);
  v_rest bigint;
  v_available bigint;
  v_aggregator text;
  v_receiver text := receiver_of(p_tenant, p_live, p_deposit.to_account_id);
  v_now bigint := clock(p_tenant, p_live);
begin
  v_rest := case
    when p_category = 'fee_advance' then 0
    else p_amount - v_pending
  end;
  if p_amount <= 0 then
    return;
  end if;
  perform post(
    p_tenant,
    p_live,
    p_kind,
    p_cause,
    p_payment,
    jsonb_build_array(
      leg(
        p_deposit.to_account_id,
        p_category,
        p_deposit.currency,
        case
          when p_category = 'fee_advance' then -p_amount
          else -v_pending
        end
      ),
      leg(v_receiver, 'available', p_deposit.currency, -v_rest),
      contra_leg('dispute', p_deposit.currency, p_amount)
    )
  );
  -- The same statement reads what is left, and the aggregator of a user below zero: a further statement would cost
  -- other accounts more than its rows.
  update deposit d
  set
    pending_rest = d.pending_rest - v_pending,
    version = d.version + 1,
    updated_at = greatest(d.updated_at, v_now)
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = p_deposit.id
  returning
    (
      select b.available
      from balance b
      where
        b.tenant_id = p_tenant
        and b.livemode = p_live
        and b.account_id = v_receiver
        and b.currency = p_deposit.currency
    ),
    (
      select o.id
      from
        balance b
        join account o on o.tenant_id = p_tenant and o.livemode = p_live and o.id = b.owner_id
      where
        b.tenant_id = p_tenant
        and b.livemode = p_live
        and b.account_id = v_receiver
        and b.currency = p_deposit.currency
        and b.available < 0
        and o.sub_type = 'aggregator'
    )
  into v_available, v_aggregator;
  if v_available <= 0 then
    perform forget_payout_blocks(p_tenant, p_live, v_receiver);
  end if;
  if v_aggregator is not null then
    perform transfer_back(p_tenant, p_live, p_envelope, v_receiver, p_deposit.currency, p_cause);
  end if;
  perform shrink_locks(p_tenant, p_live, p_envelope, p_deposit.id, v_rest);
end;
$$;

-- The part of a deposit that is counted towards receivables and has not been disputed or reversed.
create or replace function reconciled_of(p_deposit deposit)
returns bigint
language plpgsql
immutable
as $$
begin
  return case p_deposit.status
    when 'reversed' then 0
    else p_deposit.amount - p_deposit.disputed - p_deposit.pending_rest
  end;
end;
$$;

-- Creates a dispute: a separate deposit with a negative amount, at most the undisputed rest of the original. What
-- refunds have taken of that is not taken again: the dispute is then of what they have left. With `respondInSeconds` it
-- has an object beside it, which can be answered for so long; what an earlier release disputes has none.
create or replace function dispute_deposit(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, reasonCode? text null, amount? bigint null, bankReference? text, respondInSeconds? int')
  );
  d deposit;
  v deposit;
  v_to account;
  v_id text := new_id('deposit');
  v_now bigint := clock(p_tenant, p_live);
  v_amount bigint;
  v_left bigint;
  v_payment text;
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  perform lock_money_of(p_tenant, p_live, d);
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id for update;
  if d.status <> 'completed' or d.amount < 0 then
    perform refuse(400, 'status_invalid', 'deposit.status');
  end if;
  v_left := d.amount - d.disputed - refunded_of(p_tenant, p_live, d.id);
  v_amount := coalesce((v_args ->> 'amount')::bigint, v_left);
  if v_amount <= 0 or v_left <= 0 or v_amount > d.amount - d.disputed then
    perform refuse(402, 'amount_exceeds_deposit', 'deposit.amount');
  end if;
  v_amount := least(v_amount, v_left);
  select a.* into v_to from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = d.to_account_id;
  v_payment := insert_payment(p_tenant, p_live, v_to, 'dispute', -v_amount, d.currency, 'completed', v_id);
  -- What it disputes, with what differs.
  v := d;
  v.id := v_id;
  v.created := v_now;
  v.amount := -v_amount;
  v.reason_code := coalesce(v_args ->> 'reasonCode', 'general');
  v.status := 'completed';
  v.metadata := null;
  v.bank_details := case
    when v_args ? 'bankReference' then jsonb_build_object('reference', v_args ->> 'bankReference')
  end;
  v.payment_id := v_payment;
  v.disputes_id := d.id;
  v := insert_deposit(p_tenant, p_live, v);
  perform claw_back(
    p_tenant,
    p_live,
    p_envelope,
    d,
    v_amount,
    'dispute',
    v_id,
    v_payment,
    category_of(p_tenant, p_live, d)
  );
  update deposit x
  set
    disputed = x.disputed + v_amount,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id
  returning *
  into d;
  perform change_deposit_totals(p_tenant, p_live, v, 1);
  perform emit_event(p_tenant, p_live, p_envelope, 'deposit.disputed', 'deposit', to_jsonb(d));
  perform emit_event(p_tenant, p_live, p_envelope, 'deposit.completed', 'deposit', to_jsonb(v));
  if v_args ? 'respondInSeconds' then
    perform insert_dispute(p_tenant, p_live, p_envelope, v, v_now + (v_args ->> 'respondInSeconds')::int, null);
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
