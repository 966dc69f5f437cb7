-- Disputes as objects: opened with the deposit that took their money, answered, accepted and decided.
--
-- Longer than 60 lines: return_disputed (one posting and the three rows that it changes).

-- Makes the object of a dispute whose money was taken by the deposit `p_debit`, and returns it: both are of
-- the same second. Emits its event.
create or replace function insert_dispute(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_debit deposit,
  p_respond_by bigint,
  p_acquirer_reason text
)
returns dispute
language plpgsql
as $$
declare
  r dispute;
begin
  insert into dispute
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      deposit_id,
      debit_deposit_id,
      amount,
      currency,
      status,
      reason_code,
      acquirer_reason,
      respond_by,
      reference,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      new_id('dispute'),
      p_debit.created,
      p_debit.to_account_id,
      p_debit.disputes_id,
      p_debit.id,
      -p_debit.amount,
      p_debit.currency,
      'needs_response',
      p_debit.reason_code,
      p_acquirer_reason,
      p_respond_by,
      p_debit.bank_details ->> 'reference',
      p_debit.context_id,
      p_debit.on_root_list
    )
  returning *
  into r;
  perform emit_event(p_tenant, p_live, p_envelope, 'dispute.opened', 'dispute', to_jsonb(r));
  return r;
end;
$$;

-- Opens a dispute of a completed deposit in live mode, under the reference of the bank or the acquirer that has taken
-- the money back. The same again returns the dispute as it is, and changes nothing.
create or replace function open_dispute(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof dispute
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, reference text, reasonCode text, amount? bigint, respondBy? int null, acquirerReason? text null')
  );
  v_reference text := checked_reference(v_args ->> 'reference', 'deposit.reference');
  d deposit;
  v deposit;
  r dispute;
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  perform lock_money_of(p_tenant, p_live, d);
  v := dispute_once(
    p_tenant,
    p_live,
    p_envelope,
    'chargeback',
    v_reference,
    d.id,
    (v_args ->> 'amount')::bigint,
    v_args ->> 'reasonCode'
  );
  select x.* into r from dispute x where x.tenant_id = p_tenant and x.livemode = p_live and x.debit_deposit_id = v.id;
  if not found then
    r := insert_dispute(p_tenant, p_live, p_envelope, v, (v_args ->> 'respondBy')::bigint, v_args ->> 'acquirerReason');
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(r));
  return next r;
end;
$$;

-- Answers a dispute with evidence, once and until its last second: whoever decides it gets nothing afterwards.
create or replace function respond_to_dispute(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof dispute
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, text text null, fileIds text[]'));
  v_now bigint := clock(p_tenant, p_live);
  r dispute;
begin
  update dispute x
  set
    status = 'under_review',
    evidence_text = v_args ->> 'text',
    evidence_file_ids = array(
      select f
      from jsonb_array_elements_text(v_args -> 'fileIds') with ordinality e (f, n)
      order by n
    ),
    submitted_at = v_now,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where
    x.tenant_id = p_tenant
    and x.livemode = p_live
    and x.id = v_args ->> 'id'
    and x.status = 'needs_response'
    and coalesce(x.respond_by, v_now) >= v_now
  returning *
  into r;
  if not found then
    perform refuse(
      400,
      'status_invalid',
      'dispute.status',
      'is answered once, and until its last moment (respond_by). Its decision is awaited, or known.'
    );
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'dispute.responded', 'dispute', to_jsonb(r));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(r));
  return next r;
end;
$$;

-- Changes the status of a dispute for good, from one of `p_from`, and emits its event. Refuses any other status.
create or replace function end_dispute(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_id text,
  p_from text[],
  p_to text
)
returns dispute
language plpgsql
as $$
declare
  v_now bigint := clock(p_tenant, p_live);
  r dispute;
begin
  update dispute x
  set
    status = p_to,
    decided_at = v_now,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_id and x.status = any (p_from)
  returning *
  into r;
  if not found then
    perform refuse(400, 'status_invalid', 'dispute.status');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'dispute.' || p_to, 'dispute', to_jsonb(r));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(r));
  return r;
end;
$$;

-- Accepts a dispute that nobody has answered. No money moves: it was taken when the dispute was opened.
create or replace function accept_dispute(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof dispute
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
begin
  return next end_dispute(p_tenant, p_live, p_envelope, v_args ->> 'id', '{needs_response}', 'accepted');
end;
$$;

-- Decides a dispute, answered or not. A lost one moves no money; that of a won one comes back.
create or replace function decide_dispute(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof dispute
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text'));
  d deposit;
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
    perform return_disputed(p_tenant, p_live, p_envelope, r);
  end if;
  return next r;
end;
$$;

-- Gives the money of a won dispute back. It is pending of the deposit again, to be reconciled again, except as far as
-- the deposit still counts towards receivables because a payout has taken their locks along: that part is available,
-- and makes up for what the dispute took from there. If the deposit has been reversed meanwhile, the reversal takes the
-- money, too. The caller has locked the balances and the deposit.
create or replace function return_disputed(p_tenant text, p_live boolean, p_envelope jsonb, p_dispute dispute)
returns void
language plpgsql
as $$
declare
  r dispute := p_dispute;
  d deposit;
  v deposit;
  v_category text;
  v_receiver text;
  v_locked bigint := 0;
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.deposit_id;
  v_category := category_of(p_tenant, p_live, d);
  v_receiver := receiver_of(p_tenant, p_live, d.to_account_id);
  if v_category = 'pending' and d.status = 'completed' then
    v_locked := least(r.amount, greatest(0, overlocked_of(p_tenant, p_live, d.id)));
  end if;
  update deposit x
  set
    status = 'reversed',
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.debit_deposit_id
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
    r.id,
    v.payment_id,
    jsonb_build_array(
      contra_leg('dispute', r.currency, -r.amount),
      leg(d.to_account_id, v_category, r.currency, r.amount - v_locked),
      leg(v_receiver, 'available', r.currency, v_locked)
    )
  );
  update deposit x
  set
    disputed = x.disputed - r.amount,
    pending_rest = x.pending_rest + case
      when v_category = 'pending' then r.amount - v_locked
      else 0
    end,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id
  returning *
  into d;
  perform emit_event(p_tenant, p_live, p_envelope, 'deposit.reversed', 'deposit', to_jsonb(v));
  if d.status = 'reversed' then
    perform claw_back(p_tenant, p_live, p_envelope, d, r.amount, 'reversal', r.id, v.payment_id, v_category);
  elseif v_locked > 0 then
    perform sweep_to_platform(p_tenant, p_live, p_envelope, v_receiver, d.currency);
  end if;
end;
$$;
