-- Receivables: creation, changes and voiding. Only deposits and payouts change their locked and settled amounts.
--
-- Longer than 60 lines: create_receivable (one insert with its columns); update_receivable (checks under a lock and one
-- update with its columns).

create or replace function create_receivable(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof receivable
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'accountId text, customerId? text null, currency text, amountMaximumReconcilable bigint,
        description? text null, invoice object, purposeCode text, transactionType text, metadata? object null,
        unlessSeen? boolean'
    )
  );
  v receivable;
  v_now bigint := clock(p_tenant, p_live);
  v_id text := new_id('receivable');
  o account;
begin
  if (v_args ->> 'unlessSeen')::boolean then
    perform refuse_seen_receivable(p_tenant, p_live, v_args);
  end if;
  -- Check the status again under a lock: after the response to a hold or a deactivation, the account gets no new live
  -- receivable.
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId'
  for share;
  if p_live and o.status <> 'activated' then
    perform refuse(
      400,
      'status_invalid',
      'receivable.account_id',
      'Only an activated account can create live receivables. Activate the account first.'
    );
  end if;
  insert into receivable
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      customer_id,
      currency,
      amount_maximum_reconcilable,
      description,
      invoice,
      purpose_code,
      transaction_type,
      metadata,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      o.id,
      v_args ->> 'customerId',
      v_args ->> 'currency',
      (v_args ->> 'amountMaximumReconcilable')::bigint,
      v_args ->> 'description',
      v_args -> 'invoice',
      v_args ->> 'purposeCode',
      v_args ->> 'transactionType',
      merge_metadata(null, v_args -> 'metadata', 'receivable.metadata'),
      o.context_id,
      o.on_root_list
    )
  returning *
  into v;
  perform index_object(p_tenant, p_live, 'receivable', null, to_jsonb(v));
  perform emit_event(p_tenant, p_live, p_envelope, 'receivable.created', 'receivable', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Changes a receivable. The maximum can be lowered, but not below the locked and settled amounts, and can be raised up
-- to the amount of the invoice.
create or replace function update_receivable(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof receivable
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, amountMaximumReconcilable? bigint null, customerId? text null, description? text null,
        metadata? object null'
    )
  );
  v receivable;
  v_old jsonb;
  v_maximum bigint := (v_args ->> 'amountMaximumReconcilable')::bigint;
  v_now bigint := clock(p_tenant, p_live);
begin
  select r.*
  into v
  from receivable r
  where r.tenant_id = p_tenant and r.livemode = p_live and r.id = v_args ->> 'id'
  for no key update;
  if v.voided and v_maximum is not null then
    perform refuse(400, 'status_invalid', 'receivable.status');
  end if;
  if v_maximum > (v.invoice ->> 'amount')::bigint then
    perform refuse(
      402,
      'amount_exceeds_reconcilable',
      'receivable.amount_maximum_reconcilable',
      'must be at most the amount of the invoice'
    );
  end if;
  if v_maximum < v.amount_locked + v.amount_settled_payouts then
    perform refuse(
      402,
      'amount_exceeds_reconcilable',
      'receivable.amount_maximum_reconcilable',
      'must be at least what is locked and settled already'
    );
  end if;
  v_old := to_jsonb(v);
  update receivable r
  set
    amount_maximum_reconcilable = coalesce(v_maximum, r.amount_maximum_reconcilable),
    customer_id = case
      when v_args ? 'customerId' then v_args ->> 'customerId'
      else r.customer_id
    end,
    description = case
      when v_args ? 'description' then v_args ->> 'description'
      else r.description
    end,
    metadata = case
      when v_args ? 'metadata' then merge_metadata(r.metadata, v_args -> 'metadata', 'receivable.metadata')
      else r.metadata
    end,
    version = r.version + 1,
    updated_at = greatest(r.updated_at, v_now)
  where r.tenant_id = p_tenant and r.livemode = p_live and r.id = v.id
  returning *
  into v;
  if v_args ? 'metadata' then
    perform index_object(p_tenant, p_live, 'receivable', v_old, to_jsonb(v));
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'receivable.updated', 'receivable', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

create or replace function void_receivable(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof receivable
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
  v receivable;
  v_now bigint := clock(p_tenant, p_live);
begin
  update receivable r
  set
    voided = true,
    version = r.version + 1,
    updated_at = greatest(r.updated_at, v_now)
  where
    r.tenant_id = p_tenant
    and r.livemode = p_live
    and r.id = v_args ->> 'id'
    and not r.voided
    and r.amount_locked = 0
    and r.amount_settled_payouts = 0
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'receivable.status');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'receivable.voided', 'receivable', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
