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
