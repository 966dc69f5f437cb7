-- What the worker does for an import: it claims it, tries its rows and records what they became.
--
-- Longer than 60 lines: record_import_rows (an insert with its columns and two updates).

-- Gives an import that is due to the caller for some seconds. Returns nothing when another process has it. It fails
-- after five attempts, and one more for each 50 rows that were recorded: more would repeat a row that always fails for
-- days. It also fails when its caller's key was revoked.
create or replace function claim_import(p_tenant text, p_live boolean, p_id text, p_seconds int)
returns setof data_import
language plpgsql
as $$
declare
  v data_import;
  v_now bigint := wall_clock();
  v_fault text;
begin
  update data_import i
  set
    status = 'running',
    attempts = i.attempts + 1,
    due = v_now + p_seconds
  where
    i.tenant_id = p_tenant
    and i.livemode = p_live
    and i.id = p_id
    and i.status in ('pending', 'running')
    and i.due <= v_now
  returning *
  into v;
  if not found then
    return;
  end if;
  v_fault := caller_revoked(p_tenant, p_live, v.caller);
  if v_fault is null and v.attempts > 5 + v.rows_done / 50 then
    v_fault := 'It was interrupted five times.';
  end if;
  if v_fault is not null then
    perform finish_import(p_tenant, p_live, p_id, v.attempts, v_fault);
    return;
  end if;
  return next v;
end;
$$;

-- Keeps an import for some seconds more; false when the attempt is not the latest one any more, or its caller's key was
-- revoked: the next claim ends it then.
-- Without an event: its end has one.
create or replace function extend_import_claim(p_tenant text, p_live boolean, p_id text, p_attempt int, p_seconds int)
returns boolean
language plpgsql
as $$
declare
  v data_import;
  v_now bigint := wall_clock();
begin
  update data_import i
  set due = v_now + p_seconds
  where
    i.tenant_id = p_tenant
    and i.livemode = p_live
    and i.id = p_id
    and i.status = 'running'
    and i.attempts = p_attempt
  returning *
  into v;
  return found and caller_revoked(p_tenant, p_live, v.caller) is null;
end;
$$;

-- Tries writes one after the other, each with those before it in effect, and then undoes all of them. Returns the
-- problems of those that are refused, by their places. So a trial has the rules of the functions that write, and no
-- others. Objects that only the trial has made are not named. Without an event: nothing is stored.
create or replace function try_writes(p_tenant text, p_live boolean, p_writes jsonb)
returns table (place int, problems jsonb)
language plpgsql
as $$
declare
  w record;
  v_found jsonb := '{}';
  v_detail text;
  v_problems jsonb;
  v_id text;
  v_made text[] := '{}';
begin
  begin
    for w in
      select t.write ->> 'fn' as fn, t.write -> 'args' as args, t.place
      from jsonb_array_elements(p_writes) with ordinality t (write, place)
    loop
      if w.fn not in ('create_account', 'create_receivable') then
        raise exception 'a trial cannot call %', w.fn;
      end if;
      begin
        execute format('select x.id from %I($1, $2, $3, $4) x', w.fn)
        into v_id
        using p_tenant, p_live, '{}'::jsonb, w.args;
        v_made := v_made || v_id;
      exception when others then
        if sqlstate !~ '^TG[45]' then
          raise;
        end if;
        /* sql-parser-cst-disable */ get stacked diagnostics v_detail = pg_exception_detail; /* sql-parser-cst-enable */
        v_problems := v_detail;
        if v_problems -> 0 -> 'metadata' ->> 'object_id' = any (v_made) then
          v_problems := v_problems #- '{0,metadata}';
        end if;
        v_found := v_found || jsonb_build_object(w.place, v_problems);
      end;
    end loop;
    raise exception using errcode = 'TG001', message = 'tried';
  exception when sqlstate 'TG001' then
    -- All writes are undone now; the variables keep their values.
    null;
  end;
  return query select k::int, v
    from jsonb_each(v_found) f (k, v);
