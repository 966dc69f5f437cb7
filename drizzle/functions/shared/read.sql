-- Raises an error where the statement of a compiled query finds no value, or an enum value without a name, for a field
-- that is never null.
create or replace function absent()
returns text
language plpgsql
as $$
begin
  raise exception using errcode = 'TG000', message = 'absent';
end;
$$;

-- A position among the ids of one kind: the id with its time moved by some seconds. Ids of another form are not moved.
create or replace function id_after(p_id text, p_seconds int)
returns text
language plpgsql
immutable
as $$
declare
  v_time text := (regexp_match(p_id, '_([0-9a-f]{14})[0-9a-f]{18}$'))[1];
begin
  if v_time is null then
    return case
      when p_seconds < 0 then ''
      else p_id || '~'
    end;
  end if;
  return split_part(p_id, v_time, 1) || lpad(
    to_hex(('x' || v_time)::bit(56)::bigint + p_seconds * 1000000::bigint),
    14,
    '0'
  );
end;
$$;
