-- Late entries: those that were posted while the clock of the database was behind an entry of the same balance before
-- them. The order of a balance is its version; reads as of a time find a late entry at the greatest `created` of the
-- entries up to it. What was stored of it is sealed and stays as it is.
--
-- Longer than 60 lines: job_find_late_entries (one loop over balances, with where it stopped).

-- Stores the time by which a late entry counts.
create or replace function insert_late_entry(
  p_tenant text,
  p_live boolean,
  p_account text,
  p_currency text,
  p_version bigint,
  p_as_of bigint
)
returns void
language plpgsql
as $$
declare
  e entry;
begin
  select x.*
  into strict e
  from entry x
  where
    x.tenant_id = p_tenant
    and x.livemode = p_live
    and x.account_id = p_account
    and x.currency = p_currency
    and x.version = p_version;
  insert into late_entry (tenant_id, livemode, account_id, currency, version, category, balance_after, as_of)
  values (p_tenant, p_live, p_account, p_currency, p_version, e.category, e.balance_after, p_as_of)
  on conflict (tenant_id, livemode, account_id, currency, version) do update set as_of = excluded.as_of;
end;
$$;

-- Finds the late entries of one balance from before these were kept, among the entries after the version `p_version`
-- and at most `p_limit` of them; `p_latest` is the greatest `created` up to that version. The balance is locked, so
-- that no entry comes between its last entry and the time that is kept of it. Returns how many were read, the version
-- of the last one, the greatest `created` up to it, and whether these were the last ones.
create or replace function find_late_entries_of(
  p_tenant text,
  p_live boolean,
  p_account text,
  p_currency text,
  p_version bigint,
  p_latest bigint,
  p_limit int
)
returns table (entries int, up_to bigint, reached bigint, complete boolean)
language plpgsql
as $$
declare
  v_id text := lock_balance(p_tenant, p_live, p_account, p_currency);
  v_late bigint[];
  v_as_of bigint[];
begin
  select
    count(*),
    coalesce(max(x.version), p_version),
    coalesce(max(x.as_of), p_latest),
    coalesce(array_agg(x.version order by x.version) filter (where x.created < x.as_of), '{}'),
    coalesce(array_agg(x.as_of order by x.version) filter (where x.created < x.as_of), '{}')
  into entries, up_to, reached, v_late, v_as_of
  from
    (
      select e.version, e.created, greatest(p_latest, max(e.created) over (order by e.version)) as as_of
      from entry e
      where
        e.tenant_id = p_tenant
        and e.livemode = p_live
        and e.account_id = p_account
        and e.currency = p_currency
        and e.version > p_version
      order by e.version
      limit p_limit
    ) x;
  for i in 1..cardinality(v_late) loop
    perform insert_late_entry(p_tenant, p_live, p_account, p_currency, v_late[i], v_as_of[i]);
  end loop;
  update balance b
  set
    latest = greatest(b.latest, reached),
    late = b.late or cardinality(v_late) > 0
  where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.currency = p_currency
  returning b.version = up_to
  into strict complete;
  return next;
end;
$$;

-- Finds the late entries among some of the entries from before these were kept, and leaves the rest to a job that it
-- enqueues.
-- Without an event: clients see the entries.
create or replace function job_find_late_entries(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_wait bigint := (p_job.args ->> 'notBefore')::bigint - wall_clock();
  v_account text := coalesce(p_job.args ->> 'account', '');
  v_currency text := coalesce(p_job.args ->> 'currency', '');
  v_version bigint := coalesce((p_job.args ->> 'version')::bigint, 0);
  v_latest bigint := (p_job.args ->> 'latest')::bigint;
  v_left int := 1000;
  v_balances int := 0;
  k record;
  f record;
begin
  -- The job is due earlier when a test clock has moved.
  if v_wait > 0 then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, v_wait, p_job.args);
    return;
  end if;
  for k in
    select b.account_id, b.currency
    from balance b
    where
      b.tenant_id = p_tenant
      and b.livemode = p_live
      and (b.account_id, b.currency) >= (v_account, v_currency)
      and (v_version > 0 or (b.account_id, b.currency) > (v_account, v_currency))
    order by b.account_id, b.currency
    limit 100
  loop
    if (k.account_id, k.currency) <> (v_account, v_currency) then
      v_version := 0;
      v_latest := null;
    end if;
    select *
    into f
    from find_late_entries_of(p_tenant, p_live, k.account_id, k.currency, v_version, v_latest, v_left);
    v_balances := v_balances + 1;
    v_left := v_left - f.entries;
    v_account := k.account_id;
    v_currency := k.currency;
    v_latest := f.reached;
    v_version := case
      when f.complete then 0
      else f.up_to
    end;
    exit when v_left <= 0;
  end loop;
  if v_balances = 100 or v_left <= 0 then
    perform enqueue(
      p_tenant,
      p_live,
      p_job.kind,
      p_job.subject_id,
      0,
      jsonb_build_object('account', v_account, 'currency', v_currency, 'version', v_version, 'latest', v_latest)
    );
  end if;
end;
$$;

-- Contradictions between the entries and the times by which they count. While the entries from before these times are
-- being read, some are missing. Each part asks by itself whether they are, and the one with a subquery by a join: on
-- Citus, the union of all contradictions could not be asked for otherwise.
create or replace view late_entry_violations as
  with
    reached as not materialized (
      select
        tenant_id,
        livemode,
        id,
        account_id,
        currency,
        version,
        category,
        balance_after,
        created,
        max(created) over (
          partition by tenant_id, livemode, account_id, currency
          order by version
        ) as_of
      from entry
    )
  select e.tenant_id, e.livemode, 'entry does not count at the greatest time up to it' as rule, e.id as what
  from
    reached e
    left join late_entry l using (tenant_id, livemode, account_id, currency, version)
    left join job j on j.tenant_id = e.tenant_id and j.livemode = e.livemode and j.kind = 'find_late_entries'
  where
    j.id is null
    and (l.as_of, l.category, l.balance_after) is distinct from (
      case
        when e.as_of > e.created then e.as_of
      end,
      case
        when e.as_of > e.created then e.category
      end,
      case
        when e.as_of > e.created then e.balance_after
      end
    )
  union all
  select l.tenant_id, l.livemode, 'late entry without its entry', l.account_id || ' ' || l.currency
  from
    late_entry l
    left join entry e using (tenant_id, livemode, account_id, currency, version)
  where
    e.id is null
    and not exists (
      select
      from job j
      where j.tenant_id = l.tenant_id and j.livemode = l.livemode and j.kind = 'find_late_entries'
    )
  union all
  select
    b.tenant_id,
    b.livemode,
    'balance has another greatest time than its entries',
    b.account_id || ' ' || b.currency
  from balance b
  where
    (
      b.latest is distinct from (
        select max(e.created)
        from entry e
        where
          e.tenant_id = b.tenant_id
          and e.livemode = b.livemode
          and e.account_id = b.account_id
          and e.currency = b.currency
      )
      or b.late <> exists (
        select
        from late_entry l
        where
          l.tenant_id = b.tenant_id
          and l.livemode = b.livemode
          and l.account_id = b.account_id
          and l.currency = b.currency
      )
    )
    and not exists (
      select
      from job j
      where j.tenant_id = b.tenant_id and j.livemode = b.livemode and j.kind = 'find_late_entries'
    );
