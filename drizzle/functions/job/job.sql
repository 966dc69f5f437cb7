-- The functions of the worker. One call does due work of one tenant and mode. SKIP LOCKED keeps several workers apart,
-- and the statement that does a job also deletes it, so each job is done exactly once even if a process dies. A
-- statement cannot query an acquirer: `claim_status_polls` and `claim_refunds` return what the worker asks it for.
--
-- Longer than 60 lines: lock_balances_of_jobs (a statement for each kind of job that changes balances).

-- Whether jobs of a kind query an acquirer, so that no statement can do them.
create or replace function is_for_acquirer(p_kind text)
returns boolean
language plpgsql
immutable
as $$
begin
  return p_kind in ('inquire_transaction', 'send_refund');
end;
$$;

-- Does due jobs, at most `p_limit`, one after the other. It begins none after the first second: requests wait for the
-- balances that the jobs lock, and time out after two seconds. A statement is cancelled once, after five seconds. The
-- job that runs then is rolled back and charged with the error, and the jobs that were finished before stay done.
-- Returns the jobs that it tried, each with its error if it failed.
create or replace function run_due_jobs(p_tenant text, p_live boolean, p_limit int)
returns table (job_id text, job_kind text, job_error text)
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
    where x.tenant_id = p_tenant and x.livemode = p_live and x.due <= v_now and not is_for_acquirer(x.kind)
    order by x.due, x.id
    limit p_limit
    for update skip locked
  );
  -- A job that locks many balances one after the other runs alone, when it is the first one.
  if (v_jobs[1]).kind = 'find_late_entries' then
    v_jobs := v_jobs[1:1];
  else
    v_jobs := array(select x from unnest(v_jobs) x where x.kind <> 'find_late_entries');
  end if;
  begin
    perform lock_balances_of_jobs(p_tenant, p_live, v_jobs);
  exception when lock_not_available then
    -- Another statement holds locks on this tenant's money for too long: the next round tries again, and other tenants
    -- are not delayed.
    return;
  end;
  -- Payouts come last: they lock settings and addresses, which all functions lock after accounts and receivables.
  foreach j in array array(select x from unnest(v_jobs) x order by x.kind = 'pay_out', x.due, x.id) loop
    exit when v_cancelled or (n > 0 and clock_timestamp() > v_until);
    job_id := j.id;
    job_kind := j.kind;
    job_error := null;
    begin
      perform run_job(p_tenant, p_live, j);
      delete from job where tenant_id = p_tenant and livemode = p_live and id = j.id;
      -- `others` matches all errors except query_canceled.
    exception when query_canceled or others then
      v_cancelled := sqlstate = '57014';
      job_error := sqlerrm;
      perform charge_job(p_tenant, p_live, j.id, sqlerrm);
    end;
    n := n + 1;
    return next;
  end loop;
end;
$$;

