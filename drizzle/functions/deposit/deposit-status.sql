-- Changes of the status of a deposit. Each function locks the balances that it may change before anything else.
--
-- Longer than 60 lines: move_deposit (the status and all its effects).

-- Changes a deposit's status. Completion posts its money; a reversal takes all of it back that disputes and refunds
-- have left.
create or replace function move_deposit(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, from text[], to text, reasonCode? text null'));
  v deposit;
  v_id text := v_args ->> 'id';
  v_to text := v_args ->> 'to';
  v_category text;
  v_from text[] := array(select jsonb_array_elements_text(v_args -> 'from'));
  v_row jsonb;
  v_now bigint;
begin
  select d.* into v from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id;
  if v_to in ('completed', 'reversed') then
    perform lock_money_of(p_tenant, p_live, v);
  end if;
  -- Read the row again under its lock: a concurrent statement may have changed it.
  select d.* into v from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id for update;
  v_now := clock(p_tenant, p_live);
  -- A test helper may end a deposit that has not begun: the deposit then passes through `processing`.
  if v.status = 'initialized' and v_to in ('completed', 'failed') and 'initialized' = any (v_from) then
    update deposit d
    set
      status = 'processing',
      version = d.version + 1,
      updated_at = greatest(d.updated_at, v_now)
    where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id and d.status = 'initialized'
    returning *
    into v;
    if found then
      perform emit_event_at(p_tenant, p_live, p_envelope, 'deposit.processing', 'deposit', to_jsonb(v), v_now);
    end if;
  end if;
  v_category := category_of(p_tenant, p_live, v);
  update deposit d
  set
    status = v_to,
    version = d.version + 1,
    updated_at = greatest(d.updated_at, v_now),
    reason_code = coalesce(v_args ->> 'reasonCode', d.reason_code),
    pending_rest = case
      when v_to = 'completed'
      and v_category = 'pending' then d.amount
      else d.pending_rest
    end
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.id = v_id
    and d.status = any (v_from)
    and (v_to <> 'reversed' or d.amount > 0)
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'deposit.status');
  end if;
  if v_to = 'completed' then
    perform post(
      p_tenant,
      p_live,
      'deposit',
      v_id,
      v.payment_id,
      source_legs(p_tenant, p_live, v) || leg(v.to_account_id, v_category, v.currency, v.amount)
    );
    perform move_payment(p_tenant, p_live, v.payment_id, 'completed');
    perform change_deposit_totals(p_tenant, p_live, v, 1);
    if v.pending_rest > 0 and auto_reconciles(p_tenant, p_live, v.to_account_id) then
      perform enqueue(p_tenant, p_live, 'match_deposit', v_id, 0);
    end if;
  elseif v_to = 'reversed' then
    perform claw_back(
      p_tenant,
      p_live,
      p_envelope,
      v,
      v.amount - v.disputed - refunded_of(p_tenant, p_live, v_id),
      'reversal',
      v_id,
      v.payment_id,
      v_category
    );
    perform move_payment(p_tenant, p_live, v.payment_id, 'reversed');
    perform change_deposit_totals(p_tenant, p_live, v, -1);
    select d.* into v from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id;
  elseif v_to in ('failed', 'cancelled') then
    perform move_payment(p_tenant, p_live, v.payment_id, v_to);
  end if;
  v_row := to_jsonb(v);
  perform emit_event_at(p_tenant, p_live, p_envelope, 'deposit.' || v_to, 'deposit', v_row, v_now);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, v_row);
  return next v;
end;
$$;
