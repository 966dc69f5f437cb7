-- Accounts: creation.
--
-- Longer than 60 lines: insert_account (two inserts with their columns); create_root (both modes in one loop).

-- A nickname is unique per tenant and mode, compared by its Unicode form NFKC, without case and without blanks around
-- it. Writes of one name wait here for each other until their end, since names from before this comparison may be
-- there twice, so that no unique index can have it; the unique index compares the case alone.
create or replace function refuse_taken_nickname(p_tenant text, p_live boolean, p_id text, p_nickname text)
returns void
language plpgsql
as $$
declare
  v_own boolean;
  v_name text := lower(btrim(normalize(p_nickname, nfkc), ' ' || chr(9) || chr(10) || chr(13)));
begin
  if p_nickname is null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_tenant || ' ' || p_live || ' ' || v_name, 0));
  -- An account may keep its name, also where another one from before has it.
  select bool_or(a.id = p_id)
  into v_own
  from account a
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.nickname is not null
    and hashtextextended(
      lower(btrim(normalize(a.nickname, nfkc), ' ' || chr(9) || chr(10) || chr(13))),
      0
    ) = hashtextextended(v_name, 0)
    and lower(btrim(normalize(a.nickname, nfkc), ' ' || chr(9) || chr(10) || chr(13))) = v_name;
  if not v_own then
    perform refuse(409, 'nickname_taken', 'account.nickname');
  end if;
end;
$$;

-- Refuses a date of incorporation that is not in the past by the tenant's own clock, in UTC: a business is incorporated
-- before it has an account.
create or replace function refuse_future_incorporation(p_tenant text, p_live boolean, p_details jsonb)
returns void
language plpgsql
as $$
declare
  v_date text := p_details ->> 'dateOfIncorporation';
  v_now bigint;
begin
  if v_date is null then
    return;
  end if;
  v_now := clock(p_tenant, p_live);
  if v_date >= to_char(to_timestamp(v_now) at time zone 'UTC', 'YYYY-MM-DD') then
    perform refuse(
      400,
      'parameter_invalid',
      'account.business_details.date_of_incorporation',
      'must be a date in the past, such as 2014-04-01'
    );
  end if;
end;
$$;

-- Inserts one account and its setting, from the arguments that `create_account` or `create_root` has checked.
create or replace function insert_account(
  p_tenant text,
  p_live boolean,
  p_id text,
  p_status text,
  p_created bigint,
  p_args jsonb
)
returns account
language plpgsql
as $$
declare
  v account;
  v_setting text := new_id('account_setting');
  s jsonb := p_args -> 'setting';
  v_acting_account text := coalesce(p_args ->> 'actingAccountId', p_id);
begin
  perform refuse_future_incorporation(p_tenant, p_live, p_args -> 'businessDetails');
  perform refuse_taken_nickname(p_tenant, p_live, p_id, p_args ->> 'nickname');
  insert into account
    (
      tenant_id,
      livemode,
      id,
      created,
      kind,
      edition,
      sub_type,
      status,
      address_key,
      nickname,
      business_details,
      logo_id,
      metadata,
      supporting_documentation,
      tos_acceptance,
      owner_id,
      context_id,
      on_root_list,
      status_since
    )
  values
    (
      p_tenant,
      p_live,
      p_id,
      p_created,
      p_args ->> 'kind',
      (p_args ->> 'edition')::smallint,
      p_args ->> 'subType',
      p_status,
      p_args ->> 'addressKey',
      p_args ->> 'nickname',
      '{"ids": {}, "physicalAddress": {}}'::jsonb || coalesce(nullif(p_args -> 'businessDetails', 'null'), '{}'),
      p_args ->> 'logoId',
      merge_metadata(null, p_args -> 'metadata', 'account.metadata'),
      coalesce(nullif(p_args -> 'supportingDocumentation', 'null'), '{}'),
      coalesce(nullif(p_args -> 'tosAcceptance', 'null'), '{}'),
      p_args ->> 'ownerId',
      v_acting_account,
      (p_args ->> 'onRootList')::boolean,
      p_created
    )
  returning *
  into v;
  perform index_object(p_tenant, p_live, 'account', null, to_jsonb(v));
  insert into account_setting
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      of_connected_user,
      address,
      address_currency,
      payouts_applicable,
      account_activated,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_setting,
      p_created,
      p_id,
      p_args ->> 'kind' = 'connected_user',
      s -> 'address',
      s -> 'addressCurrency',
      (s ->> 'payoutsApplicable')::boolean,
      p_status = 'activated',
      v_acting_account,
      (p_args ->> 'onRootList')::boolean
    );
  return v;