-- The same, and returns only how many jobs it tried. The operator's command that moves a test clock calls it.
create or replace function run_jobs(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  n int;
begin
  select count(*) into n from run_due_jobs(p_tenant, p_live, p_limit);
  return n;
end;
$$;

-- Records the failure of a job. A failed job does not stop the queue: it waits, longer each time, and keeps its error
-- for the operator.
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
    error = left(p_error, 1000),
    failing_since = coalesce(failing_since, v_now)
  where tenant_id = p_tenant and livemode = p_live and id = p_id;
end;
$$;

-- Charges the job that is due first, after a whole call of `run_jobs` for that job alone has failed. Returns the number
-- of charged jobs: 0 when no job is due or another worker has locked it.
-- Without an event: a job that fails is tried again.
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
  where x.tenant_id = p_tenant and x.livemode = p_live and x.due <= v_now and not is_for_acquirer(x.kind)
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

-- The keys of the balances of some accounts in some currencies, as `lock_balances` takes them.
create or replace function balance_keys(p_accounts text[], p_currencies text[])
returns jsonb
language plpgsql
immutable
as $$
begin
  return coalesce(
    (
      select jsonb_agg(jsonb_build_object('account', a, 'currency', c))
      from
        unnest(p_accounts) a
        cross join unnest(p_currencies) c
      where a is not null
    ),
    '[]'
  );
end;
$$;

-- Locks the balances and the checkouts that any of the jobs may change, and the payers and receivables of the checkouts
-- that it credits, before the first job runs. Otherwise each job would lock them in its own order, and could deadlock
-- with a caller that locks them in the order of the keys.
create or replace function lock_balances_of_jobs(p_tenant text, p_live boolean, p_jobs job[])
returns void
language plpgsql
as $$
declare
  k record;
  v_deposit deposit;
  v_receiver text;
  v_keys jsonb := '[]';
  v_matching text[];
  v_completing text[] := array(select j.subject_id from unnest(p_jobs) j where j.kind = 'complete_deposit');
  v_kinds text[] := array(select distinct j.kind from unnest(p_jobs) j);
  v_checkouts checkout[];
begin
  if cardinality(v_completing) > 0 then
    for k in
      select distinct d.to_account_id as account, d.currency
      from deposits_by_id(p_tenant, p_live, v_completing) d
      where d.status = 'processing'
    loop
      v_receiver := receiver_of(p_tenant, p_live, k.account);
      v_keys := v_keys || balance_keys(
        array[k.account, v_receiver, transfer_target(p_tenant, p_live, v_receiver)],
        array[k.currency]
      );
    end loop;
  end if;
  if v_kinds <@ '{process_deposit,complete_deposit}' then
    perform lock_balances(p_tenant, p_live, v_keys);
    return;
  end if;
  v_matching := array(select j.subject_id from unnest(p_jobs) j where j.kind = 'match_deposit');
  for v_deposit in select x.* from deposits_by_id(p_tenant, p_live, v_matching) x loop
    v_keys := v_keys || money_keys_of(p_tenant, p_live, v_deposit);
  end loop;
  for k in
    select distinct r.account_id as account, r.debited_account_id as debited, r.currency
    from
      unnest(p_jobs) j
      join refund r on r.tenant_id = p_tenant and r.livemode = p_live and r.id = j.subject_id
    where j.kind in ('settle_refund', 'lock_again')
  loop
    v_keys := v_keys || balance_keys(
      array[k.account, receiver_of(p_tenant, p_live, k.account), k.debited],
      array[k.currency]
    );
  end loop;
  -- The accounts and receivables of a checkout never change, so they are read before it is locked.
  v_checkouts := array(
    select c
    from
      unnest(p_jobs) j
      join transaction t on t.tenant_id = p_tenant and t.livemode = p_live and t.id = j.subject_id
      join checkout c on c.tenant_id = p_tenant and c.livemode = p_live and c.id = t.checkout_id
    where j.kind = 'settle_transaction'
  );
  for k in select distinct c.to_account_id as account, c.currency from unnest(v_checkouts) c loop
    v_keys := v_keys || balance_keys(array[k.account, transfer_target(p_tenant, p_live, k.account)], array[k.currency]);
  end loop;
  for k in select distinct j.subject_id as account from unnest(p_jobs) j where j.kind = 'pay_out' loop
    v_keys := v_keys || balance_keys(array[k.account], payout_currencies(p_tenant, p_live, k.account));
  end loop;
  for k in
    select b.account_id as account, array_agg(b.currency) as currencies
    from balance b
    where
      b.tenant_id = p_tenant
      and b.livemode = p_live
      and b.account_id in (
        select y.account_id
        from
          unnest(p_jobs) j
          join payout y on y.tenant_id = p_tenant and y.livemode = p_live and y.id = j.subject_id
        where j.kind = 'settle_payout'
        union
        select unnest(array[j.subject_id, j.args ->> 'account'])
        from unnest(p_jobs) j
        where j.kind in ('settle_locks', 'free_locks', 'shrink_locks', 'transfer_back')
      )
    group by 1
  loop
    v_keys := v_keys || balance_keys(array[k.account], k.currencies);
  end loop;
  perform lock_balances(p_tenant, p_live, v_keys);
  -- Then lock the checkouts, as every function does after the balances.
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
  -- Then the payers and the receivables of the checkouts that are credited, as each credit does.
  perform
  from account a
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.id = any (array(select c.from_account_id from unnest(v_checkouts) c))
  order by a.id
  for no key update;
  perform lock_receivables(p_tenant, p_live, array(select unnest(c.receivable_ids) from unnest(v_checkouts) c));
end;
$$;

-- Runs one job with the function of its kind, named `job_` and the kind. A new kind of job needs a new function only;
-- the kinds of which each deposit has a job are named, because PostgreSQL then plans their calls once.
create or replace function run_job(p_tenant text, p_live boolean, j job)
returns void
language plpgsql
as $$
begin
  if j.kind = 'process_deposit' then
    perform job_process_deposit(p_tenant, p_live, j);
    return;
  elseif j.kind = 'complete_deposit' then
    perform job_complete_deposit(p_tenant, p_live, j);
    return;
  end if;
  if to_regproc('job_' || j.kind) is null then
    raise exception 'no such job: %', j.kind;
  end if;
  execute format('select %I($1, $2, $3)', 'job_' || j.kind)
  using p_tenant, p_live, j;
end;
$$;
