-- Addresses: payout addresses that users create, receiving addresses that the service issues, and their statuses.

drop function if exists insert_address(text, boolean, jsonb, account, jsonb);

-- An address in use, with its event. Null and the JSON null are none.
create or replace function insert_address(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
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
  p_metadata jsonb default null
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
      merge_metadata(null, p_metadata, 'address.metadata'),
      p_owner.context_id,
      p_owner.on_root_list
    )
  returning *
  into v;
  perform emit_event(p_tenant, p_live, p_call, 'address.created', 'address', to_jsonb(v));
  return v;
end;
$$;

-- A payout address, activated at once. The newest of its currency is the one in use: the older ones wait for
-- `retire_address`, which lets them go when no payout is in flight to them.
create or replace function create_address(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'linkedId text, category text, type text, currency text, name text, bankAccount object,
        billingDetails object, supportingDocumentation object null, metadata? object null'
    )
  );
  v address;
  v_owner account;
  v_old address;
begin
  -- The owner's row is locked, so that two creations at once do not both find nothing to replace.
  select a.*
  into v_owner
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'linkedId'
  for no key update;
  for v_old in update address d
  set
    status = 'pending_deactivation',
    version = d.version + 1
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.linked_id = v_owner.id
    and d.category = 'user_payout'
    and d.currency = v_args ->> 'currency'
    and d.status = 'activated'
  returning * loop
    perform emit_event(p_tenant, p_live, p_call, 'address.pending_deactivation', 'address', to_jsonb(v_old));
    perform enqueue(p_tenant, p_live, 'retire_address', v_old.id, 0);
  end loop;
  v := insert_address(
    p_tenant,
    p_live,
    p_call,
    v_owner,
    v_args ->> 'category',
    v_args ->> 'type',
    v_args ->> 'currency',
    p_name => v_args ->> 'name',
    p_bank_account => v_args -> 'bankAccount',
    p_billing_details => v_args -> 'billingDetails',
    p_supporting_documentation => v_args -> 'supportingDocumentation',
    p_metadata => v_args -> 'metadata'
  );
  perform reschedule_payout(p_tenant, p_live, v_owner.id);
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;

