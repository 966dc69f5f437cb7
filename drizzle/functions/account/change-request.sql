-- Requests to change details of accounts that their owners can no longer update.
--
-- Longer than 60 lines: create_change_request (its refusals, and what differs of the account).

-- The details of an account that a request may change, as one object. Objects in it are always there.
create or replace function changeable_of(p_account account)
returns jsonb
language plpgsql
immutable
as $$
begin
  return jsonb_build_object(
    'businessDetails',
    '{"ids": {}, "physicalAddress": {}}'::jsonb || p_account.business_details,
    'supportingDocumentation',
    p_account.supporting_documentation
  );
end;
$$;

-- Asks for changes of an account, by the paths of its details. What is as it is already is no change. One request of an
-- account is open at a time.
create or replace function create_change_request(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof change_request
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('accountId text, changes object, reason? text null'));
  a account;
  r change_request;
  v_changeable jsonb;
begin
  select x.*
  into a
  from account x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'accountId'
  for share;
  if a.status = 'deactivated' or (a.kind = 'connected_user' and a.status = 'draft') then
    perform refuse(
      400,
      'status_invalid',
      'account.status',
      case a.status
        when 'draft' then 'A draft needs no request. Update the account.'
        else 'A deactivated account does not change.'
      end
    );
  end if;
  v_changeable := changeable_of(a);
  r.changes := coalesce(
    (
      select
        jsonb_agg(
          jsonb_build_object('path', c.path, 'from', coalesce(c.before, 'null'), 'to', c.value)
          order by c.path collate "C"
        )
      from
        (
          select e.key as path, e.value, v_changeable #> string_to_array(e.key, '.') as before
          from jsonb_each(v_args -> 'changes') e
        ) c
      where coalesce(c.before, 'null') <> c.value
    ),
    '[]'
  );
  if r.changes = '[]' then
    perform refuse(
      400,
      'parameter_invalid',
      'change_request.business_details',
      'must differ from what the account has'
    );
  end if;
  perform refuse_future_incorporation(
    p_tenant,
    p_live,
    jsonb_build_object('dateOfIncorporation', v_args -> 'changes' -> 'businessDetails.dateOfIncorporation')
  );
  r.tenant_id := p_tenant;
  r.livemode := p_live;
  r.id := new_id('change_request');
  r.created := clock(p_tenant, p_live);
  r.account_id := a.id;
  r.status := 'open';
  r.reason := v_args ->> 'reason';
  r.context_id := a.context_id;
  r.on_root_list := a.on_root_list;
  r.version := 0;
  insert into change_request
    (tenant_id, livemode, id, created, account_id, changes, status, reason, context_id, on_root_list)
  values
    (p_tenant, p_live, r.id, r.created, a.id, r.changes, r.status, r.reason, r.context_id, r.on_root_list)
  on conflict (tenant_id, livemode, account_id) where status = 'open' do nothing;
  if not found then
    perform refuse(
      409,
      'state_conflict',
      'change_request.account_id',
      'has an open change request. Withdraw it, or wait for its answer.'
    );
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'change_request.created', 'change_request', to_jsonb(r));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(r));
  return next r;
end;
$$;

-- Gives an account the details of an accepted request. A root has the same details in both modes, so a live request
-- changes both; one of test mode never changes live mode. Documents are of one mode. The caller has locked the
-- accounts.
create or replace function apply_changes(p_tenant text, p_live boolean, p_envelope jsonb, p_request change_request)
returns void
language plpgsql
as $$
declare
  v account;
  v_old account;
  v_change jsonb;
  v_all jsonb;
  v_now bigint;
begin
  for v_old in
    select a.*
    from account a
    where
      a.tenant_id = p_tenant
      and a.id = p_request.account_id
      and (a.livemode = p_live or (p_live and a.kind in ('platform', 'direct_user')))
    order by a.livemode
  loop
    v_all := changeable_of(v_old);
    for v_change in select c.* from jsonb_array_elements(p_request.changes) c loop
      if v_old.livemode = p_live or v_change ->> 'path' like 'businessDetails.%' then
        v_all := jsonb_set(v_all, string_to_array(v_change ->> 'path', '.'), v_change -> 'to');
      end if;
    end loop;
    v_now := clock(p_tenant, v_old.livemode);
    update account a
    set
      business_details = v_all -> 'businessDetails',
      supporting_documentation = v_all -> 'supportingDocumentation',
      version = a.version + 1,
      updated_at = greatest(a.updated_at, v_now)
    where a.tenant_id = p_tenant and a.livemode = v_old.livemode and a.id = v_old.id
    returning *
    into v;
    perform index_object(p_tenant, v.livemode, 'account', to_jsonb(v_old), to_jsonb(v));
    perform emit_event(p_tenant, v.livemode, p_envelope, 'account.updated', 'account', to_jsonb(v));
  end loop;
end;
$$;

-- Accepts, declines or withdraws an open request. An accepted one changes the account.
create or replace function end_change_request(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof change_request
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text, answer? text null'));
  r change_request;
  v_now bigint := clock(p_tenant, p_live);
begin
  -- The account comes before its request, as in create_change_request, and test mode first, as in update_root.
  if v_args ->> 'to' = 'accepted' then
    select x.*
    into r
    from change_request x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
    perform
    from account a
    where a.tenant_id = p_tenant and a.id = r.account_id
    order by a.livemode
    for no key update;
    if
      exists (
        select
        from account a
        where a.tenant_id = p_tenant and a.livemode = p_live and a.id = r.account_id and a.status = 'deactivated'
      )
    then
      perform refuse(400, 'status_invalid', 'account.status');
    end if;
  end if;
  update change_request x
  set
    status = v_args ->> 'to',
    answer = v_args ->> 'answer',
    answered_at = v_now,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id' and x.status = 'open'
  returning *
  into r;
  if not found then
    perform refuse(400, 'status_invalid', 'change_request.status');
  end if;
  if r.status = 'accepted' then
    perform apply_changes(p_tenant, p_live, p_envelope, r);
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'change_request.' || r.status, 'change_request', to_jsonb(r));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(r));
  return next r;
end;
$$;
