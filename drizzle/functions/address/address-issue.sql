-- Receiving addresses: what an account is offered, and who issues it: the sandbox bank in test mode, the operator in
-- live mode. The sandbox's wallets of payers, too.
--
-- Longer than 60 lines: open_account_addresses (two orders of one account); record_issued_address (both kinds of
-- address).

-- Returns the currencies that the governing setting (the root's) offers this account and for which the account has no
-- usable receiving address.
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
  -- The keys of these objects are in camel case, as in GraphQL; the account's key is in snake case, as in the
  -- specification.
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

-- Opens the addresses of an activated account: in test mode a fee advance address for a platform, and an order for
-- receiving addresses if the setting offers its kind any. The sandbox bank issues those in test mode, the operator in
-- live mode. In live mode a fee advance address exists once the operator has recorded its details.
create or replace function open_account_addresses(p_tenant text, p_live boolean, p_envelope jsonb, p_id text)
returns void
language plpgsql
as $$
declare
  v account;
  v_currency text;
  v_state text;
  v_now bigint := clock(p_tenant, p_live);
begin
  -- Its addresses are read when it is locked: what the operator records meanwhile decides what it is.
  select a.*
  into v
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id
  for no key update;
  if
    not p_live
    and v.kind = 'platform'
    and not exists (
      select
      from address d
      where d.tenant_id = p_tenant and d.livemode = p_live and d.linked_id = p_id and d.category = 'service_fee_advance'
    )
  then
    v_currency := edition_currency(v.edition);
    perform insert_address(
      p_tenant,
      p_live,
      p_envelope,
      v,
      'service_fee_advance',
      'bank_account',
      v_currency,
      p_bank_account => sandbox_bank_account(v_currency) - 'type'
    );
  end if;
  -- An order under way also covers the currencies that are missing now. In test mode its job is enqueued again, because
  -- a job that was due while the account was on hold has issued nothing; a second run issues nothing twice.
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
    elseif missing_currencies(p_tenant, p_live, v) = '{}' then
      -- What was ordered is no longer offered.
      v_state := receiving_state(p_tenant, p_live, p_id);
      update account a
      set
        address = v_state,
        version = a.version + 1,
        updated_at = greatest(a.updated_at, v_now)
      where
        a.tenant_id = p_tenant
        and a.livemode = p_live
        and a.id = p_id
        and a.status = 'activated'
        and a.address in ('requested', 'processing');
    end if;
    return;
  end if;
  if missing_currencies(p_tenant, p_live, v) = '{}' then
    return;
  end if;
  update account a
  set
    address = 'requested',
    version = a.version + 1,
    updated_at = greatest(a.updated_at, v_now)
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.id = p_id
    and a.status = 'activated'
    and a.address in ('deactivated', 'activated');
  if found and not p_live then
    perform enqueue(p_tenant, p_live, 'process_addresses', p_id, 1);
  end if;
end;
$$;

-- Records an address that the bank has issued in live mode, for the operator. The account's `address` becomes activated
-- with the last missing currency, and is processing until then. The details of a fee advance address are replaced if it
-- exists, also one that an earlier release opened without details.
create or replace function record_issued_address(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
  v_address text;
  v_now bigint := clock(p_tenant, p_live);
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
    if v_owner.kind <> 'platform' then
      perform refuse(400, 'account_type_invalid', 'address.linked_id', 'must be a platform for a fee advance address');
    end if;
    update address d
    set
      bank_account = (v_args -> 'bankAccount') - 'type',
      currency = v_args ->> 'currency',
      version = d.version + 1,
      updated_at = greatest(d.updated_at, v_now)
    where
      d.tenant_id = p_tenant
      and d.livemode = p_live
      and d.linked_id = v_owner.id
      and d.category = 'service_fee_advance'
    returning *
    into v;
    if found then
      perform emit_event(p_tenant, p_live, p_envelope, 'address.updated', 'address', to_jsonb(v));
    else
      v := insert_address(
        p_tenant,
        p_live,
        p_envelope,
        v_owner,
        v_args ->> 'category',
        v_args ->> 'type',
        v_args ->> 'currency',
        p_bank_account => (v_args -> 'bankAccount') - 'type'
      );
    end if;
  else
    if not (v_args ->> 'currency' = any (missing_currencies(p_tenant, p_live, v_owner))) then
      perform refuse(
        409,
        'state_conflict',
        'address.currency',
        'must be a currency that this account is offered and has no address for yet'
      );
    end if;
    v := insert_address(
      p_tenant,
      p_live,
      p_envelope,
      v_owner,
      v_args ->> 'category',
      v_args ->> 'type',
      v_args ->> 'currency',
      p_name => v_args ->> 'name',
      p_bank_account => v_args -> 'bankAccount'
    );
    v_address := case
      when missing_currencies(p_tenant, p_live, v_owner) = '{}' then 'activated'
      else 'processing'
    end;
    update account a
    set
      version = a.version + 1,
      updated_at = greatest(a.updated_at, v_now),
      address = v_address
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_owner.id
    returning *
    into v_owner;
    perform emit_event(p_tenant, p_live, p_envelope, 'account.updated', 'account', to_jsonb(v_owner));
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- After a change of a root's setting, offers the accounts that are activated already what it now allows, in batches by
-- id, so that no statement locks the rows of a large tenant for long.
create or replace function job_offer_addresses(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v account;
  w account;
  n int := 0;
begin
  for v in
    select a.*
    from account a
    where
      a.tenant_id = p_tenant
      and a.livemode = p_live
      and a.status = 'activated'
      and a.address_key is not null
      and a.id > coalesce(p_job.args ->> 'after', '')
    order by a.id
    limit 200
  loop
    perform open_account_addresses(p_tenant, p_live, '{}', v.id);
    select a.* into w from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v.id;
    if w.version <> v.version then
      perform emit_event(p_tenant, p_live, '{}', 'account.updated', 'account', to_jsonb(w));
    end if;
    n := n + 1;
  end loop;
  if n = 200 then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, 0, jsonb_build_object('after', v.id));
  end if;
end;
$$;

-- Creates a wallet from which a partner pays in test mode, like the one that its first payment creates: not every
-- wallet provider is a payment method.
create or replace function create_test_wallet(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
    p_envelope,
    v_owner,
    'partner_payment',
    'wallet',
    v_args ->> 'currency',
    p_wallet => jsonb_build_object('provider', v_args ->> 'provider')
  );
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
