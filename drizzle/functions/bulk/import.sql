-- Imports: the creation of an object for each row of a CSV file, or its trial. Their times are wall-clock times. A
-- worker has an import until `due`, and what an attempt records counts only while it is the latest one.
--
-- Longer than 60 lines: create_import (one insert with its columns).

-- An import for events and stored responses, without what only the worker needs.
create or replace function shown_import(p_row data_import)
returns jsonb
language plpgsql
immutable
as $$
begin
  return to_jsonb(p_row) - array['caller', 'attempts', 'due'];
end;
$$;

create or replace function create_import(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof data_import
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('accountId text, kind text, fileId text, dryRun boolean, allowDuplicates? boolean, rows int, caller object')
  );
  v data_import;
  v_id text := new_id('import');
  v_now bigint := wall_clock();
  o account;
begin
  -- Writes of one root account wait for each other here.
  perform lock_root(p_tenant, p_live);
  if
    (
      select count(*)
      from data_import i
      where i.tenant_id = p_tenant and i.livemode = p_live and i.status in ('pending', 'running')
    ) >= 3
  then
    perform refuse(
      429,
      'rate_limit_exceeded',
      null,
      'At most 3 imports may be pending or running at once. Retry when one of them has ended.'
    );
  end if;
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId';
  insert into data_import
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      kind,
      file_id,
      dry_run,
      allow_duplicates,
      rows,
      status,
      caller,
      due,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      o.id,
      v_args ->> 'kind',
      v_args ->> 'fileId',
      (v_args ->> 'dryRun')::boolean,
      coalesce((v_args ->> 'allowDuplicates')::boolean, false),
      (v_args ->> 'rows')::int,
      'pending',
      v_args -> 'caller',
      v_now,
      o.context_id,
      o.on_root_list
    )
  returning *
  into v;
  perform emit_event(p_tenant, p_live, p_envelope, 'import.created', 'import', shown_import(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, shown_import(v));
  return next v;
end;
$$;
