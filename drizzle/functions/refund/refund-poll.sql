-- Refunds that an acquirer carries out: the worker submits them, and asks until they have ended.

-- Returns the pending refunds that the worker submits to the acquirer now, and postpones the next time of each: the
-- pause grows up to an hour. The job stays until the refund has ended, so a worker that dies meanwhile loses none. This
-- function waits for no lock: it skips jobs that another process has claimed. The job of a duplicate names the attempt,
-- until its refund is made here. With `duplicates: false` these jobs wait. With `submits: false` there is no acquirer
-- to submit to: nothing is returned or counted, and the jobs wait for one; in test mode the sandbox completes the
-- refund of a duplicate then, and where `submits` is not given.
create or replace function claim_refunds(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof refund
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('limit int, duplicates boolean, submits? boolean'));
  j job;
  r refund;
  v_submits boolean := coalesce((v_args ->> 'submits')::boolean, true);
  v_wall bigint := wall_clock();
begin
  for j in
    select x.*
    from job x
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.kind = 'send_refund'
      and x.due <= v_wall
      and ((v_args ->> 'duplicates')::boolean or not starts_with(x.subject_id, 'transaction_'))
    order by x.due, x.id
    limit (v_args ->> 'limit')::int
    for update skip locked
  loop
    if starts_with(j.subject_id, 'transaction_') then
      r := refund_duplicate(p_tenant, p_live, j.subject_id);
      if not p_live and (v_args ->> 'submits')::boolean is not true then
        perform enqueue(p_tenant, p_live, 'settle_refund', r.id, 60);
        delete from job x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
        continue;
      end if;
    else
      select y.* into r from refund y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = j.subject_id;
    end if;
    if r.status = 'pending' then
      update job x
      set
        subject_id = r.id,
        attempts = x.attempts + v_submits::int,
        due = v_wall + case
          when v_submits then least(3600, 5 * 2 ^ least(x.attempts, 10))::bigint
          else 300
        end
      where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
      if v_submits then
        return next r;
      end if;
    else
      delete from job x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
    end if;
  end loop;
end;
$$;
