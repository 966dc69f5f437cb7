-- Changes of the details of accounts.
--
-- Longer than 60 lines: update_account (one update with its columns); update_root (two updates with their columns).

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
    updated_at = greatest(a.updated_at, v_now)
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
  perform refuse_taken_nickname(p_tenant, true, v_id, v_args ->> 'nickname');
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
    updated_at = greatest(
      a.updated_at,
      case
        when a.livemode then v_live
        else v_test
      end
    )
  where a.tenant_id = p_tenant and a.id = v_id
  returning * loop
    perform index_object(p_tenant, v.livemode, 'account', to_jsonb(v_old[1 + v.livemode::int]), to_jsonb(v));
    perform emit_event(p_tenant, v.livemode, p_envelope, 'account.updated', 'account', to_jsonb(v));
    if v.livemode = p_live then
      w := v;
    end if;
  end loop;
  if v_args ? 'liveFx' then
    for s in update account_setting x
    set
      live_fx = (v_args ->> 'liveFx')::boolean,
      version = x.version + 1,
      updated_at = greatest(
        x.updated_at,
        case
          when x.livemode then v_live
          else v_test
        end
      )
    where x.tenant_id = p_tenant and x.account_id = v_id
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