end;
$$;

create or replace function create_account(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof account
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'kind text, edition int, subType? text null, addressKey text null, ownerId text,
        actingAccountId? text null, onRootList boolean, nickname? text null, businessDetails? object null,
        logoId? text null, metadata? object null, supportingDocumentation? object null,
        tosAcceptance? object null,
        setting object {address object, addressCurrency object, payoutsApplicable boolean},
        unlessSeen? boolean'
    )
  );
  v account;
  v_id text := new_id('account');
begin
  if (v_args ->> 'unlessSeen')::boolean then
    perform refuse_seen_partner(p_tenant, p_live, v_args);
  end if;
  v := insert_account(p_tenant, p_live, v_id, 'draft', clock(p_tenant, p_live), v_args);
  perform emit_event(p_tenant, p_live, p_envelope, 'account.created', 'account', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Creates a root account in both modes at once, activated in test mode and a draft in live mode, with the keys that the
-- operator hands out.
create or replace function create_root(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof account
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'kind text, edition int, subType text null, addressKey text null, onRootList boolean,
        nickname text null, businessDetails? object null,
        setting object {address object, addressCurrency object, payoutsApplicable boolean},
        keys object[] {livemode boolean, permission text, prefix text, digest text, pepperId text}'
    )
  );
  v account;
  v_mode boolean;
  k jsonb;
  v_now bigint := wall_clock();
  v_offset bigint;
begin
  select c.offset_seconds into v_offset from test_clock c where c.tenant_id = p_tenant and c.livemode = false;
  foreach v_mode in array array[true, false] loop
    -- Both modes use one reading of the clock; a demo's test mode begins in the past.
    v := insert_account(
      p_tenant,
      v_mode,
      'account_' || p_tenant,
      case
        when v_mode then 'draft'
        else 'activated'
      end,
      v_now + case
        when v_mode then 0
        else coalesce(v_offset, 0)
      end,
      v_args
    );
    if not v_mode then
      perform open_account_addresses(p_tenant, v_mode, p_envelope, v.id);
      perform issue_addresses(p_tenant, v_mode, p_envelope, v.id);
      select a.* into v from account a where a.tenant_id = p_tenant and a.livemode = v_mode and a.id = v.id;
    end if;
    perform emit_event(p_tenant, v_mode, p_envelope, 'account.created', 'account', to_jsonb(v));
  end loop;
  for k in select * from jsonb_array_elements(v_args -> 'keys') loop
    perform insert_api_key(
      p_tenant,
      (k ->> 'livemode')::boolean,
      p_envelope,
      v.id,
      k ->> 'permission',
      null,
      k ->> 'prefix',
      k ->> 'digest',
      k ->> 'pepperId',
      wall_clock()
    );
  end loop;
  perform store_idempotent_response(p_tenant, false, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Locks the root account of a tenant, so that the writes of the tenant that call it run one after the other, and each
-- sees what the ones before it have stored.
create or replace function lock_root(p_tenant text, p_live boolean)
returns void
language plpgsql
as $$
declare
  v_root text := 'account_' || p_tenant;
begin
  perform from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_root for no key update;
end;
$$;
