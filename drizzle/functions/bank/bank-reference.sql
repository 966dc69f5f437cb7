-- The references of bank notices. Those from before this release may have white space around them.

-- The notices under a reference, by what is compared: without the white space around it. New ones are stored so, and
-- have the primary key. Notices from before may have white space in theirs, and more than one may be of one transfer.
create or replace function bank_notices_under(p_tenant text, p_live boolean, p_bare text)
returns setof bank_notice
language plpgsql
stable
as $$
begin
  return query select b.*
    from bank_notice b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.reference = p_bare
    union all
    select b.*
    from bank_notice b
    where
      b.tenant_id = p_tenant
      and b.livemode = p_live
      and btrim(b.reference, white_space()) = p_bare
      and b.reference <> btrim(b.reference, white_space());
end;
$$;

-- Whether two notices are about one transfer: the address, the currency and the amount are the same.
create or replace function is_same_transfer(p_one jsonb, p_other jsonb)
returns boolean
language plpgsql
immutable
as $$
begin
  return (p_one ->> 'toAddressId', p_one ->> 'currency', p_one ->> 'amount') is not distinct from (
    p_other ->> 'toAddressId',
    p_other ->> 'currency',
    p_other ->> 'amount'
  );
end;
$$;

-- The reference under which a notice is stored: that of the oldest notice of received money, or else of a reversal,
-- which has the same but for white space around it, or else the given one without that. Notices of the same transfer
-- come before those of another one. A reversal under the exact reference of one of several such notices is of that one,
-- so that a duplicate from before can be taken back. Refuses a new reference as `checked_reference` does.
create or replace function stored_reference(
  p_tenant text,
  p_live boolean,
  p_reference text,
  p_event text,
  p_content jsonb
)
returns text
language plpgsql
stable
as $$
declare
  v_bare text := btrim(p_reference, white_space());
  v_stored text;
begin
  select n.reference
  into v_stored
  from bank_notices_under(p_tenant, p_live, v_bare) n
  order by
    is_same_transfer(n.content, p_content) desc,
    p_event = 'reversed' and n.event = 'received' and n.reference = p_reference desc,
    n.event = 'received' desc,
    n.created,
    n.reference <> v_bare,
    n.reference
  limit 1;
  if found then
    return v_stored;
  end if;
  return checked_reference(p_reference, 'deposit.reference');
end;
$$;

-- A new reference without the white space around it. Refuses one that is empty, and one with control characters or
-- characters that nobody sees, which would make it another than it looks.
create or replace function checked_reference(p_reference text, p_field text)
returns text
language plpgsql
immutable
as $$
declare
  v_bare text := btrim(p_reference, white_space());
begin
  if v_bare = '' then
    perform refuse(400, 'parameter_invalid_empty', p_field);
  end if;
  if
    v_bare ~ (
      '[\u0001-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F' || '\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]'
    )
  then
    perform refuse(400, 'parameter_invalid', p_field, 'contains a control character or an invisible one. Remove it.');
  end if;
  return v_bare;
end;
$$;

-- Refuses the reversal of a transfer again while another notice of the same transfer from before, whose reference
-- differs in white space alone, has a deposit that was not reversed: what was reversed may have been taken back as a
-- duplicate, and the bank means this one.
create or replace function refuse_other_deposit(p_tenant text, p_live boolean, p_reference text)
returns void
language plpgsql
stable
as $$
declare
  v_content jsonb := (
    select b.content
    from bank_notice b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.reference = p_reference and b.event = 'reversed'
  );
  n bank_notice;
  v_reversed text[] := '{}';
  v_received text[] := '{}';
begin
  for n in select x.* from bank_notices_under(p_tenant, p_live, btrim(p_reference, white_space())) x loop
    if n.event = 'reversed' then
      v_reversed := v_reversed || n.reference;
    elseif is_same_transfer(n.content, v_content) then
      v_received := v_received || n.reference;
    end if;
  end loop;
  if not v_received <@ v_reversed then
    perform refuse(
      409,
      'state_conflict',
      'deposit.reference',
      'was already reversed, and a duplicate with other white space around its reference was not; reverse that one'
    );
  end if;
end;
$$;
