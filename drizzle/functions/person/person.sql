-- Longer than 60 lines: create_person (one insert with its columns).

-- Creates a person. Arguments: those of the API call; `id`, if a number was encrypted for that id; and `alone`, the
-- types of business that have exactly one person in the account's edition.
create or replace function create_person(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof person
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id? text, accountId text, fullName text, relationship? object null, identification? object null,
        metadata? object null, alone text[]'
    )
  );
  v person;
  o account;
  v_now bigint := clock(p_tenant, p_live);
  v_id text := coalesce(v_args ->> 'id', new_id('person'));
begin
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId'
  for no key update;
  if
    v_args -> 'alone' ? (o.business_details ->> 'type')
    and exists (select from person x where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = o.id)
  then
    perform refuse(
      400,
      'status_invalid',
      'person.account_id',
      'is a sole proprietor or an individual, which has its one person already; update or remove that person'
    );
  end if;
  insert into person
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      full_name,
      relationship,
      identification,
      metadata,
      context_id,
      on_root_list,
      updated_at
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      o.id,
      v_args ->> 'fullName',
      coalesce(nullif(v_args -> 'relationship', 'null'), '{}'),
      coalesce(nullif(v_args -> 'identification', 'null'), '{}'),
      merge_metadata(null, v_args -> 'metadata', 'person.metadata'),
      o.context_id,
      o.on_root_list,
      v_now
    )
  on conflict (tenant_id, livemode, id) do nothing
  returning *
  into v;
  -- The id belongs to this call only: an earlier attempt of the same call was committed, and its response was lost.
  if not found then
    perform refuse(409, 'idempotency_key_in_use', null);
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'person.created', 'person', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Prepares a change of an account's persons, which only a draft allows: locks the account and increments its version,
-- so that an activation that has checked the earlier persons fails with a conflict.
create or replace function change_persons_of(p_tenant text, p_live boolean, p_person text)
returns account
language plpgsql
as $$
declare
  o account;
  v_account text;
begin
  v_account := (
    select p.account_id from person p where p.tenant_id = p_tenant and p.livemode = p_live and p.id = p_person
  );
  if v_account is null then
    perform refuse(404, 'resource_missing', 'person.id');
  end if;
  update account a
  set
    version = a.version + 1,
    -- The account itself does not change.
    updated_at = coalesce(
      a.updated_at,
      case
        when a.version = 0 then a.created
      end
    )
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_account and a.status = 'draft'
  returning *
  into o;
  if not found then
    perform refuse(
      400,
      'account_not_updatable',
      'person.account_id',
      'Persons can be updated and removed only while their account is in status draft.'
    );
  end if;
  return o;
end;
$$;

-- Changes a person. Arguments: those of the API call, and `judged`: the roles, the identification and the type of
-- business against which the caller checked the new values. Objects merge inside the update, so concurrent updates lose
-- nothing.
create or replace function update_person(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof person
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, fullName? text null, relationship? object null, identification? object null,
        metadata? object null,
        judged object {relationship? object, identification? object, type? text null}'
    )
  );
  v person;
  o account;
  j jsonb := v_args -> 'judged';
  v_now bigint := clock(p_tenant, p_live);
begin
  o := change_persons_of(p_tenant, p_live, v_args ->> 'id');
  update person p
  set
    full_name = coalesce(v_args ->> 'fullName', p.full_name),
    relationship = case
      when v_args ? 'relationship' then merge_object(p.relationship, v_args -> 'relationship')
      else p.relationship
    end,
    identification = case
      when v_args ? 'identification' then merge_object(p.identification, v_args -> 'identification')
      else p.identification
    end,
    metadata = case
      when v_args ? 'metadata' then merge_metadata(p.metadata, v_args -> 'metadata', 'person.metadata')
      else p.metadata
    end,
    updated_at = greatest(p.updated_at, v_now)
  where
    p.tenant_id = p_tenant
    and p.livemode = p_live
    and p.id = v_args ->> 'id'
    and (
      not (v_args ? 'relationship' or v_args ? 'identification')
      or (
        p.relationship = j -> 'relationship'
        and p.identification = j -> 'identification'
        and o.business_details ->> 'type' is not distinct from j ->> 'type'
      )
    )
  returning *
  into v;
  if not found then
    perform refuse(409, 'state_conflict', 'person.id');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'person.updated', 'person', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Removes a person. The event and the stored response keep its last state; its files stay.
create or replace function remove_person(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof person
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
  v person;
  o account;
begin
  o := change_persons_of(p_tenant, p_live, v_args ->> 'id');
  delete from person p
  where p.tenant_id = p_tenant and p.livemode = p_live and p.id = v_args ->> 'id'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'person.id');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'person.removed', 'person', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
