-- Attempts whose outcome is not known: the worker queries the acquirer about them until it gets an answer.

-- Returns the attempts whose status the worker queries from the acquirer now, and postpones the next query of each. The
-- pause grows, up to half a minute before the attempt expires, up to an hour on the day afterwards, and then is a day.
-- 30 days after the attempt has expired it is queried for the last time, whether or not the acquirer ever answers: in
-- live mode its job then stays without a next time, and the operator finds the attempt by it (`pollsEnded` of
-- src/jobs/table.ts). The job stays until there is an answer, so a worker that dies meanwhile loses no attempt. This
-- function waits for no lock: it skips jobs that another process has claimed.
-- Without an event: what the acquirer answers has its events.
create or replace function claim_status_polls(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('limit int'));
  j job;
  v transaction;
  v_open boolean;
  v_last boolean;
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
    v_open := v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired');
    v_last := v.expires_at + 30 * 86400 <= v_now;
    if v_open then
      return next v;
    end if;
    if v_open and (p_live or not v_last) then
      update job x
      set
        attempts = x.attempts + 1,
        due = case
          when v_last then 253402300799
          when v.expires_at > v_now then v_wall + least(
            v.expires_at - v_now + 5,
            30,
            greatest(5, (v_now - v.created) / 2)
          )
          when v_now - v.expires_at < 86400 then v_wall + least(3600, greatest(60, v_now - v.expires_at))
          else v_wall + 86400
        end
      where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
    else
      delete from job x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
    end if;
  end loop;
end;
$$;

-- Records the acquirer's answer to a status poll like any other decision. No status means that the acquirer has never
-- received the attempt, which is final once the attempt has expired. The job stays while the acquirer is still working
-- on the attempt, or reports a failure that belongs to another payment. Arguments: as for `decide_transaction`.
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
  v_recorded boolean := false;
begin
  if v_status in ('succeeded', 'failed') then
    -- No client request has caused this decision.
    select t.* into v from decide_transaction(p_tenant, p_live, p_envelope - 'requestId', v_args) t;
    v_recorded := not (v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired'))
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
  if v_recorded or (v_status is null and v.expires_at <= v_now) then
    delete from job j
    where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id;
  end if;
  return next v;
end;
$$;
