-- Disputes as objects: opened with the deposit that took their money, answered and accepted.

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
-- the money back. The same again returns the dispute as it is, and changes nothing. Returns none where no balance has
-- the money: it is then unexplained, under the same reference. The currency is that of the deposit if it is not given.
create or replace function open_dispute(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof dispute
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, reference text, reasonCode text, amount? bigint, currency? text, respondBy? int null,
        acquirerReason? text null'
    )
  );
  v_reference text := checked_reference(v_args ->> 'reference', 'deposit.reference');
  d deposit;
  v deposit;
  r dispute;
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  perform lock_money_of(p_tenant, p_live, d);
  if
    keep_taken_back(
      p_tenant,
      p_live,
      'chargeback',
      v_reference,
      d.id,
      (v_args ->> 'amount')::bigint,
      v_args ->> 'currency',
      concat_ws(': ', 'Chargeback, ' || (v_args ->> 'reasonCode'), v_args ->> 'acquirerReason')
    )
  then
    return;
  end if;
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
