-- Raises an error where the statement of a compiled query finds no value for a non-null field.
create or replace function absent()
returns text
language plpgsql
as $$
begin
  raise exception using errcode = 'TG000', message = 'absent';
end;
$$;
