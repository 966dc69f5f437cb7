-- The status of addresses, and what an account says of its receiving ones.
--
-- Longer than 60 lines: move_address (the status and all its effects).

-- What an account's `address` is while no order is under way: activated with any usable receiving address.
create or replace function receiving_state(p_tenant text, p_live boolean, p_account text)
returns text
language plpgsql
stable
as $$
begin
  return case
    when exists (
      select
      from address d
      where
        d.tenant_id = p_tenant
        and d.livemode = p_live
        and d.linked_id = p_account
        and d.category = 'service_receive'
        and d.status = 'activated'
    ) then 'activated'
    else 'deactivated'
  end;
end;
$$;

-- Changes an address's status. The account of a receiving one says whether it has another.
create or replace function move_address(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, from text[], to text'));
  v address;
  v_owner account;
  v_from text[] := array(select jsonb_array_elements_text(v_args -> 'from'));
  v_now bigint := clock(p_tenant, p_live);
begin
  -- An account is locked before its addresses.
  select d.* into v from address d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_args ->> 'id';
  if v.category = 'service_receive' then
    perform
    from account a
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v.linked_id
    for no key update;
  end if;
  -- Spec: Address, status. An expired address is not reusable.
  update address d
  set
    status = v_args ->> 'to',
    is_reusable = d.is_reusable and v_args ->> 'to' <> 'expired',
    version = d.version + 1,
    updated_at = greatest(d.updated_at, v_now)
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_args ->> 'id' and d.status = any (v_from)
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'address.status');
  end if;
  -- A payout locks the row of its address until it commits, so each payout under way to this address is visible here.
  if
    v.category = 'user_payout'
    and exists (
      select
      from payout y
      where y.tenant_id = p_tenant and y.livemode = p_live and y.address_id = v.id and y.status = 'processing'
    )
  then
    perform refuse(
      400,
      'status_invalid',
      'address.status',
      'A payout to this address is under way. Retry when it has ended.'
    );
  end if;
  if v.category = 'user_payout' then
    perform reschedule_payout(p_tenant, p_live, v.linked_id);
  end if;
  if v.category = 'service_receive' and receiving_state(p_tenant, p_live, v.linked_id) = 'deactivated' then
    update account a
    set
      address = 'deactivated',
      version = a.version + 1,
      updated_at = greatest(a.updated_at, v_now)
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v.linked_id and a.address = 'activated'
    returning *
    into v_owner;
    if found then
      perform emit_event(p_tenant, p_live, p_envelope, 'account.updated', 'account', to_jsonb(v_owner));
    end if;
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'address.' || v.status, 'address', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Deactivates a payout address that a newer one has replaced, once no payout to it is under way.
create or replace function job_retire_address(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  d address;
  v_now bigint := clock(p_tenant, p_live);
begin
  update address a
  set
    status = 'deactivated',
    version = a.version + 1,
    updated_at = greatest(a.updated_at, v_now)
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.id = p_job.subject_id
    and a.status = 'pending_deactivation'
    and not exists (
      select
      from payout y
      where y.tenant_id = p_tenant and y.livemode = p_live and y.address_id = a.id and y.status = 'processing'
    )
  returning *
  into d;
  if found then
    perform emit_event(p_tenant, p_live, '{}', 'address.deactivated', 'address', to_jsonb(d));
  end if;
end;
$$;
