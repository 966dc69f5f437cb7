-- Drops the functions whose parameters have got other names: PostgreSQL replaces no function under another name of a
-- parameter. The function files create them again in the same transaction. Gateways pass arguments by position, so they
-- call the new ones by the statements that they have prepared.

do $$
declare
  f regprocedure;
begin
  for f in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proargnames && array['p_call', 'p_context']
  loop
    execute format('drop function %s', f);
  end loop;
end;
$$;
