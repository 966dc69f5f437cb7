-- Addresses: payout addresses that users create, and receiving addresses that the service issues.
--
-- Longer than 60 lines: insert_address (one insert with its columns).

-- Inserts an activated address, and emits its event. SQL null and JSON null both mean that a value is absent.
create or replace function insert_address(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_owner account,
  p_category text,
  p_type text,
  p_currency text,
  p_name text default null,
  p_bank_account jsonb default null,
  p_billing_details jsonb default null,
  p_supporting_documentation jsonb default null,
  p_wallet jsonb default null,
  p_vpa jsonb default null,
  p_is_reusable boolean default false,
  p_metadata jsonb default null,
  p_by_platform boolean default true
)
returns address
language plpgsql
as $$
declare
  v address;
  v_now bigint := clock(p_tenant, p_live);
  v_id text := new_id('address');
begin
  insert into address
    (
      tenant_id,
      livemode,
      id,
      created,
      category,
      type,
      status,
      currency,
      name,
      linked_id,
      bank_account,
      billing_details,
      supporting_documentation,
      wallet,
      vpa,
      is_reusable,
      by_platform,
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
      p_category,
      p_type,
      'activated',
      p_currency,
      p_name,
      p_owner.id,
      nullif(p_bank_account, 'null'),
      nullif(p_billing_details, 'null'),
      nullif(p_supporting_documentation, 'null'),
      p_wallet,
      p_vpa,
      p_is_reusable,
      p_by_platform,
      merge_metadata(null, p_metadata, 'address.metadata'),
      p_owner.context_id,
      p_owner.on_root_list
    )
  returning *
  into v;
  perform emit_event(p_tenant, p_live, p_envelope, 'address.created', 'address', to_jsonb(v));
  return v;
end;
$$;

-- Creates a payout address, activated at once. The newest address of a currency is the one in use: the older ones wait
-- for `retire_address`, which deactivates them when no payout to them is under way.
create or replace function create_address(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'linkedId text, category text, type text, currency text, name text, bankAccount object,
        billingDetails object, supportingDocumentation object null, metadata? object null, byPlatform boolean'
    )
  );
  v address;
  v_owner account;
  v_old address;
  v_now bigint := clock(p_tenant, p_live);
begin
  -- Lock the owner's row, so that two concurrent calls cannot both find no address to replace.
  select a.*
  into v_owner
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'linkedId'
  for no key update;
  for v_old in update address d
  set
    status = 'pending_deactivation',
    version = d.version + 1,
    updated_at = greatest(d.updated_at, v_now)
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.linked_id = v_owner.id
    and d.category = 'user_payout'
    and d.currency = v_args ->> 'currency'
    and d.status = 'activated'
  returning * loop
    perform emit_event(p_tenant, p_live, p_envelope, 'address.pending_deactivation', 'address', to_jsonb(v_old));
    perform enqueue(p_tenant, p_live, 'retire_address', v_old.id, 0);
  end loop;
  v := insert_address(
    p_tenant,
    p_live,
    p_envelope,
    v_owner,
    v_args ->> 'category',
    v_args ->> 'type',
    v_args ->> 'currency',
    p_name => v_args ->> 'name',
    p_bank_account => v_args -> 'bankAccount',
    p_billing_details => v_args -> 'billingDetails',
    p_supporting_documentation => v_args -> 'supportingDocumentation',
    p_metadata => v_args -> 'metadata',
    p_by_platform => (v_args ->> 'byPlatform')::boolean
  );
  perform reschedule_payout(p_tenant, p_live, v_owner.id);
  perform retry_payout(p_tenant, p_live, v_owner.id, v_old.id);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

create or replace function update_address(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, metadata object null'));
  v address;
  v_now bigint := clock(p_tenant, p_live);
begin
  update address d
  set
    metadata = merge_metadata(d.metadata, v_args -> 'metadata', 'address.metadata'),
    version = d.version + 1,
    updated_at = greatest(d.updated_at, v_now)
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_args ->> 'id'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'address.id');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'address.updated', 'address', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Gives an address of checkouts the UPI address that the acquirer takes its money by. The first one stays: codes that
-- payers have seen contain it.
create or replace function assign_vpa(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, vpa text'));
  v address;
  v_now bigint := clock(p_tenant, p_live);
begin
  update address d
  set
    vpa = vpa_of(v_args ->> 'vpa'),
    version = d.version + 1,
    updated_at = greatest(d.updated_at, v_now)
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.id = v_args ->> 'id'
    and d.category = 'service_checkout'
    and d.vpa is null
  returning *
  into v;
  if found then
    perform emit_event(p_tenant, p_live, p_envelope, 'address.updated', 'address', to_jsonb(v));
  else
    select d.* into v from address d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_args ->> 'id';
    if v.vpa is null then
      perform refuse(404, 'resource_missing', 'address.id');
    end if;
  end if;
  return next v;
end;
$$;

-- A UPI address to which payers pay once, by a code, as addresses store it.
create or replace function vpa_of(p_id text)
returns jsonb
language plpgsql
immutable
as $$
begin
  return jsonb_build_object('id', p_id, 'upi', jsonb_build_object('onetime', 'enabled', 'recurring', 'disabled'));
end;
$$;
