-- The processes of the gateways that run.

-- Says that a process runs, and forgets those that have not been seen for a day.
-- Without an event: it is about no object of a tenant.
create or replace function report_gateway_process(p_id text, p_host text, p_process int, p_version text)
returns void
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
begin
  insert into gateway_process as g (id, host, process, version, started_at, seen_at)
  values (p_id, p_host, p_process, p_version, v_now, v_now)
  on conflict (id) do update
    set seen_at = excluded.seen_at;
  delete from gateway_process g where g.seen_at < v_now - 86400;
end;
$$;

-- Removes a process that ends.
-- Without an event: it is about no object of a tenant.
create or replace function remove_gateway_process(p_id text)
returns void
language plpgsql
as $$
begin
  delete from gateway_process g where g.id = p_id;
end;
$$;
