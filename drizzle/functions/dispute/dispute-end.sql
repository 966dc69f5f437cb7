-- The decisions of disputes.
--
-- Longer than 60 lines: return_disputed (one posting and the three rows that it changes).

-- Decides a dispute, answered or not. A lost one moves no money; that of a won one comes back: what its deposit
-- took, what further ones under its reference have taken of refunds that failed, and what was taken beyond the deposit,
-- which is in no balance.
create or replace function decide_dispute(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof dispute
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text'));
  d deposit;
  v deposit;
  r dispute;
  u unexplained;
begin
  select x.* into r from dispute x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  if v_args ->> 'to' = 'won' then
    select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.deposit_id;
    perform lock_money_of(p_tenant, p_live, d);
    select x.*
    into d
    from deposit x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id
    for update;
  end if;
  r := end_dispute(p_tenant, p_live, p_envelope, v_args ->> 'id', '{needs_response,under_review}', v_args ->> 'to');
  if r.status = 'won' then
    select n.*
    into v
    from deposit n
    where n.tenant_id = p_tenant and n.livemode = p_live and n.id = r.debit_deposit_id and n.status = 'completed';
    if found then
      perform return_disputed(p_tenant, p_live, p_envelope, v, r.id);
    end if;
    perform return_covered(p_tenant, p_live, p_envelope, d.id, r.reference);
    select x.*
    into u
    from unexplained x
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.deposit_id = r.debit_deposit_id
      and x.reason = 'beyond_deposit';
    -- A reversal has taken all of a deposit: what comes back is the bank's. The row is then of what refunds have paid
    -- back, which one that fails covers, and otherwise the operator says who bears it.
    if found and d.status = 'completed' then
      perform settle_unexplained(p_tenant, p_live, u, v.payment_id);
    end if;
  end if;
  return next r;
end;
$$;

-- Gives back what further deposits under the reference of a won dispute of a deposit have taken of refunds that failed.
-- The caller has locked the balances and the deposit.
create or replace function return_covered(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_deposit text,
  p_reference text
)
returns void
language plpgsql
as $$
declare
  v deposit;
begin
  for v in
    select n.*
    from deposit n
    where
      n.tenant_id = p_tenant
      and n.livemode = p_live
      and n.disputes_id = p_deposit
      and n.status = 'completed'
      and n.bank_details ->> 'reference' = p_reference
      and not exists (
        select
        from clawback c
        where c.tenant_id = p_tenant and c.livemode = p_live and c.reference = p_reference and c.deposit_id = n.id
      )
    order by n.id
  loop
    perform return_disputed(p_tenant, p_live, p_envelope, v, v.id);
  end loop;
end;
$$;

-- Gives the money back that a won dispute took by a deposit, caused by the dispute, or by that deposit where it is a
-- further one. It is pending of the deposit again, to be reconciled
-- again, except as far as the deposit still counts towards receivables because a payout has taken their locks along:
-- that part is available, and makes up for what the dispute took from there. If the deposit has been reversed
-- meanwhile, the reversal takes the money, too. The caller has locked the balances and the deposit.
create or replace function return_disputed(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_debit deposit,
  p_cause text
)
returns void
language plpgsql
as $$
declare
  d deposit;
  v deposit := p_debit;
  v_amount bigint := -p_debit.amount;
  v_category text;
  v_receiver text;
  v_locked bigint := 0;
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.disputes_id;
  v_category := category_of(p_tenant, p_live, d);
  v_receiver := receiver_of(p_tenant, p_live, d.to_account_id);
  if v_category = 'pending' and d.status = 'completed' then
    v_locked := least(v_amount, greatest(0, overlocked_of(p_tenant, p_live, d.id)));
  end if;
  update deposit x
  set
    status = 'reversed',
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.id
  returning *
  into strict v;
  perform move_payment(p_tenant, p_live, v.payment_id, 'reversed');
  if d.status = 'completed' then
    perform change_deposit_totals(p_tenant, p_live, v, -1);
  end if;
  perform post(
    p_tenant,
    p_live,
    'dispute_won',
    p_cause,
    v.payment_id,
    jsonb_build_array(
      contra_leg('dispute', v.currency, -v_amount),
      leg(d.to_account_id, v_category, v.currency, v_amount - v_locked),
      leg(v_receiver, 'available', v.currency, v_locked)
    )
  );
  update deposit x
  set
    disputed = x.disputed - v_amount,
    pending_rest = x.pending_rest + case
      when v_category = 'pending' then v_amount - v_locked
      else 0
    end,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id
  returning *
  into d;
  perform emit_event(p_tenant, p_live, p_envelope, 'deposit.reversed', 'deposit', to_jsonb(v));
  if d.status = 'reversed' then
    perform claw_back(p_tenant, p_live, p_envelope, d, v_amount, 'reversal', p_cause, v.payment_id, v_category);
  elseif v_locked > 0 then
    perform sweep_to_platform(p_tenant, p_live, p_envelope, v_receiver, d.currency);
  end if;
end;
$$;
