-- The decisions of disputes.
--
-- Longer than 60 lines: return_disputed (one posting and the three rows that it changes).

-- Decides a dispute, answered or not. A lost one moves no money; that of a won one comes back: what its deposit
-- took, and what a further one under its reference has taken of a refund that failed.
create or replace function decide_dispute(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof dispute
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text'));
  d deposit;
  v deposit;
  r dispute;
begin
  select x.* into r from dispute x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  if v_args ->> 'to' = 'won' then
    select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.deposit_id;
    perform lock_money_of(p_tenant, p_live, d);
    perform from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id for update;
  end if;
  r := end_dispute(p_tenant, p_live, p_envelope, v_args ->> 'id', '{needs_response,under_review}', v_args ->> 'to');
  if r.status = 'won' then
    for v in
      select n.*
      from deposit n
      where
        n.tenant_id = p_tenant
        and n.livemode = p_live
        and n.disputes_id = r.deposit_id
        and n.status = 'completed'
        and (
          n.id = r.debit_deposit_id
          or (
            n.bank_details ->> 'reference' = r.reference
            and not exists (
              select
              from clawback c
              where c.tenant_id = p_tenant and c.livemode = p_live and c.reference = r.reference and c.deposit_id = n.id
            )
          )
        )
      order by n.id
    loop
      perform return_disputed(p_tenant, p_live, p_envelope, r, v);
    end loop;
  end if;
  return next r;
end;
$$;

-- Gives the money back that a won dispute took by a deposit. It is pending of the deposit again, to be reconciled
-- again, except as far as the deposit still counts towards receivables because a payout has taken their locks along:
-- that part is available, and makes up for what the dispute took from there. If the deposit has been reversed
-- meanwhile, the reversal takes the money, too. The caller has locked the balances and the deposit.
create or replace function return_disputed(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_dispute dispute,
  p_debit deposit
)
returns void
language plpgsql
as $$
declare
  r dispute := p_dispute;
  d deposit;
  v deposit := p_debit;
  v_amount bigint := -p_debit.amount;
  v_cause text := case
    when p_debit.id = p_dispute.debit_deposit_id then p_dispute.id
    else p_debit.id
  end;
  v_category text;
  v_receiver text;
  v_locked bigint := 0;
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.deposit_id;
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
    v_cause,
    v.payment_id,
    jsonb_build_array(
      contra_leg('dispute', r.currency, -v_amount),
      leg(d.to_account_id, v_category, r.currency, v_amount - v_locked),
      leg(v_receiver, 'available', r.currency, v_locked)
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
    perform claw_back(p_tenant, p_live, p_envelope, d, v_amount, 'reversal', v_cause, v.payment_id, v_category);
  elseif v_locked > 0 then
    perform sweep_to_platform(p_tenant, p_live, p_envelope, v_receiver, d.currency);
  end if;
end;
$$;
