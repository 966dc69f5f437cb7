-- The numbers of tax cards of persons: encrypted in rows, masked in events and stored responses.

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
