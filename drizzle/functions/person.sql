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

-- Masks a number for display: the last four characters stay, and none of a number with four characters or fewer.
create or replace function masked(p_number text)
returns text
language plpgsql
immutable
as $$
begin
  return repeat(
    '•',
    char_length(p_number) - case
      when char_length(p_number) > 4 then 4
      else 0
    end
  ) || case
    when char_length(p_number) > 4 then right(p_number, 4)
    else ''
  end;
end;
$$;

-- The data of a person with its tax card number masked. It is a function because a distributed update takes nothing of
-- a row's columns that PostgreSQL does not know to be immutable.
create or replace function with_masked_number(p_data jsonb)
returns jsonb
language plpgsql
immutable
as $$
begin
  return jsonb_set(
    p_data,
    '{identification,taxCardNumber}',
    to_jsonb(masked(p_data #>> '{identification,taxCardNumber}'))
  );
end;
$$;

-- Replaces tax card numbers that were read with encrypted ones: [{id, was, mask, sealed, clear}, …]. A number that was
-- changed meanwhile stays. Where a number was stored in clear text, the events about its person show it masked from now
-- on; each update repeats the condition of an index, because it would otherwise read all events of the tenant.
-- Without an event: what clients see of a person does not change.
create or replace function seal_tax_cards(p_tenant text, p_live boolean, p_cards jsonb)
returns void
language plpgsql
as $$
declare
  v_clear text[] := array(select x ->> 'id' from jsonb_array_elements(p_cards) x where (x ->> 'clear')::boolean);
  -- The key of the index, which has a hash of the id.
  v_hashes int[] := array(select hashtext(x) from unnest(v_clear) x);
  c jsonb;
  v_sealed jsonb;
begin
  for c in select jsonb_array_elements(p_cards) loop
    v_sealed := jsonb_build_object('taxCardNumber', c ->> 'mask', 'taxCardSealed', c ->> 'sealed');
    update person x
    set identification = x.identification || v_sealed
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.id = c ->> 'id'
      and coalesce(x.identification ->> 'taxCardSealed', x.identification ->> 'taxCardNumber') = c ->> 'was';
  end loop;
  if cardinality(v_clear) = 0 then
    return;
  end if;
  update event e
  set data = with_masked_number(e.data)
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and hashtext(e.object_id) = any (v_hashes)
    and e.object_id = any (v_clear)
    and e.number is not null
    and e.object = 'person'
    and e.data #>> '{identification,taxCardNumber}' <> masked(e.data #>> '{identification,taxCardNumber}');
  update event e
  set data = with_masked_number(e.data)
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.number is null
    and e.object = 'person'
    and e.object_id = any (v_clear)
    and e.data #>> '{identification,taxCardNumber}' <> masked(e.data #>> '{identification,taxCardNumber}');
end;
$$;

-- Masks tax card numbers in the stored responses of a tenant and mode from the time `p_from` on, the oldest first and
-- about `p_limit` per call. Returns the time from which the next call continues, or null when no responses are left.
-- Without an event: stored responses are no objects of clients.
create or replace function mask_stored_answers(p_tenant text, p_live boolean, p_from bigint, p_limit int)
returns bigint
language plpgsql
as $$
declare
  v_last bigint;
begin
  v_last := (
    select max(x.created)
    from
      (
        select i.created
        from idempotency i
        where i.tenant_id = p_tenant and i.livemode = p_live and i.created >= p_from
        order by i.created
        limit p_limit
      ) x
  );
  if v_last is null then
    return null;
  end if;
  update idempotency i
  set answer = with_masked_number(i.answer)
  where
    i.tenant_id = p_tenant
    and i.livemode = p_live
    and i.created >= p_from
    and i.created <= v_last
    and i.operation in ('createPerson', 'updatePerson')
    and i.answer #>> '{identification,taxCardNumber}' <> masked(i.answer #>> '{identification,taxCardNumber}');
  return v_last + 1;
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
    updated_at = v_now
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
