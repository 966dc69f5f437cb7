-- The append-only tables: those of the ledger and the operators' audit log, and the check of the privileges that
-- protect them.

-- The tables whose rows are written once: only a superuser may change or remove a row.
create or replace function append_only_tables()
returns text[]
language plpgsql
immutable
as $$
begin
  return array['posting', 'entry', 'contra_entry', 'seal_block', 'posting_seal', 'operator_action'];
end;
$$;

-- Reports where the privileges on these tables do not protect them: a grant of UPDATE, DELETE or TRUNCATE to any role,
-- including the owner and PUBLIC; the same privilege through a membership, for the calling role and the serving roles;
-- and a serving role that owns the tables or is a superuser, and so could grant itself everything. `p_serving` lists
-- the roles that received the grants for serving; without one, the calling role serves. A single role that owns the
-- tables and also serves has revoked the three privileges from itself.
create or replace function append_only_breaches(p_serving text[])
returns table (what text)
language plpgsql
stable
as $$
begin
  return query with
      append_only as (
        select c.oid, c.relname::text as name, c.relowner, c.relacl
        from
          unnest(append_only_tables()) t
          join pg_class c on c.oid = to_regclass('public.' || t)
      ),
      serving as (select r.oid, r.rolname, r.rolsuper from pg_roles r where r.rolname = any (p_serving)),
      privilege(name) as (
        values
          ('UPDATE'),
          ('DELETE'),
          ('TRUNCATE')
      )
    select distinct x.name || ': ' || x.role || ' has ' || x.privilege
    from
      (
        select t.name, coalesce(g.rolname::text, 'PUBLIC') as role, a.privilege_type as privilege
        from
          append_only t
          cross join lateral aclexplode(coalesce(t.relacl, acldefault('r', t.relowner))) a
          left join pg_roles g on g.oid = a.grantee
        where a.privilege_type in (select p.name from privilege p) and not coalesce(g.rolsuper, false)
        union all
        select t.name, s.rolname::text, p.name
        from
          append_only t
          cross join privilege p
          cross join (
            select v.rolname, v.oid from serving v where not v.rolsuper
            union
            select r.rolname, r.oid
            from pg_roles r
            where r.rolname = current_user and (not r.rolsuper or p_serving = '{}')
          ) s
        where has_table_privilege(s.oid, t.oid, p.name)
      ) x
    union all
    select 'the serving role ' || s.rolname || ' is a superuser' from serving s where s.rolsuper
    union all
    select distinct 'the serving role ' || s.rolname || ' is a member of ' || o.rolname || ', which owns the tables'
    from
      serving s,
      append_only t
      join pg_roles o on o.oid = t.relowner
    where not s.rolsuper and pg_has_role(s.oid, t.relowner, 'member');
end;
$$;

-- Contradictions in postings, entries and balances. Each row breaks an invariant.
create or replace view ledger_violations as
  with
    entries as not materialized (
      select tenant_id, livemode, posting_id, currency, amount from entry
      union all
      select tenant_id, livemode, posting_id, currency, amount from contra_entry
    ),
    sums as not materialized (
      select
        tenant_id,
        livemode,
        account_id,
        currency,
        count(*) n,
        max(version) last,
        coalesce(sum(amount) filter (where category = 'available'), 0) available,
        coalesce(sum(amount) filter (where category = 'fee_advance'), 0) fee_advance,
        coalesce(sum(amount) filter (where category = 'payout_processing'), 0) payout_processing,
        coalesce(sum(amount) filter (where category = 'pending'), 0) pending,
        coalesce(sum(amount) filter (where category = 'processing'), 0) processing
      from entry
      group by 1, 2, 3, 4
    ),
    running as not materialized (
      select
        tenant_id,
        livemode,
        id,
        balance_after,
        version,
        sum(amount) over (
          partition by tenant_id, livemode, account_id, currency, category
          order by version
        ) expected,
        row_number() over (
          partition by tenant_id, livemode, account_id, currency
          order by version
        ) nth
      from entry
    )
  select tenant_id, livemode, 'posting does not sum to zero' as rule, posting_id || ' ' || currency as what
  from entries
  group by tenant_id, livemode, posting_id, currency
  having sum(amount) <> 0
  union all
  select b.tenant_id, b.livemode, 'balance is not the sum of its entries', b.account_id || ' ' || b.currency
  from
    balance b
    left join sums s using (tenant_id, livemode, account_id, currency)
  where
    (b.available, b.fee_advance, b.payout_processing, b.pending, b.processing) is distinct from (
      coalesce(s.available, 0),
      coalesce(s.fee_advance, 0),
      coalesce(s.payout_processing, 0),
      coalesce(s.pending, 0),
      coalesce(s.processing, 0)
    )
  union all
  select s.tenant_id, s.livemode, 'entries without a balance', s.account_id || ' ' || s.currency
  from
    sums s
    left join balance b using (tenant_id, livemode, account_id, currency)
  where b.account_id is null
  union all
  select b.tenant_id, b.livemode, 'versions are not dense', b.account_id || ' ' || b.currency
  from
    balance b
    left join sums s using (tenant_id, livemode, account_id, currency)
  where b.version <> coalesce(s.n, 0) or b.version <> coalesce(s.last, 0)
  union all
  select tenant_id, livemode, 'balance_after is not the running sum', id
  from running
  where balance_after <> expected or version <> nth
  union all
  select
    b.tenant_id,
    b.livemode,
    'available is below zero without a dispute or reversal',
    b.account_id || ' ' || b.currency
  from balance b
  where
    b.available < 0
    and not exists (
      select
      from
        entry e
        join posting p on p.tenant_id = b.tenant_id and p.livemode = b.livemode and p.id = e.posting_id
      where
        e.tenant_id = b.tenant_id
        and e.livemode = b.livemode
        and e.account_id = b.account_id
        and e.currency = b.currency
        and e.category = 'available'
        and p.kind in ('dispute', 'reversal', 'transfer_back')
    )
  union all
  -- The money of these users goes to the platform, and what is taken from them comes from it, by the same statement.
  -- Jobs do the latter for users that were below zero before transfers back.
  select
    b.tenant_id,
    b.livemode,
    'user of an aggregator has available money, or is below zero',
    b.account_id || ' ' || b.currency
  from
    balance b
    join account a on a.tenant_id = b.tenant_id and a.livemode = b.livemode and a.id = b.account_id
    join account o on o.tenant_id = b.tenant_id and o.livemode = b.livemode and o.id = a.owner_id
  where
    b.available <> 0
    and a.kind = 'connected_user'
    and o.sub_type = 'aggregator'
    and not exists (
      select
      from job j
      where
        j.tenant_id = b.tenant_id
        and j.livemode = b.livemode
        and j.kind in ('find_debts', 'transfer_back')
        and j.subject_id = o.id
    )
  union all
  select tenant_id, livemode, 'compartment below zero', account_id || ' ' || currency
  from balance
  where least(pending, processing, payout_processing, fee_advance) < 0
  union all
  select b.tenant_id, b.livemode, 'fee advance of an account that is no platform', b.account_id
  from
    balance b
    join account a on a.tenant_id = b.tenant_id and a.livemode = b.livemode and a.id = b.account_id
  where b.fee_advance <> 0 and a.kind <> 'platform'
  union all
  select e.tenant_id, e.livemode, 'entry without its posting', e.id
  from
    (
      select tenant_id, livemode, id, posting_id from entry
      union all
      select tenant_id, livemode, id, posting_id from contra_entry
    ) e
  where
    not exists (
      select from posting p where p.tenant_id = e.tenant_id and p.livemode = e.livemode and p.id = e.posting_id
    );
