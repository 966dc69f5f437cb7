-- Exports: whole lists of /v1 as files, which a worker makes in parts. Their times are wall-clock times. A worker has
-- an export until `due`, and what an attempt does counts only while it is the latest one.

-- An export for events and stored responses, without what only the worker needs.
create or replace function shown_export(p_row data_export)
returns jsonb
language plpgsql
immutable
as $$
begin
  return to_jsonb(p_row) - array['caller', 'attempts', 'due', 'parts'];
end;
$$;

-- Refuses a fourth export of a tenant and mode that has not ended, and one that begins when the content that is kept
-- has too many bytes. Writes of one root account wait for each other here.
create or replace function check_export_limits(p_tenant text, p_live boolean, p_bytes_max bigint)
returns void
language plpgsql
as $$
begin
  perform lock_root(p_tenant, p_live);
  if
    (
      select count(*)
      from data_export e
      where e.tenant_id = p_tenant and e.livemode = p_live and e.status in ('pending', 'running')
    ) >= 3
  then
    perform refuse(
      429,
      'rate_limit_exceeded',
      null,
      'At most 3 exports may be pending or running at once. Retry when one of them has ended.'
    );
  end if;
  if
    (
      select sum(e.bytes)
      from data_export e
      where e.tenant_id = p_tenant and e.livemode = p_live and e.status = 'completed'
    ) >= p_bytes_max
  then
    perform refuse(
      429,
      'rate_limit_exceeded',
      null,
      'The exports that are kept have too many bytes together. Retry when one of them has expired.'
    );
  end if;
end;
$$;

create or replace function create_export(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof data_export
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('accountId text, list text, filters text, format text, caller object, bytesMax bigint')
  );
  v data_export;
  v_id text := new_id('export');
  v_now bigint := wall_clock();
  o account;
begin
  perform check_export_limits(p_tenant, p_live, (v_args ->> 'bytesMax')::bigint);
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId';
  insert into data_export
    (tenant_id, livemode, id, created, account_id, list, filters, format, status, caller, due, context_id, on_root_list)
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      o.id,
      v_args ->> 'list',
      v_args ->> 'filters',
      v_args ->> 'format',
      'pending',
      v_args -> 'caller',
      v_now,
      o.context_id,
      o.on_root_list
    )
  returning *
  into v;
  perform emit_event(p_tenant, p_live, p_envelope, 'export.created', 'export', shown_export(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, shown_export(v));
  return next v;
end;
$$;

-- Why the work of a caller must not go on: its key or its session was revoked. A key or session that has only expired
-- stops nothing.
create or replace function caller_revoked(p_tenant text, p_live boolean, p_caller jsonb)
returns text
language plpgsql
stable
as $$
begin
  if
    exists (
      select
      from api_key k
      where k.tenant_id = p_tenant and k.livemode = p_live and k.id = p_caller ->> 'keyId' and k.revoked_at is not null
    )
  then
    return 'Its API key was revoked.';
  end if;
  if
    exists (
      select
      from session s
      where
        s.tenant_id = p_tenant
        and s.livemode = p_live
        and s.id = p_caller -> 'session' ->> 'id'
        and s.revoked_at is not null
    )
  then
    return 'Its session was revoked.';
  end if;
  return null;
end;
$$;
