-- The balances of accounts in the order of their amounts, for lists of accounts by balance. The worker writes them
-- after the fact, when it seals postings, so that no posting waits for them.

-- Drop the view and create it again, because a replaced view accepts new columns only at its end.
drop view if exists account_by_balance;

-- Accounts with their place among the balances of a currency. What decides about lists is of the place, whose indexes
-- have it. Each account is looked up by itself: with a join, PostgreSQL could read all accounts first.
create view account_by_balance as
  select
    r.tenant_id,
    r.livemode,
    r.account_id as id,
    a.created,
    a.kind,
    a.type,
    a.edition,
    a.sub_type,
    a.status,
    a.address,
    a.address_key,
    a.nickname,
    a.nickname_key,
    a.business_details,
    a.capability_status,
    a.logo_id,
    a.metadata,
    a.supporting_documentation,
    a.tos_acceptance,
    r.owner_id,
    r.context_id,
    r.on_root_list,
    a.version,
    a.updated_at,
    a.status_since,
    r.ranked_as,
    r.amount as ranked
  from
    balance_rank r
    cross join lateral (
      select x.*
      from account x
      where x.tenant_id = r.tenant_id and x.livemode = r.livemode and x.id = r.account_id
      limit 1
    ) a;

-- Writes the places of the balances of some accounts as they are now. A place is never older than what it replaces, so
-- it does not matter in which order two calls end.
create or replace function rank_balances(p_tenant text, p_live boolean, p_accounts text[])
returns void
language plpgsql
as $$
declare
  v_accounts text[];
  v_currencies text[];
  v_ranked_as text[];
  v_amounts numeric[];
  v_versions bigint[];
  v_owners text[];
  v_acting_accounts text[];
  v_on_root_list boolean[];
begin
  -- Read first: an insert that selects from a table would be more than one statement for a shard of a distributed
  -- database.
  select
    array_agg(b.account_id),
    array_agg(b.currency),
    array_agg(a.type || ' ' || b.currency),
    array_agg(b.available::numeric + b.pending),
    array_agg(b.version),
    array_agg(b.owner_id),
    array_agg(b.context_id),
    array_agg(b.on_root_list)
  into v_accounts, v_currencies, v_ranked_as, v_amounts, v_versions, v_owners, v_acting_accounts, v_on_root_list
  from
    balance b
    join account a on a.tenant_id = b.tenant_id and a.livemode = b.livemode and a.id = b.account_id
  where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = any (p_accounts) and b.version > 0;
  insert into balance_rank
    (tenant_id, livemode, account_id, currency, ranked_as, amount, version, owner_id, context_id, on_root_list)
  select p_tenant, p_live, x.*
  from
    unnest(
      v_accounts,
      v_currencies,
      v_ranked_as,
      v_amounts,
      v_versions,
      v_owners,
      v_acting_accounts,
      v_on_root_list
    ) x (account_id, currency, ranked_as, amount, version, owner_id, context_id, on_root_list)
  order by x.account_id, x.currency
  on conflict (tenant_id, livemode, account_id, currency) do update
    set
      amount = excluded.amount,
      version = excluded.version
    where balance_rank.version < excluded.version;
end;
$$;

-- Ranks some of the balances from before the ranks, and leaves the rest to a job that it enqueues.
-- Without an event: clients see the balances, and no ranks.
create or replace function job_rank_balances(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_wait bigint := (p_job.args ->> 'notBefore')::bigint - wall_clock();
  v_accounts text[];
begin
  -- The job is due earlier when a test clock has moved.
  if v_wait > 0 then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, v_wait, p_job.args);
    return;
  end if;
  v_accounts := array(
    select b.account_id
    from balance b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id > coalesce(p_job.args ->> 'upTo', '')
    order by b.account_id
    limit 500
  );
  if cardinality(v_accounts) = 0 then
    return;
  end if;
  perform rank_balances(p_tenant, p_live, v_accounts);
  perform enqueue(
    p_tenant,
    p_live,
    p_job.kind,
    p_job.subject_id,
    0,
    jsonb_build_object('upTo', v_accounts[cardinality(v_accounts)])
  );
end;
$$;

-- Contradictions in the ranks. A rank may be older than its balance only while a posting of that balance is not sealed,
-- or while the balances from before the ranks are being ranked.
create or replace view balance_rank_violations as
  select
    r.tenant_id,
    r.livemode,
    'rank is not the sum of its entries' as rule,
    r.account_id || ' ' || r.currency as what
  from balance_rank r
  where
    r.amount <> coalesce(
      (
        select sum(e.amount)
        from entry e
        where
          e.tenant_id = r.tenant_id
          and e.livemode = r.livemode
          and e.account_id = r.account_id
          and e.currency = r.currency
          and e.category in ('available', 'pending')
          and e.version <= r.version
      ),
      0
    )
  union all
  select b.tenant_id, b.livemode, 'rank is older than the sealed postings', b.account_id || ' ' || b.currency
  from
    balance b
    left join balance_rank r using (tenant_id, livemode, account_id, currency)
  where
    b.version > coalesce(r.version, 0)
    and not exists (
      select
      from
        unsealed u
        join entry e on e.tenant_id = b.tenant_id and e.livemode = b.livemode and e.posting_id = u.posting_id
      where
        u.tenant_id = b.tenant_id
        and u.livemode = b.livemode
        and e.account_id = b.account_id
        and e.currency = b.currency
        and e.version > coalesce(r.version, 0)
    )
    and not exists (
      select
      from job j
      where j.tenant_id = b.tenant_id and j.livemode = b.livemode and j.kind = 'rank_balances'
    )
  union all
  select r.tenant_id, r.livemode, 'rank differs from its balance', r.account_id || ' ' || r.currency
  from
    balance_rank r
    left join balance b using (tenant_id, livemode, account_id, currency)
    left join account a on a.tenant_id = r.tenant_id and a.livemode = r.livemode and a.id = r.account_id
  where
    b.account_id is null
    or r.version > b.version
    or (r.ranked_as, r.owner_id, r.context_id, r.on_root_list) is distinct from (
      a.type || ' ' || r.currency,
      a.owner_id,
      a.context_id,
      a.on_root_list
    );
