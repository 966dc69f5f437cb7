-- Accounts: creation and details.
--
-- Longer than 60 lines: insert_account (two inserts with their columns); create_root (both modes in one loop);
-- update_account (one update with its columns); update_root (two updates with their columns).

-- A nickname is unique per tenant and mode, compared without case; the unique index catches what this check misses.
create or replace function refuse_taken_nickname(p_tenant text, p_live boolean, p_id text, p_nickname text)
returns void
language plpgsql
as $$
begin
  if
    p_nickname is not null
    and exists (
      select
      from account
      where tenant_id = p_tenant and livemode = p_live and nickname_key = lower(p_nickname) and id <> p_id
    )
  then
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

drop function if exists insert_account(text, boolean, text, text, jsonb);

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
  v_acting_account text := coalesce(p_args ->> 'actingAccountId', p_args ->> 'contextId', p_id);
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
      on_root_list
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
      (p_args ->> 'onRootList')::boolean
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
        contextId? text null retired'
    )
  );
  v account;
  v_id text := new_id('account');
begin
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
      k ->> 'pepperId'
    );
  end loop;
  perform store_idempotent_response(p_tenant, false, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Changes details of a connected user in draft. Objects merge inside the update, so concurrent updates lose nothing.
create or replace function update_account(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof account
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, nickname? text null, businessDetails? object null, logoId? text null, metadata? object null,
        supportingDocumentation? object null, tosAcceptance? object null'
    )
  );
  v account;
  v_old account;
  v_id text := v_args ->> 'id';
  v_now bigint := clock(p_tenant, p_live);
begin
  perform refuse_future_incorporation(p_tenant, p_live, v_args -> 'businessDetails');
  perform refuse_taken_nickname(p_tenant, p_live, v_id, v_args ->> 'nickname');
  select a.*
  into v_old
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_id
  for no key update;
  update account a
  set
    nickname = case
      when v_args ? 'nickname' then v_args ->> 'nickname'
      else a.nickname
    end,
    business_details = case
      when v_args ? 'businessDetails' then '{"ids": {}, "physicalAddress": {}}'::jsonb || merge_object(
        a.business_details,
        v_args -> 'businessDetails'
      )
      else a.business_details
    end,
    logo_id = case
      when v_args ? 'logoId' then v_args ->> 'logoId'
      else a.logo_id
    end,
    metadata = case
      when v_args ? 'metadata' then merge_metadata(a.metadata, v_args -> 'metadata', 'account.metadata')
      else a.metadata
    end,
    supporting_documentation = case
      when v_args ? 'supportingDocumentation' then merge_object(
        a.supporting_documentation,
        v_args -> 'supportingDocumentation'
      )
      else a.supporting_documentation
    end,
    tos_acceptance = case
      when v_args ? 'tosAcceptance' then merge_object(a.tos_acceptance, v_args -> 'tosAcceptance')
      else a.tos_acceptance
    end,
    version = a.version + 1,
    updated_at = v_now
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.id = v_id
    and a.kind = 'connected_user'
    and a.status = 'draft'
  returning *
  into v;
  if not found then
    perform refuse(400, 'account_not_updatable', 'account.status');
  end if;
  perform index_object(p_tenant, p_live, 'account', to_jsonb(v_old), to_jsonb(v));
  perform emit_event(p_tenant, p_live, p_envelope, 'account.updated', 'account', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Updates a root for the operator: the same details in both modes, in one statement. Live FX is stored in the
-- platform's setting of each mode.
create or replace function update_root(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof account
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'nickname? text null, businessDetails? object null, logoId? text null, tosAcceptance? object null,
        liveFx? boolean'
    )
  );
  v account;
  v_old account[];
  w account;
  v_id text := 'account_' || p_tenant;
  s account_setting;
  v_live bigint := clock(p_tenant, true);
  v_test bigint := clock(p_tenant, false);
begin
  perform refuse_future_incorporation(p_tenant, true, v_args -> 'businessDetails');
  perform refuse_taken_nickname(p_tenant, false, v_id, v_args ->> 'nickname');
  -- Lock test mode first, in every call.
  v_old := array(
    select a from account a where a.tenant_id = p_tenant and a.id = v_id order by a.livemode for no key update
  );
  for v in update account a
  set
    nickname = case
      when v_args ? 'nickname' then v_args ->> 'nickname'
      else a.nickname
    end,
    business_details = case
      when v_args ? 'businessDetails' then '{"ids": {}, "physicalAddress": {}}'::jsonb || merge_object(
        a.business_details,
        v_args -> 'businessDetails'
      )
      else a.business_details
    end,
    logo_id = case
      when v_args ? 'logoId' then v_args ->> 'logoId'
      else a.logo_id
    end,
    tos_acceptance = case
      when v_args ? 'tosAcceptance' then merge_object(a.tos_acceptance, v_args -> 'tosAcceptance')
      else a.tos_acceptance
    end,
    version = a.version + 1,
    updated_at = case
      when a.livemode then v_live
      else v_test
    end
  where a.tenant_id = p_tenant and a.id = v_id
  returning * loop
    perform index_object(p_tenant, v.livemode, 'account', to_jsonb(v_old[1 + v.livemode::int]), to_jsonb(v));
    perform emit_event(p_tenant, v.livemode, p_envelope, 'account.updated', 'account', to_jsonb(v));
    if v.livemode = p_live then
      w := v;
    end if;
  end loop;
  if v_args ? 'liveFx' then
    for s in update account_setting
    set
      live_fx = (v_args ->> 'liveFx')::boolean,
      version = version + 1,
      updated_at = case
        when livemode then v_live
        else v_test
      end
    where tenant_id = p_tenant and account_id = v_id
    returning * loop
      perform emit_event(p_tenant, s.livemode, p_envelope, 'account_setting.updated', 'account_setting', to_jsonb(s));
      -- Live FX also affects payouts of the platform's users that already wait. There may be many of them, so a job
      -- reschedules them in batches.
      perform enqueue(p_tenant, s.livemode, 'reschedule_payouts', v_id, 0);
    end loop;
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(w));
  return next w;
end;
$$;
