-- The request log of accounts. Its times are wall-clock times.

-- Stores requests of a tenant and mode that have been answered. Each entry has its age in seconds, so that the clock of
-- the database decides when it was. A repeated call stores nothing twice.
-- Without an event: it says what clients did, and no object changes.
create or replace function store_requests(p_tenant text, p_live boolean, p_requests jsonb)
returns void
language plpgsql
as $$
declare
  v_now numeric := date_part('epoch', clock_timestamp());
begin
  insert into request_log
    (
      tenant_id,
      livemode,
      id,
      created,
      api,
      operation,
      status,
      outcome,
      codes,
      milliseconds,
      api_key_id,
      session_id,
      on_behalf_of,
      context_id,
      on_root_list
    )
  select
    p_tenant,
    p_live,
    r ->> 'id',
    floor(v_now - (r ->> 'age')::numeric),
    r ->> 'api',
    r ->> 'operation',
    (r ->> 'status')::int,
    r ->> 'outcome',
    array(select jsonb_array_elements_text(r -> 'codes')),
    (r ->> 'milliseconds')::int,
    r ->> 'apiKeyId',
    r ->> 'sessionId',
    r ->> 'onBehalfOf',
    r ->> 'accountId',
    true
  from jsonb_array_elements(p_requests) r
  on conflict (tenant_id, livemode, id) do nothing;
end;
$$;

-- Deletes requests that are older than `p_seconds`, among the `p_limit` oldest; returns how many.
-- Without an event: it deletes requests after their time.
create or replace function delete_old_requests(p_tenant text, p_live boolean, p_seconds bigint, p_limit int)
returns int
language plpgsql
as $$
declare
  n int;
  v_before bigint := wall_clock() - p_seconds;
begin
  delete from request_log r
  where
    r.tenant_id = p_tenant
    and r.livemode = p_live
    and r.id = any (
      array(
        select o.id
        from
          (
            select x.id, x.created
            from request_log x
            where x.tenant_id = p_tenant and x.livemode = p_live
            order by x.id
            limit p_limit
          ) o
        where o.created < v_before
      )
    );
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  return n;
end;
$$;
