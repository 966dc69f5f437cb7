-- Raised where a statement that answers a compiled query finds nothing that its type says is there.
create or replace function absent()
returns text
language plpgsql
as $$
begin
  raise exception using errcode = 'TG000', message = 'absent';
end;
$$;
