-- What becomes of unexplained money: the decision of what took it back.

-- Brings back what was taken back and is in no balance, because the dispute was decided for the account: as much of it
-- as was not taken from the account since. It is resolved, and a refund that fails later does not cover it. What an
-- operator has recorded of it stays. The caller has locked the balances of the deposit.
create or replace function settle_unexplained(p_tenant text, p_live boolean, p_unexplained unexplained, p_payment text)
returns unexplained
language plpgsql
as $$
declare
  v unexplained;
  v_text text := 'The acquirer decided the dispute for the account: the money came back.';
  v_now bigint := clock(p_tenant, p_live);
begin
  update unexplained x
  set
    decision = 'won',
    status = 'resolved',
    resolution = case
      when coalesce(x.resolved_by, 'tidegate') = 'tidegate' then v_text
      else x.resolution
    end,
    resolved_by = coalesce(x.resolved_by, 'tidegate'),
    resolved_at = case
      when coalesce(x.resolved_by, 'tidegate') = 'tidegate' then greatest(v_now, x.created)
      else x.resolved_at
    end
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_unexplained.id
  returning *
  into strict v;
  if -v.amount > v.covered then
    perform post_outside(
      p_tenant,
      p_live,
      'dispute_won',
      v.id,
      coalesce(p_payment, v.id),
      'dispute',
      'unexplained',
      -v.amount - v.covered,
      v.currency
    );
  end if;
  return v;
end;
$$;

-- Records how a chargeback was decided that no balance had, so that it is unexplained and no dispute. The money of a
-- won one comes back: to the account what a refund that failed had covered, as that of a won dispute does, and the rest
-- to its contra account. A lost one moves nothing. The same again changes nothing; the other decision is a conflict. So
-- is a won one of a deposit that a bank has reversed: the reversal has taken all of it, what comes back, too.
create or replace function decide_unexplained(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof unexplained
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text'));
  d deposit;
  v unexplained;
begin
  select x.* into v from unexplained x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  if v.reason is distinct from 'recorded' then
    perform refuse(
      409,
      'state_conflict',
      'unexplained.reason',
      'is not that of a dispute without a deposit of its own'
    );
  end if;
  if v.deposit_id is not null then
    select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.deposit_id;
    perform lock_money_of(p_tenant, p_live, d);
    select x.*
    into d
    from deposit x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.deposit_id
    for update;
  end if;
  select x.*
  into v
  from unexplained x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id'
  for update;
  if v.decision <> v_args ->> 'to' then
    perform refuse(409, 'state_conflict', 'dispute.status', 'was already decided the other way');
  elseif v.decision is null and v_args ->> 'to' = 'won' then
    if d.status = 'reversed' then
      perform refuse(
        409,
        'state_conflict',
        'deposit.status',
        'A bank has reversed the deposit and has all of it. Say what became of the unexplained money.'
      );
    end if;
    if v.covered > 0 then
      perform return_covered(p_tenant, p_live, p_envelope, d.id, v.reference);
    end if;
    v := settle_unexplained(p_tenant, p_live, v, d.payment_id);
  elseif v.decision is null then
    update unexplained x
    set decision = 'lost'
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.id
    returning *
    into strict v;
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Records what became of unexplained money, once. It moves nothing.
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
