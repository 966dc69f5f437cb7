-- The queue of jobs: what a write adds to it, and what the operator makes due.

-- Enqueues a job; the worker sees it when the calling statement commits. Due times follow the wall clock, so that one
-- index serves all tenants; moving a test clock forward moves them back.
create or replace function enqueue(
  p_tenant text,
  p_live boolean,
  p_kind text,
  p_subject text,
  p_seconds bigint,
  p_args jsonb default '{}'
)
returns void
language plpgsql
as $$
begin
  perform enqueue_at(p_tenant, p_live, p_kind, p_subject, p_seconds, p_args, clock(p_tenant, p_live));
end;
$$;

-- The same, with a time that the caller has already read.
create or replace function enqueue_at(
  p_tenant text,
  p_live boolean,
  p_kind text,
  p_subject text,
  p_seconds bigint,
  p_args jsonb,
  p_now bigint
)
returns text
language plpgsql
as $$
declare
  v_id text := new_id('job');
  v_due bigint := wall_clock() + p_seconds;
begin
  insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
  values (p_tenant, p_live, v_id, p_now, p_kind, p_subject, p_args, v_due);
  return v_id;
end;
$$;

-- Makes a job due now, at the operator's request. It keeps its attempts and its error until it is done.
-- Without an event: the job has its events when it is done.
create or replace function retry_job(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof job
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
  j job;
  v_now bigint := wall_clock();
begin
  update job x
  set due = least(x.due, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id'
  returning *
  into j;
  if not found then
    perform refuse(404, 'resource_missing', 'job.id');
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(j));
  return next j;
end;
$$;
