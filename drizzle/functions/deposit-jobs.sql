-- The jobs of deposits: the sandbox bank begins to process a deposit, and completes it. Those that are due at the same
-- time are done together, with one statement for each table.
--
-- Longer than 60 lines: complete_deposits (what `move_deposit` does to complete one, for each table).

-- The sandbox bank begins to process a deposit, unless a client has moved it. One that a client has begun to process is
-- completed like its own.
create or replace function job_process_deposit(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_status text;
begin
  select d.status
  into v_status
  from deposit d
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = p_job.subject_id
  for update;
  if v_status = 'processing' then
    perform take_on_deposits(p_tenant, p_live, array[p_job.subject_id]);
  elseif v_status = 'initialized' then
    perform move_deposit(
      p_tenant,
      p_live,
      '{}',
      jsonb_build_object('id', p_job.subject_id, 'from', jsonb_build_array('initialized'), 'to', 'processing')
    );
    perform enqueue(p_tenant, p_live, 'complete_deposit', p_job.subject_id, 1);
  end if;
end;
$$;

-- The sandbox bank completes a deposit, unless a client has moved it. The caller has locked the balances.
create or replace function job_complete_deposit(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  perform
  from deposit d
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = p_job.subject_id and d.status = 'processing'
  for update;
  if found then
    perform move_deposit(
      p_tenant,
      p_live,
      '{}',
      jsonb_build_object('id', p_job.subject_id, 'from', jsonb_build_array('processing'), 'to', 'completed')
    );
  end if;
end;
$$;

-- The deposits of some ids. Like all functions over the rows of several keys, it is planned for each call: a session
-- keeps a plan, and one from when the table was small scans it.
create or replace function deposits_by_id(p_tenant text, p_live boolean, p_ids text[])
returns setof deposit
language plpgsql
stable
set plan_cache_mode = force_custom_plan
as $$
begin
  return query select d.* from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = any (p_ids);
end;
$$;

-- Locks the deposits of some ids, and returns them. It leaves out those that another statement has locked.
create or replace function lock_free_deposits(p_tenant text, p_live boolean, p_ids text[])
returns setof deposit
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
begin
  return query select d.*
    from deposit d
    where d.tenant_id = p_tenant and d.livemode = p_live and d.id = any (p_ids)
    order by d.id
    for update skip locked;
end;
$$;

-- Changes the status of several deposits. The amounts of those in `p_pending` are to be reconciled from now on.
create or replace function set_deposits_status(
  p_tenant text,
  p_live boolean,
  p_ids text[],
  p_status text,
  p_pending text[],
  p_now bigint
)
returns setof deposit
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
declare
  d deposit;
begin
  for d in update deposit x
  set
    status = p_status,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, p_now),
    pending_rest = case
      when x.id = any (p_pending) then x.amount
      else x.pending_rest
    end
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = any (p_ids)
  returning * loop
    return next d;
  end loop;
end;
$$;

-- Begins to process several deposits: what `move_deposit` does for one, and their next job. The caller has locked them
-- and found that they are initialized.
create or replace function process_deposits(p_tenant text, p_live boolean, p_ids text[])
returns void
language plpgsql
as $$
declare
  v_rows jsonb[];
  v_now bigint := clock(p_tenant, p_live);
begin
  v_rows := array(
    select to_jsonb(d)
    from set_deposits_status(p_tenant, p_live, p_ids, 'processing', '{}', v_now) d
  );
  perform enqueue_for_each(p_tenant, p_live, 'complete_deposit', p_ids, 1, v_now);
  perform emit_events_at(p_tenant, p_live, '{}', 'deposit.processing', 'deposit', v_rows, v_now);
end;
$$;

-- Completes several deposits: what `move_deposit` does for one. The caller has locked them and the balances that their
-- money goes to, and found that they are in process.
create or replace function complete_deposits(p_tenant text, p_live boolean, p_deposits deposit[])
returns void
language plpgsql
as $$
declare
  d deposit;
  p payment;
  v_address text;
  v_category text;
  v_ids text[] := '{}';
  v_payments text[] := '{}';
  v_pending text[] := '{}';
  v_categories text[] := '{}';
  v_of_checkout text[] := '{}';
  v_source jsonb;
  v_legs jsonb[] := '{}';
  v_new deposit[];
  v_rows jsonb[];
  v_now bigint := clock(p_tenant, p_live);
begin
  foreach d in array p_deposits loop
    -- Neighbours often have the same address.
    if v_category is null or d.to_address_id is distinct from v_address then
      v_address := d.to_address_id;
      v_category := category_of(p_tenant, p_live, d);
    end if;
    if v_category = 'pending' then
      v_pending := v_pending || d.id;
    end if;
    v_categories := v_categories || v_category;
    v_ids := v_ids || d.id;
    v_payments := v_payments || d.payment_id;
  end loop;
  for p in select x.* from set_payments_status(p_tenant, p_live, v_payments, 'completed', v_now) x loop
    if p.checkout_id is not null then
      v_of_checkout := v_of_checkout || p.id;
    end if;
  end loop;
  for i in 1..cardinality(p_deposits) loop
    d := p_deposits[i];
    v_source := case
      when d.payment_id = any (v_of_checkout) then source_legs(p_tenant, p_live, d)
      else jsonb_build_array(contra_leg('bank', d.currency, -d.amount))
    end;
    v_legs := v_legs || (jsonb_build_array(leg(d.to_account_id, v_categories[i], d.currency, d.amount)) || v_source);
  end loop;
  v_new := array(select x from set_deposits_status(p_tenant, p_live, v_ids, 'completed', v_pending, v_now) x);
  v_rows := array(select to_jsonb(x) from unnest(v_new) x);
  perform post_credits(p_tenant, p_live, 'deposit', v_ids, v_payments, v_legs);
  insert into deposit_total_change
    (tenant_id, livemode, to_account_id, deposit_id, count, created, context_id, payment_method, currency, amount)
  select
    p_tenant,
    p_live,
    x.to_account_id,
    x.id,
    1,
    x.created,
    x.context_id,
    x.payment_method,
    x.currency,
    x.amount
  from unnest(v_new) x;
  perform emit_events_at(p_tenant, p_live, '{}', 'deposit.completed', 'deposit', v_rows, v_now);
end;
$$;

-- Does jobs of deposits together, and deletes them. Returns their ids. It returns none when there is but one, or when
-- one of them met an error: then the caller does each of them alone, and each finds its error again. A deposit that
-- another statement has locked is left to the caller, too. The caller has locked the balances.
create or replace function run_deposit_jobs_together(p_tenant text, p_live boolean, p_jobs job[])
returns text[]
language plpgsql
as $$
declare
  d deposit;
  v_processing text[] := array(select j.subject_id from unnest(p_jobs) j where j.kind = 'process_deposit');
  v_completing text[] := array(select j.subject_id from unnest(p_jobs) j where j.kind = 'complete_deposit');
  v_locked text[] := '{}';
  v_processed text[] := '{}';
  v_taken text[] := '{}';
  v_completed deposit[] := '{}';
  v_done text[];
begin
  if cardinality(p_jobs) < 2 then
    return '{}';
  end if;
  for d in select x.* from lock_free_deposits(p_tenant, p_live, v_processing || v_completing) x loop
    v_locked := v_locked || d.id;
    if d.status = 'initialized' and d.id = any (v_processing) then
      v_processed := v_processed || d.id;
    elseif d.status = 'processing' and d.id = any (v_completing) then
      v_completed := v_completed || d;
    elseif d.status = 'processing' then
      v_taken := v_taken || d.id;
    end if;
  end loop;
  if cardinality(v_processed) > 0 then
    perform process_deposits(p_tenant, p_live, v_processed);
  end if;
  if cardinality(v_taken) > 0 then
    perform take_on_deposits(p_tenant, p_live, v_taken);
  end if;
  if cardinality(v_completed) > 0 then
    perform complete_deposits(p_tenant, p_live, v_completed);
  end if;
  v_done := array(select j.id from unnest(p_jobs) j where j.subject_id = any (v_locked));
  perform delete_jobs(p_tenant, p_live, v_done);
  return v_done;
exception when others then
  if sqlstate !~ '^(TG|55P03|40)' then
    raise log 'run_deposit_jobs_together: % %', sqlstate, sqlerrm;
  end if;
  return '{}';
end;
$$;

-- Does those of the jobs that are of deposits: `p_first` together, and then as many as by their time fit into half of
-- what is left until `p_until`, at most 25. So the locks last no longer where the database is slow. Does none when
-- `p_first` is less than two. Returns the ids of those that were done.
create or replace function run_deposit_jobs(
  p_tenant text,
  p_live boolean,
  p_jobs job[],
  p_first int,
  p_until timestamptz
)
returns text[]
language plpgsql
as $$
declare
  v_done text[] := '{}';
  v_jobs job[] := array(
    select j
    from unnest(p_jobs) j
    where j.kind in ('complete_deposit', 'process_deposit')
    order by j.kind, j.due, j.id
  );
  v_next int := 1;
  v_count int := p_first;
  v_began timestamptz := clock_timestamp();
  v_now timestamptz;
  v_each float8;
begin
  while v_count >= 2
  and v_next <= cardinality(v_jobs) loop
    v_done := v_done || run_deposit_jobs_together(p_tenant, p_live, v_jobs[v_next:v_next + v_count - 1]);
    v_next := v_next + v_count;
    v_now := clock_timestamp();
    v_each := greatest(date_part('epoch', v_now - v_began) / v_count, 0.00001);
    v_count := least(25, date_part('epoch', p_until - v_now) / 2 / v_each);
    v_began := v_now;
  end loop;
  return v_done;
end;
$$;
