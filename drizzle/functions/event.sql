-- Gives numbers to events that have none, densely and in the order in which they are found: neither time nor a sequence is
-- the order of commits, and readers see numbered events only, so whoever follows the numbers misses none.
-- One process numbers a tenant and mode at a time; who finds the counter taken leaves it to the other.
create or replace function number_events(p_tenant text, p_live boolean, p_limit int) returns int language plpgsql as $$
declare v_last bigint; e record; n int := 0;
begin
  insert into event_counter (tenant_id, livemode, last) values (p_tenant, p_live, 0) on conflict (tenant_id, livemode) do nothing;
  select c.last into v_last from event_counter c where c.tenant_id = p_tenant and c.livemode = p_live for update skip locked;
  if not found then return 0; end if;
  for e in select id from event where tenant_id = p_tenant and livemode = p_live and number is null order by created, id limit p_limit loop
    n := n + 1;
    update event set number = v_last + n where tenant_id = p_tenant and livemode = p_live and id = e.id;
  end loop;
  update event_counter c set last = v_last + n where c.tenant_id = p_tenant and c.livemode = p_live;
  return n;
end $$;
