-- Moves a tenant's test clock forward, and the due times of its jobs back by the same amount.
create or replace function advance_clock(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof test_clock
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('advanceSeconds int'));
  v test_clock;
  v_seconds bigint := (v_args ->> 'advanceSeconds')::bigint;
  v_wall bigint := wall_clock();
begin
  if p_live then
    raise exception 'only test mode has a clock';
  end if;
  insert into test_clock (tenant_id, livemode, offset_seconds, now)
  values (p_tenant, p_live, v_seconds, v_wall + v_seconds)
  on conflict (tenant_id, livemode) do update
    set
      offset_seconds = test_clock.offset_seconds + excluded.offset_seconds,
      now = v_wall + test_clock.offset_seconds + excluded.offset_seconds
  returning *
  into v;
  -- Both APIs return the offset as a 32-bit integer, so no client could read a larger one.
  if v.offset_seconds > 2147483647 then
    perform refuse(
      400,
      'parameter_invalid',
      'clock.advance_seconds',
      'would take the clock further ahead of real time than 2147483647 seconds. Send fewer seconds.'
    );
  end if;
  update job j set due = j.due - v_seconds where j.tenant_id = p_tenant and j.livemode = p_live;
  perform emit_root_event(p_tenant, p_live, p_envelope, 'clock.advanced', 'clock', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