create or replace function update_address(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, metadata object null'));
  v address;
begin
  update address d
  set
    metadata = merge_metadata(d.metadata, v_args -> 'metadata', 'address.metadata'),
    version = d.version + 1
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_args ->> 'id'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'address.id');
  end if;
  perform emit_event(p_tenant, p_live, p_call, 'address.updated', 'address', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;

create or replace function move_address(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, from text[], to text'));
  v address;
  v_from text[] := array(select jsonb_array_elements_text(v_args -> 'from'));
begin
  -- Spec: Address, status. What has expired is not reusable.
  update address d
  set
    status = v_args ->> 'to',
    is_reusable = d.is_reusable and v_args ->> 'to' <> 'expired',
    version = d.version + 1
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_args ->> 'id' and d.status = any (v_from)
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'address.status');
  end if;
  -- A payout that has chosen this address holds its row until it is committed, so one that is under way is seen here.
  if
    v.category = 'user_payout'
    and exists (
      select
      from payout y
      where y.tenant_id = p_tenant and y.livemode = p_live and y.address_id = v.id and y.status = 'processing'
    )
  then
    perform refuse(400, 'status_invalid', 'address.status', 'A payout to this address is under way.');
  end if;
  if v.category = 'user_payout' then
    perform reschedule_payout(p_tenant, p_live, v.linked_id);
  end if;
  perform emit_event(p_tenant, p_live, p_call, 'address.' || v.status, 'address', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;

-- A wallet that a partner of test mode pays from, as its first payment by it would make: not every provider is a
-- payment method.
create or replace function create_test_wallet(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('accountId text, provider text, currency text'));
  v address;
  v_owner account;
begin
  select a.*
  into v_owner
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId'
  for no key update;
  v := insert_address(
    p_tenant,
    p_live,
    p_call,
    v_owner,
    'partner_payment',
    'wallet',
    v_args ->> 'currency',
    p_wallet => jsonb_build_object('provider', v_args ->> 'provider')
  );
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;

-- The currencies that the governing setting (the root's) offers this account and that it has no usable receiving
-- address for.
create or replace function missing_currencies(p_tenant text, p_live boolean, p_account account)
returns text[]
language plpgsql
stable
as $$
declare
  g account_setting;
begin
  if p_account.address_key is null then
    return '{}';
  end if;
  select s.*
  into g
  from account_setting s
  where s.tenant_id = p_tenant and s.livemode = p_live and s.account_id = 'account_' || p_tenant;
  -- The objects are spelled as the graph spells them, the account's key as the specification does.
  if not coalesce((g.address ->> camel(p_account.address_key))::boolean, false) then
    return '{}';
  end if;
  return array(
    select distinct c
    from jsonb_array_elements_text(g.address_currency -> camel(p_account.address_key)) c
    where
      not exists (
        select
        from address d
        where
          d.tenant_id = p_tenant
          and d.livemode = p_live
          and d.linked_id = p_account.id
          and d.category = 'service_receive'
          and d.status = 'activated'
          and d.currency = c
      )
  );
end;
$$;

create or replace function camel(p_snake text)
returns text
language plpgsql
immutable
as $$
declare
  w text;
  r text := '';
begin
  foreach w in array string_to_array(p_snake, '_') loop
    r := r || case
      when r = '' then w
      else upper(left(w, 1)) || substr(w, 2)
    end;
  end loop;
  return r;
end;
$$;

-- What an account is given once it is activated: a fee advance address for a platform, and receiving addresses on order
-- where its kind is offered any. The sandbox bank issues those in test mode, the operator in live mode.
create or replace function open_account_addresses(p_tenant text, p_live boolean, p_call jsonb, p_id text)
returns void
language plpgsql
as $$
declare
  v account;
  v_currency text;
begin
  select a.* into v from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id;
  if
    v.kind = 'platform'
    and not exists (
      select
      from address d
      where d.tenant_id = p_tenant and d.livemode = p_live and d.linked_id = p_id and d.category = 'service_fee_advance'
    )
  then
    v_currency := case v.edition
      when 1 then 'USD'
      else 'INR'
    end;
    perform insert_address(
      p_tenant,
      p_live,
      p_call,
      v,
      'service_fee_advance',
      'bank_account',
      v_currency,
      p_bank_account =>
        case
          when not p_live then sandbox_bank_account(v_currency) - 'type'
        end
    );
  end if;
  -- What is on order already brings the rest along when it is issued. The sandbox is told again: what came due while
  -- the account was on hold was not delivered, and whatever is delivered twice is so once.
  if v.address in ('requested', 'processing') then
    if not p_live then
      perform enqueue(
        p_tenant,
        p_live,
        case v.address
          when 'requested' then 'process_addresses'
          else 'issue_addresses'
        end,
        p_id,
        1
      );
    end if;
    return;
  end if;
  if missing_currencies(p_tenant, p_live, v) = '{}' then
    return;
  end if;
  update account a
  set
    address = 'requested',
    version = a.version + 1
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id and a.address in ('deactivated', 'activated');
  if found and not p_live then
    perform enqueue(p_tenant, p_live, 'process_addresses', p_id, 1);
  end if;
end;
$$;

-- Account details as the sandbox bank would give them; a number is made up, the routing codes are plainly of a sandbox.
create or replace function sandbox_bank_account(p_currency text)
returns jsonb
language plpgsql
volatile
as $$
declare
  v_number text := '9' || lpad(
    (('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint % 10000000000000)::text,
    13,
    '0'
  );
begin
  return jsonb_build_object(
    'bankName',
    'Tidegate Sandbox Bank',
    'number',
    v_number,
    'last4',
    right(v_number, 4),
    'type',
    'all'
  ) || case
    when p_currency = 'INR' then jsonb_build_object(
      'domesticCredit',
      'TGSB0000001',
      'domesticFastCredit',
      'TGSB0000001',
      'domesticWire',
      'TGSB0000001'
    )
    when p_currency = 'USD' then jsonb_build_object(
      'domesticCredit',
      '000000019',
      'domesticDebit',
      '000000019',
      'domesticWire',
      '000000019',
      'globalWire',
      'TGSBUS00'
    )
    else jsonb_build_object('globalWire', 'TGSBUS00')
  end;
end;
$$;

-- The sandbox bank's delivery: one receiving address per missing currency, and the account's addresses are activated.
create or replace function issue_addresses(p_tenant text, p_live boolean, p_call jsonb, p_id text)
returns void
language plpgsql
as $$
declare
  v account;
  c text;
  v_state text;
begin
  select a.*
  into v
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id
  for no key update;
  if v.status <> 'activated' then
    return;
  end if;
  foreach c in array missing_currencies(p_tenant, p_live, v) loop
    perform insert_address(
      p_tenant,
      p_live,
      p_call,
      v,
      'service_receive',
      'bank_account',
      c,
      p_name => v.business_details ->> 'legalName',
      p_bank_account => sandbox_bank_account(c)
    );
  end loop;
  -- What was ordered may have been switched off meanwhile: then there is nothing to be activated.
  v_state := case
    when exists (
      select
      from address d
      where
        d.tenant_id = p_tenant
        and d.livemode = p_live
        and d.linked_id = p_id
        and d.category = 'service_receive'
        and d.status = 'activated'
    ) then 'activated'
    else 'deactivated'
  end;
  update account a
  set
    address = v_state,
    version = a.version + 1
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id and a.address in ('requested', 'processing')
  returning *
  into v;
  if found then
    perform emit_event(p_tenant, p_live, p_call, 'account.updated', 'account', to_jsonb(v));
  end if;
end;
$$;

-- The operator's record of an address that the bank has issued in live mode. The account's addresses are activated with
-- the last missing currency, and processing until then. A fee advance address takes the details in its place.
create or replace function record_issued_address(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof address
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('linkedId text, category text, type text, currency text, name text null, bankAccount object')
  );
  v address;
  v_owner account;
begin
  select a.*
  into v_owner
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'linkedId'
  for no key update;
  if v_owner.status <> 'activated' then
    perform refuse(400, 'status_invalid', 'account.status', 'is not activated; verify the account first');
  end if;
  if v_args ->> 'category' = 'service_fee_advance' then
    update address d
    set
      bank_account = (v_args -> 'bankAccount') - 'type',
      currency = v_args ->> 'currency',
      version = d.version + 1
    where
      d.tenant_id = p_tenant
      and d.livemode = p_live
      and d.linked_id = v_owner.id
      and d.category = 'service_fee_advance'
    returning *
    into v;
    if not found then
      perform refuse(400, 'account_type_invalid', 'address.linked_id', 'Only a platform has a fee advance address.');
    end if;
    perform emit_event(p_tenant, p_live, p_call, 'address.updated', 'address', to_jsonb(v));
  else
    if not (v_args ->> 'currency' = any (missing_currencies(p_tenant, p_live, v_owner))) then
      perform refuse(
        409,
        'state_conflict',
        'address.currency',
        'is not one that this account is offered and still lacks'
      );
    end if;
    v := insert_address(
      p_tenant,
      p_live,
      p_call,
      v_owner,
      v_args ->> 'category',
      v_args ->> 'type',
      v_args ->> 'currency',
      p_name => v_args ->> 'name',
      p_bank_account => v_args -> 'bankAccount'
    );
    update account a
    set
      version = a.version + 1,
      address = case
        when missing_currencies(p_tenant, p_live, v_owner) = '{}' then 'activated'
        else 'processing'
      end
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_owner.id
    returning *
    into v_owner;
    perform emit_event(p_tenant, p_live, p_call, 'account.updated', 'account', to_jsonb(v_owner));
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;
