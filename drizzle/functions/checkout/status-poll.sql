-- Attempts whose outcome is not known: the worker queries the acquirer about them until it gets an answer.

-- Returns the attempts whose status the worker queries from the acquirer now, and postpones the next query of each. The
-- pause grows, up to half a minute before the attempt expires, up to an hour on the day afterwards, and then is a day.
-- The job stays until there is an answer, so a worker that dies meanwhile loses no attempt. This function waits for no
-- lock: it skips jobs that another process has claimed.
-- Without an event: what the acquirer answers has its events.
create or replace function claim_status_polls(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('limit int'));
  j job;
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
  v_wall bigint := wall_clock();
begin
  for j in
    select x.*
    from job x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.kind = 'inquire_transaction' and x.due <= v_wall
    order by x.due, x.id
    limit (v_args ->> 'limit')::int
    for update skip locked
  loop
    select t.* into v from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.id = j.subject_id;
    if v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired') then
      update job x
      set
        attempts = x.attempts + 1,
        due = v_wall + case
          when v.expires_at > v_now then least(v.expires_at - v_now + 5, 30, greatest(5, (v_now - v.created) / 2))
          when v_now - v.expires_at < 86400 then least(3600, greatest(60, v_now - v.expires_at))
          else 86400
        end
      where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
      return next v;
    else
      delete from job x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
    end if;
  end loop;
end;
$$;

-- Records the acquirer's answer to a status poll like any other decision. No status means that the acquirer has never
-- received the attempt, which is final once the attempt has expired. An expired attempt is polled for 30 more days if
-- the acquirer is still working on it, or reports a failure that belongs to another payment. The job stays until the
-- answer is recorded or this time is over. Arguments: as for `decide_transaction`.
create or replace function record_status_poll(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, details? object null, status? text, reasonCode? text, amount? bigint, currency? text,
        afterSeconds? int, afterExpiry? boolean'
    )
  );
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
  v_status text := v_args ->> 'status';
  v_patience bigint := case
    when v_status is null then 0
    else 30 * 86400
  end;
  v_recorded boolean := false;
begin
  if v_status in ('succeeded', 'failed') then
    -- No client request has caused this decision.
    select t.* into v from decide_transaction(p_tenant, p_live, p_envelope - 'requestId', v_args) t;
    v_recorded := v.status <> 'processing'
    or v.taken_amount is not null
    or exists (
      select
      from job j
      where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'settle_transaction' and j.subject_id = v.id
    );
  else
    select t.*
    into v
    from transaction t
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v_args ->> 'id';
  end if;
  if v_recorded or v.expires_at + v_patience <= v_now then
    delete from job j
    where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id;
  end if;
  return next v;
end;
$$;
