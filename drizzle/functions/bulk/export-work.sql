-- What the worker does for an export: it claims it, appends its parts and ends it.

-- Gives an export that is due to the caller for some seconds, and deletes what an earlier attempt has stored. Returns
-- nothing when another process has it. It fails after five attempts, and when its caller's key was revoked.
create or replace function claim_export(p_tenant text, p_live boolean, p_id text, p_seconds int)
returns setof data_export
language plpgsql
as $$
declare
  v data_export;
  v_now bigint := wall_clock();
  v_fault text;
begin
  update data_export e
  set
    status = 'running',
    attempts = e.attempts + 1,
    due = v_now + p_seconds,
    snapshot_at = v_now,
    rows = 0,
    bytes = 0,
    parts = 0
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.id = p_id
    and e.status in ('pending', 'running')
    and e.due <= v_now
  returning *
  into v;
  if not found then
    return;
  end if;
  delete from export_part p where p.tenant_id = p_tenant and p.livemode = p_live and p.export_id = p_id;
  v_fault := caller_revoked(p_tenant, p_live, v.caller);
  if v_fault is null and v.attempts > 5 then
    v_fault := 'It was interrupted five times.';
  end if;
  if v_fault is not null then
    perform end_export(p_tenant, p_live, v, null, v_fault, 0);
    return;
  end if;
  return next v;
end;
$$;

-- Keeps an export for some seconds more; false when the attempt is not the latest one any more, or its caller's key was
-- revoked: the next claim ends it then.
-- Without an event: its end has one.
create or replace function extend_export_claim(p_tenant text, p_live boolean, p_id text, p_attempt int, p_seconds int)
returns boolean
language plpgsql
as $$
declare
  v data_export;
  v_now bigint := wall_clock();
begin
  update data_export e
  set due = v_now + p_seconds
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.id = p_id
    and e.status = 'running'
    and e.attempts = p_attempt
  returning *
  into v;
  return found and caller_revoked(p_tenant, p_live, v.caller) is null;
end;
$$;

-- Stores the next part of the content, as base64 text; a repeated call stores it once. False when the attempt is not
-- the latest one any more.
-- Without an event: its end has one.
create or replace function append_export_part(
  p_tenant text,
  p_live boolean,
  p_id text,
  p_attempt int,
  p_number int,
  p_rows int,
  p_content text
)
returns boolean
language plpgsql
as $$
declare
  v data_export;
  v_content bytea := decode(p_content, 'base64');
begin
  update data_export e
  set
    rows = e.rows + p_rows,
    bytes = e.bytes + length(v_content),
    parts = p_number
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.id = p_id
    and e.status = 'running'
    and e.attempts = p_attempt
    and e.parts = p_number - 1
  returning *
  into v;
  if found then
    insert into export_part (tenant_id, livemode, export_id, start, content)
    values (p_tenant, p_live, p_id, v.bytes - length(v_content), v_content);
    return true;
  end if;
  return exists (
    select
    from data_export e
    where
      e.tenant_id = p_tenant
      and e.livemode = p_live
      and e.id = p_id
      and e.status = 'running'
      and e.attempts = p_attempt
      and e.parts = p_number
  );
end;
$$;

-- Ends an export: completed with the hash of its content, or failed with an error. The content is kept for some
-- seconds.
create or replace function end_export(
  p_tenant text,
  p_live boolean,
  p_export data_export,
  p_sha256 text,
  p_error text,
  p_keep_seconds bigint
)
returns void
language plpgsql
as $$
declare
  v data_export;
  v_now bigint := wall_clock();
begin
  update data_export e
  set
    status = case
      when p_error is null then 'completed'
      else 'failed'
    end,
    sha256 = p_sha256,
    error = p_error,
    completed_at = v_now,
    expires_at = case
      when p_error is null then v_now + p_keep_seconds
    end,
    due = case
      when p_error is null then v_now + p_keep_seconds
      else v_now
    end
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.id = p_export.id
    and e.status = 'running'
    and e.attempts = p_export.attempts
  returning *
  into v;
  if found then
    perform emit_event(p_tenant, p_live, '{}', 'export.' || v.status, 'export', shown_export(v));
  end if;
end;
$$;

-- The same for the worker, by the id and the attempt; a repeated call changes nothing.
create or replace function finish_export(
  p_tenant text,
  p_live boolean,
  p_id text,
  p_attempt int,
  p_sha256 text,
  p_error text,
  p_keep_seconds bigint
)
returns void
language plpgsql
as $$
declare
  v data_export;
begin
  select e.*
  into v
  from data_export e
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.id = p_id
    and e.status = 'running'
    and e.attempts = p_attempt
  for no key update;
  if found then
    perform end_export(p_tenant, p_live, v, p_sha256, p_error, p_keep_seconds);
  end if;
end;
$$;

-- Deletes at most `p_limit` parts of an export whose content has expired or that failed; true when there may be more.
-- The export itself is deleted 30 days after its end.
-- Without an event: it deletes content after its time.
create or replace function expire_export(p_tenant text, p_live boolean, p_id text, p_limit int)
returns boolean
language plpgsql
as $$
declare
  v data_export;
  n int;
  v_now bigint := wall_clock();
begin
  select e.*
  into v
  from data_export e
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.id = p_id
    and e.status in ('completed', 'failed', 'expired')
    and e.due <= v_now
  for update skip locked;
  if not found then
    return false;
  end if;
  update data_export e
  set status = 'expired'
  where e.tenant_id = p_tenant and e.livemode = p_live and e.id = p_id and e.status = 'completed';
  delete from export_part p
  where
    p.tenant_id = p_tenant
    and p.livemode = p_live
    and p.export_id = p_id
    and p.start = any (
      array(
        select x.start
        from export_part x
        where x.tenant_id = p_tenant and x.livemode = p_live and x.export_id = p_id
        order by x.start
        limit p_limit
      )
    );
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  if n = p_limit then
    return true;
  end if;
  if v.completed_at <= v_now - 30 * 86400 then
    delete from data_export e where e.tenant_id = p_tenant and e.livemode = p_live and e.id = p_id;
  else
    update data_export e
    set due = e.completed_at + 30 * 86400
    where e.tenant_id = p_tenant and e.livemode = p_live and e.id = p_id;
  end if;
  return false;
end;
$$;
