-- The worker's side. One call does due work of one tenant and mode; SKIP LOCKED keeps several workers apart, and a job
-- is deleted by the statement that did it, so it is done exactly once whatever dies. What an acquirer is to be asked
-- about cannot be done by a statement: `claim_inquiries` hands it out.

-- Does due jobs, `p_limit` at most and none after the first second: the balances that they lock are waited for by
-- requests, which have two seconds. A statement is cancelled after five, once: a job that is running then is undone and
-- charged, and what was done before it stays done.
create or replace function run_jobs(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  j job;
  n int := 0;
  v_now bigint := wall_clock();
  v_jobs job[];
  v_until timestamptz := clock_timestamp() + interval '1 second';
  v_cancelled boolean := false;
begin
  v_jobs := array(
    select x
    from job x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.due <= v_now and x.kind <> 'inquire_transaction'
    order by x.due, x.id
    limit p_limit
    for update skip locked
  );
  begin
    perform lock_balances_of_jobs(p_tenant, p_live, v_jobs);
  exception when lock_not_available then
    -- Somebody is slow with this tenant's money: the next round tries again, and other tenants go on.
    return 0;
  end;
  -- Payouts come last: they lock settings and addresses, which everybody locks after accounts and receivables.
  foreach j in array array(select x from unnest(v_jobs) x order by x.kind = 'pay_out', x.due, x.id) loop
    exit when v_cancelled or (n > 0 and clock_timestamp() > v_until);
    begin
      perform run_job(p_tenant, p_live, j);
      delete from job where tenant_id = p_tenant and livemode = p_live and id = j.id;
      -- `others` are all errors but this one.
    exception when query_canceled or others then
      v_cancelled := sqlstate = '57014';
      perform charge_job(p_tenant, p_live, j.id, sqlerrm);
    end;
    n := n + 1;
  end loop;
  return n;
end;
$$;

-- A job that has failed does not stop the queue: it waits, longer each time, and keeps the reason for the operator.
create or replace function charge_job(p_tenant text, p_live boolean, p_id text, p_error text)
returns void
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
begin
  update job
  set
    attempts = attempts + 1,
    due = v_now + least(3600, 2 ^ least(attempts, 12))::bigint,
    error = left(p_error, 1000)
  where tenant_id = p_tenant and livemode = p_live and id = p_id;
end;
$$;

-- Charges the job that is due first, after `run_jobs` has failed as a whole for that job alone. Returns how many were
-- charged: none when there is none left or another worker is at it.
create or replace function charge_first_job(p_tenant text, p_live boolean, p_error text)
returns int
language plpgsql
as $$
declare
  v_id text;
  v_now bigint := wall_clock();
begin
  select x.id
  into v_id
  from job x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.due <= v_now and x.kind <> 'inquire_transaction'
  order by x.due, x.id
  limit 1
  for update skip locked;
  if not found then
    return 0;
  end if;
  perform charge_job(p_tenant, p_live, v_id, p_error);
  return 1;
end;
$$;

-- Makes a job due now, at the operator's request. It keeps its attempts and its error until it is done.
create or replace function retry_job(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
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
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(j));
  return next j;
end;
$$;

-- Locks the balances and the checkouts that any of the jobs may change, before the first of them: one after the other
-- the jobs would lock them in their own order, and meet whoever locks them in the order of the keys.
create or replace function lock_balances_of_jobs(p_tenant text, p_live boolean, p_jobs job[])
returns void
language plpgsql
as $$
begin
  perform lock_balances(
    p_tenant,
    p_live,
    coalesce(
      (
        select jsonb_agg(jsonb_build_object('account', k.account, 'currency', k.currency))
        from
          (
            select x.account, d.currency
            from
              unnest(p_jobs) j
              join deposit d
                on d.tenant_id = p_tenant and d.livemode = p_live and d.id = j.subject_id and d.status = 'processing'
              cross join lateral (select receiver_of(p_tenant, p_live, d.to_account_id) as id) r
              cross join lateral (
                values
                  (d.to_account_id),
                  (r.id),
                  (transfer_target(p_tenant, p_live, r.id))
              ) x (account)
            where j.kind = 'complete_deposit'
            union
            select x.account, c.currency
            from
              unnest(p_jobs) j
              join transaction t on t.tenant_id = p_tenant and t.livemode = p_live and t.id = j.subject_id
              join checkout c on c.tenant_id = p_tenant and c.livemode = p_live and c.id = t.checkout_id
              cross join lateral (
                values
                  (c.to_account_id),
                  (transfer_target(p_tenant, p_live, c.to_account_id))
              ) x (account)
            where j.kind = 'settle_transaction'
            union
            select j.subject_id, x.currency
            from
              unnest(p_jobs) j
              cross join lateral unnest(payout_currencies(p_tenant, p_live, j.subject_id)) x (currency)
            where j.kind = 'pay_out'
            union
            select b.account_id, b.currency
            from
              unnest(p_jobs) j
              join balance b
                on b.tenant_id = p_tenant
                and b.livemode = p_live
                and b.account_id = case j.kind
                  when 'settle_payout' then (
                    select y.account_id
                    from payout y
                    where y.tenant_id = p_tenant and y.livemode = p_live and y.id = j.subject_id
                  )
                  else j.subject_id
                end
            where j.kind in ('settle_payout', 'settle_locks', 'free_locks', 'shrink_locks')
          ) k
      ),
      '[]'
    )
  );
  -- Then the checkouts, as everybody does who has locked the balances.
  perform
  from checkout c
  where
    c.tenant_id = p_tenant
    and c.livemode = p_live
    and c.id in (
      select coalesce(t.checkout_id, j.subject_id)
      from
        unnest(p_jobs) j
        left join transaction t on t.tenant_id = p_tenant and t.livemode = p_live and t.id = j.subject_id
      where j.kind in ('expire_checkout', 'expire_transaction', 'settle_transaction')
    )
  order by c.id
  for update;
end;
$$;

-- Does one job by the function of its kind: `job_` and the kind. A new kind of job is a new function.
create or replace function run_job(p_tenant text, p_live boolean, j job)
returns void
language plpgsql
as $$
begin
  if to_regproc('job_' || j.kind) is null then
    raise exception 'no such job: %', j.kind;
  end if;
  execute format('select %I($1, $2, $3)', 'job_' || j.kind)
  using p_tenant, p_live, j;
end;
$$;