end;
$$;

-- Records what became of rows; a repeated call records nothing twice. False when the attempt is not the latest one any
-- more, or its caller's key was revoked.
-- Without an event: its end has one.
create or replace function record_import_rows(
  p_tenant text,
  p_live boolean,
  p_id text,
  p_attempt int,
  p_done int,
  p_rows jsonb
)
returns boolean
language plpgsql
as $$
declare
  v data_import;
  v_failed int;
  v_seen int;
  v_now bigint := wall_clock();
begin
  update data_import i
  set rows_done = greatest(i.rows_done, p_done)
  where
    i.tenant_id = p_tenant
    and i.livemode = p_live
    and i.id = p_id
    and i.status = 'running'
    and i.attempts = p_attempt
  returning *
  into v;
  if not found then
    return false;
  end if;
  with
    recorded as (
      insert into import_row
        (tenant_id, livemode, id, created, import_id, row, status, object_id, problems, context_id, on_root_list)
      select
        p_tenant,
        p_live,
        new_id('import_row'),
        v_now,
        p_id,
        (r ->> 'row')::int,
        r ->> 'status',
        r ->> 'objectId',
        r -> 'problems',
        v.context_id,
        v.on_root_list
      from jsonb_array_elements(p_rows) r
      on conflict (tenant_id, livemode, import_id, row) do nothing
      returning status
    )
  select count(*) filter (where status = 'failed'), count(*) filter (where status = 'seen_before')
  into v_failed, v_seen
  from recorded;
  update data_import i
  set
    rows_failed = i.rows_failed + v_failed,
    rows_seen_before = i.rows_seen_before + v_seen
  where i.tenant_id = p_tenant and i.livemode = p_live and i.id = p_id;
  return caller_revoked(p_tenant, p_live, v.caller) is null;
end;
$$;

-- Ends an import: completed, also if rows have failed; or failed with an error. Its rows are kept for 30 days. A
-- repeated call changes nothing.
create or replace function finish_import(p_tenant text, p_live boolean, p_id text, p_attempt int, p_error text)
returns void
language plpgsql
as $$
declare
  v data_import;
  v_now bigint := wall_clock();
begin
  update data_import i
  set
    status = case
      when p_error is null then 'completed'
      else 'failed'
    end,
    error = p_error,
    completed_at = v_now,
    expires_at = v_now + 30 * 86400,
    due = v_now + 30 * 86400
  where
    i.tenant_id = p_tenant
    and i.livemode = p_live
    and i.id = p_id
    and i.status = 'running'
    and i.attempts = p_attempt
  returning *
  into v;
  if found then
    perform emit_event(p_tenant, p_live, '{}', 'import.' || v.status, 'import', shown_import(v));
  end if;
end;
$$;

-- Deletes at most `p_limit` rows of an import 30 days after its end, and then the import; true when there may be more.
-- Without an event: it deletes results after their time.
create or replace function expire_import(p_tenant text, p_live boolean, p_id text, p_limit int)
returns boolean
language plpgsql
as $$
declare
  n int;
  v_now bigint := wall_clock();
begin
  perform
  from data_import i
  where
    i.tenant_id = p_tenant
    and i.livemode = p_live
    and i.id = p_id
    and i.status in ('completed', 'failed')
    and i.due <= v_now
  for update skip locked;
  if not found then
    return false;
  end if;
  delete from import_row r
  where
    r.tenant_id = p_tenant
    and r.livemode = p_live
    and r.import_id = p_id
    and r.id = any (
      array(
        select x.id
        from import_row x
        where x.tenant_id = p_tenant and x.livemode = p_live and x.import_id = p_id
        order by x.created, x.id
        limit p_limit
      )
    );
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  if n = p_limit then
    return true;
  end if;
  delete from data_import i where i.tenant_id = p_tenant and i.livemode = p_live and i.id = p_id;
  return false;
end;
$$;
