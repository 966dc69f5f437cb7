-- The ledger. Every movement is a posting whose entries sum to zero per currency; a balance is the running sum of its
-- entries, changed by the same statement. Whoever posts has locked the balances first, in the order of their keys
-- (lock_balances): that one order rules out deadlocks, and serialises whatever concerns the money of one account.

-- Makes the balance rows that are missing, then locks all of them in key order. Keys are [{account, currency}, …].
-- Rows are made first: an upsert with a negative delta would fail the check on the row that it proposes.
create or replace function lock_balances(p_tenant text, p_live boolean, p_keys jsonb)
returns void
language plpgsql
as $$
declare
  k record;
  v_id text;
begin
  -- One key has its order.
  if jsonb_array_length(p_keys) = 1 then
    v_id := lock_balance(p_tenant, p_live, p_keys -> 0 ->> 'account', p_keys -> 0 ->> 'currency');
    return;
  end if;
  for k in
    select distinct x ->> 'account' as account, x ->> 'currency' as currency
    from jsonb_array_elements(p_keys) x
    where x ->> 'account' is not null
    order by 1, 2
  loop
    v_id := lock_balance(p_tenant, p_live, k.account, k.currency);
  end loop;
end;
$$;

-- One balance, made if it is missing, and locked; returns its account.
create or replace function lock_balance(p_tenant text, p_live boolean, p_account text, p_currency text)
returns text
language plpgsql
as $$
begin
  if p_account is null then
    return null;
  end if;
  perform
  from balance b
  where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.currency = p_currency
  for update;
  if not found then
    insert into balance (tenant_id, livemode, account_id, currency, owner_id, of_partner, context_id, on_root_list)
    select p_tenant, p_live, a.id, p_currency, a.owner_id, a.kind = 'partner', a.context_id, a.on_root_list
    from account a
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account
    on conflict (tenant_id, livemode, account_id, currency) do nothing;
    perform
    from balance b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.currency = p_currency
    for update;
  end if;
  return p_account;
end;
$$;

-- Locks every balance that an account has, whatever the currency: locks of receivables go along with a payout of any of
-- them.
create or replace function lock_all_balances(p_tenant text, p_live boolean, p_account text)
returns void
language plpgsql
as $$
begin
  perform lock_balances(
    p_tenant,
    p_live,
    coalesce(
      (
        select jsonb_agg(jsonb_build_object('account', b.account_id, 'currency', b.currency))
        from balance b
        where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account
      ),
      '[]'
    )
  );
end;
$$;

-- One posting. Legs are [{account, category, currency, amount}, …] for balances and [{contra, currency, amount}, …] for
-- the world; amounts are signed minor units. A cause posts once per kind, whatever retries: the second time it is a
-- conflict. Only kinds that take money back may leave `available` below zero; the other compartments have a check of
-- their own.
create or replace function post(p_tenant text, p_live boolean, p_kind text, p_cause text, p_payment text, p_legs jsonb)
returns text
language plpgsql
as $$
declare
  v_posting text := new_id('posting');
  v_now bigint := clock(p_tenant, p_live);
  v_legs jsonb := p_legs;
  l jsonb;
  v_id text;
  v_account text;
  v_category text;
  v_currency text;
  v_amount bigint;
  v_after bigint;
  v_version bigint;
  v_context text;
  v_root boolean;
begin
  -- Between one balance and the world, as most are, there is nothing to add up and nothing to sort, which spares two
  -- statements.
  if
    not coalesce(
      jsonb_array_length(p_legs) = 2
      and p_legs -> 0 ? 'account'
      and p_legs -> 1 ? 'contra'
      and p_legs -> 0 ->> 'currency' = p_legs -> 1 ->> 'currency'
      and (p_legs -> 0 ->> 'amount')::bigint = -(p_legs -> 1 ->> 'amount')::bigint
      and (p_legs -> 1 ->> 'amount')::bigint <> 0,
      false
    )
  then
    if
      exists (
        select from jsonb_array_elements(p_legs) x group by x ->> 'currency' having sum((x ->> 'amount')::bigint) <> 0
      )
    then
      raise exception 'posting % of % does not sum to zero', p_kind, p_cause;
    end if;
    -- Balances in the order of their keys, then the world.
    v_legs := (
      select jsonb_agg(to_jsonb(m) order by m.account, m.currency, m.category, m.contra)
      from
        (
          select
            x ->> 'account' as account,
            x ->> 'category' as category,
            x ->> 'contra' as contra,
            x ->> 'currency' as currency,
            sum((x ->> 'amount')::bigint)::bigint as amount
          from jsonb_array_elements(p_legs) x
          group by 1, 2, 3, 4
          having sum((x ->> 'amount')::bigint) <> 0
        ) m
    );
    if (v_legs -> 0 ->> 'account') is null then
      raise exception 'posting % of % moves nothing', p_kind, p_cause;
    end if;
  end if;
  insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
  values (p_tenant, p_live, v_posting, v_now, p_kind, p_cause, p_payment)
  on conflict (tenant_id, livemode, kind, cause) do nothing;
  if not found then
    perform refuse(409, 'state_conflict', null);
  end if;
  insert into unsealed (tenant_id, livemode, posting_id) values (p_tenant, p_live, v_posting);
  for i in 0..jsonb_array_length(v_legs) - 1 loop
    l := v_legs -> i;
    v_account := l ->> 'account';
    v_currency := l ->> 'currency';
    v_amount := l ->> 'amount';
    if v_account is null then
      v_id := new_id('contra');
      insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
      values (p_tenant, p_live, v_id, v_now, v_posting, l ->> 'contra', v_amount, v_currency);
    else
      v_category := l ->> 'category';
      update balance
      set
        available = available + case
          when v_category = 'available' then v_amount
          else 0
        end,
        fee_advance = fee_advance + case
          when v_category = 'fee_advance' then v_amount
          else 0
        end,
        payout_processing = payout_processing + case
          when v_category = 'payout_processing' then v_amount
          else 0
        end,
        pending = pending + case
          when v_category = 'pending' then v_amount
          else 0
        end,
        processing = processing + case
          when v_category = 'processing' then v_amount
          else 0
        end,
        version = version + 1
      where tenant_id = p_tenant and livemode = p_live and account_id = v_account and currency = v_currency
      returning
        version,
        context_id,
        on_root_list,
        case v_category
          when 'available' then available
          when 'fee_advance' then fee_advance
          when 'payout_processing' then payout_processing
          when 'pending' then pending
          else processing
        end
      into strict v_version, v_context, v_root, v_after;
      if v_after < 0 and v_amount < 0 and v_category = 'available' and p_kind not in ('dispute', 'reversal') then
        perform refuse(402, 'balance_insufficient', null);
      end if;
      v_id := new_id('bt');
      insert into entry
        (
          tenant_id,
          livemode,
          id,
          created,
          posting_id,
          account_id,
          amount,
          currency,
          category,
          payment_id,
          balance_after,
          version,
          context_id,
          on_root_list
        )
      values
        (
          p_tenant,
          p_live,
          v_id,
          v_now,
          v_posting,
          v_account,
          v_amount,
          v_currency,
          v_category,
          p_payment,
          v_after,
          v_version,
          v_context,
          v_root
        );
    end if;
  end loop;
  return v_posting;
end;
$$;

-- The legs of a posting, short to write.
create or replace function leg(p_account text, p_category text, p_currency text, p_amount bigint)
returns jsonb
language plpgsql
immutable
as $$
begin
  return jsonb_build_object('account', p_account, 'category', p_category, 'currency', p_currency, 'amount', p_amount);
end;
$$;

create or replace function contra_leg(p_contra text, p_currency text, p_amount bigint)
returns jsonb
language plpgsql
immutable
as $$
begin
  return jsonb_build_object('contra', p_contra, 'currency', p_currency, 'amount', p_amount);
end;
$$;

-- The least of a currency in hundredths, as amounts are kept: a currency without a minor unit has no hundredths. ISO
-- 4217.
create or replace function least_amount(p_currency text)
returns bigint
language plpgsql
immutable
as $$
begin
  return case
    when p_currency = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,UYI,VND,VUV}')
    or p_currency = any ('{XAF,XAG,XAU,XBA,XBB,XBC,XBD,XDR,XOF,XPD,XPF,XPT,XSU,XUA}') then 100
    else 1
  end;
end;
$$;

-- The tables whose rows are written once: only a superuser may change or remove one.
create or replace function append_only_tables()
returns text[]
language plpgsql
immutable
as $$
begin
  return array['posting', 'entry', 'contra_entry', 'seal_block', 'posting_seal'];
end;
$$;

-- Where the privileges on these tables do not hold: a grant of UPDATE, DELETE or TRUNCATE to any role, the owner and
-- PUBLIC included; the same by way of a membership, for the role that asks and for those that serve; and a serving role
-- that owns the tables or is a superuser, and so could grant itself everything. `p_serving`: the roles that were
-- granted to; without one, the role that asks serves. One role that owns the tables and serves as well has given up the
-- three itself.
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

-- What must never be: no rows means that the ledger are right. `rule` says which promise is broken, `what` where.
create or replace view violations as
  with
    entries as (
      select tenant_id, livemode, posting_id, currency, amount from entry
      union all
      select tenant_id, livemode, posting_id, currency, amount from contra_entry
    ),
    sums as (
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
    running as (
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
    ),
    locks as (
      select
        tenant_id,
        livemode,
        receivable_id,
        coalesce(sum(amount) filter (where not settled), 0) locked,
        coalesce(sum(amount) filter (where settled), 0) settled
      from receivable_lock
      group by 1, 2, 3
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
        and p.kind in ('dispute', 'reversal')
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
  select r.tenant_id, r.livemode, 'receivable is not the sum of its locks', r.id
  from
    receivable r
    left join locks l on l.tenant_id = r.tenant_id and l.livemode = r.livemode and l.receivable_id = r.id
  where r.amount_locked <> coalesce(l.locked, 0) or r.amount_settled_payouts <> coalesce(l.settled, 0)
  union all
  select d.tenant_id, d.livemode, 'locks of a deposit exceed it', d.id
  from deposit d
  where
    d.amount > 0
    and (
      select coalesce(sum(l.amount), 0)
      from receivable_lock l
      where l.tenant_id = d.tenant_id and l.livemode = d.livemode and l.deposit_id = d.id
    ) > d.amount
  union all
  select d.tenant_id, d.livemode, 'locks outlive their money', d.id
  from deposit d
  where
    exists (
      select
      from
        receivable_lock l
        join lock_batch b on b.tenant_id = l.tenant_id and b.livemode = l.livemode and b.id = l.batch_id
      where
        l.tenant_id = d.tenant_id
        and l.livemode = d.livemode
        and l.deposit_id = d.id
        and b.payout_id is null
        and l.amount > 0
    )
    and not exists (
      select
      from job j
      where
        j.tenant_id = d.tenant_id
        and j.livemode = d.livemode
        and j.kind = 'shrink_locks'
        and j.args ->> 'deposit' = d.id
    )
    and (
      select sum(l.amount)
      from receivable_lock l
      where l.tenant_id = d.tenant_id and l.livemode = d.livemode and l.deposit_id = d.id
    ) > case d.status
      when 'reversed' then 0
      else d.amount - d.disputed - d.pending_rest
    end
  union all
  select d.tenant_id, d.livemode, 'deposit and its postings disagree', d.id
  from deposit d
  where
    (d.status = 'completed') <> exists (
      select
      from posting p
      where
        p.tenant_id = d.tenant_id
        and p.livemode = d.livemode
        and p.cause = d.id
        and p.kind in ('deposit', 'dispute')
    )
    and d.status <> 'reversed'
  union all
  select d.tenant_id, d.livemode, 'deposit and its money disagree', d.id
  from deposit d
  where
    d.status in ('completed', 'reversed')
    and d.amount is distinct from (
      select -sum(c.amount)
      from
        posting p
        join contra_entry c on c.tenant_id = d.tenant_id and c.livemode = d.livemode and c.posting_id = p.id
      where
        p.tenant_id = d.tenant_id
        and p.livemode = d.livemode
        and p.cause = d.id
        and p.kind = case
          when d.amount > 0 then 'deposit'
          else 'dispute'
        end
    )
  union all
  select d.tenant_id, d.livemode, 'reversed deposit and its reversal disagree', d.id
  from deposit d
  where
    d.status = 'reversed'
    and (
      d.pending_rest <> 0
      or d.amount - d.disputed <> (
        select coalesce(sum(c.amount), 0)
        from
          posting p
          join contra_entry c on c.tenant_id = d.tenant_id and c.livemode = d.livemode and c.posting_id = p.id
        where p.tenant_id = d.tenant_id and p.livemode = d.livemode and p.cause = d.id and p.kind = 'reversal'
      )
    )
  union all
  select y.tenant_id, y.livemode, 'payout and its money disagree', y.id
  from payout y
  where
    y.amount is distinct from (
      select sum(e.amount)
      from
        posting p
        join entry e on e.tenant_id = y.tenant_id and e.livemode = y.livemode and e.posting_id = p.id
      where
        p.tenant_id = y.tenant_id
        and p.livemode = y.livemode
        and p.cause = y.id
        and p.kind = 'payout'
        and e.category = 'payout_processing'
    )
  -- The events before a payout's own say what it was judged by: a lock made each of them wait for the commit of the one
  -- before.
  union all
  select y.tenant_id, y.livemode, 'payout to an address that was not usable', y.id
  from
    payout y
    join address a on a.tenant_id = y.tenant_id and a.livemode = y.livemode and a.id = y.address_id
    left join event p
      on p.tenant_id = y.tenant_id
      and p.livemode = y.livemode
      and p.object_id = y.id
      and p.type = 'payout.processing'
      and p.number is not null
  where
    a.category <> 'user_payout'
    or a.linked_id <> y.account_id
    or a.currency <> y.currency
    or (y.status = 'processing' and a.status not in ('activated', 'pending_deactivation'))
    or (
      select x.data ->> 'status'
      from event x
      where x.tenant_id = y.tenant_id and x.livemode = y.livemode and x.object_id = a.id and x.number < p.number
      order by x.number desc
      limit 1
    ) <> 'activated'
  union all
  select y.tenant_id, y.livemode, 'payout was made under a hold', y.id
  from
    payout y
    join event p
      on p.tenant_id = y.tenant_id
      and p.livemode = y.livemode
      and p.object_id = y.id
      and p.type = 'payout.processing'
      and p.number is not null
    join account_setting s on s.tenant_id = y.tenant_id and s.livemode = y.livemode and s.account_id = y.account_id
  where
    (
      select x.data ->> 'payouts_enabled'
      from event x
      where x.tenant_id = y.tenant_id and x.livemode = y.livemode and x.object_id = s.id and x.number < p.number
      order by x.number desc
      limit 1
    ) = 'false'
  union all
  select b.tenant_id, b.livemode, 'payout took locks of other money', b.payout_id
  from
    lock_batch b
    left join payout y on y.tenant_id = b.tenant_id and y.livemode = b.livemode and y.id = b.payout_id
  where b.payout_id is not null and (b.account_id, b.held_in) is distinct from (y.account_id, y.source_currency)
  union all
  select k.tenant_id, k.livemode, 'lock is in the batch of another account', k.id
  from
    receivable_lock k
    join lock_batch b on b.tenant_id = k.tenant_id and b.livemode = k.livemode and b.id = k.batch_id
    join account a on a.tenant_id = k.tenant_id and a.livemode = k.livemode and a.id = k.account_id
    left join account o
      on o.tenant_id = a.tenant_id
      and o.livemode = a.livemode
      and o.id = a.owner_id
      and a.kind = 'connected_user'
      and o.sub_type = 'aggregator'
  where b.account_id <> coalesce(o.id, a.id)
  union all
  select k.tenant_id, k.livemode, 'lock was left behind by its payout', k.id
  from
    receivable_lock k
    join lock_batch b on b.tenant_id = k.tenant_id and b.livemode = k.livemode and b.id = k.batch_id
    join payout y on y.tenant_id = b.tenant_id and y.livemode = b.livemode and y.id = b.payout_id
  where
    (y.status = 'failed' or (y.status = 'completed' and not k.settled and k.amount > 0))
    and not exists (
      select
      from job j
      where
        j.tenant_id = k.tenant_id
        and j.livemode = k.livemode
        and j.kind in ('settle_locks', 'free_locks')
        and j.subject_id = y.account_id
    )
  -- The rate is kept with 16 decimals, and the amount was cut to what its currency can be paid in.
  union all
  select y.tenant_id, y.livemode, 'payout is not its source at its rate', y.id
  from payout y
  where
    case
      when y.currency = y.source_currency then y.amount <> y.source_amount
      or y.rate <> 1
      else y.amount > y.source_amount * (y.rate + 0.00000000000000005)
      or y.amount <= y.source_amount * (y.rate - 0.00000000000000005) - least_amount(y.currency)
    end
  union all
  select y.tenant_id, y.livemode, 'payout and its conversion disagree', y.id
  from payout y
  where
    (y.currency <> y.source_currency) <> exists (
      select
      from
        posting p
        join contra_entry c
          on c.tenant_id = y.tenant_id and c.livemode = y.livemode and c.posting_id = p.id and c.contra = 'fx'
      where p.tenant_id = y.tenant_id and p.livemode = y.livemode and p.kind = 'conversion' and p.cause = y.id
      having
        sum(c.amount) filter (where c.currency = y.source_currency) = y.source_amount
        and sum(c.amount) filter (where c.currency = y.currency) = -y.amount
    )
  union all
  select
    b.tenant_id,
    b.livemode,
    'available money has neither a payout to come nor a reason',
    b.account_id || ' ' || b.currency
  from
    balance b
    join account_setting s on s.tenant_id = b.tenant_id and s.livemode = b.livemode and s.account_id = b.account_id
  where
    b.available > 0
    and s.payouts_applicable
    and not exists (
      select
      from job j
      where j.tenant_id = b.tenant_id and j.livemode = b.livemode and j.kind = 'pay_out' and j.subject_id = b.account_id
    )
    and not exists (
      select
      from payout_block k
      where
        k.tenant_id = b.tenant_id
        and k.livemode = b.livemode
        and k.account_id = b.account_id
        and k.currency = b.currency
    )
  union all
  select r.tenant_id, r.livemode, 'receivable names other deposits than its locks', r.id
  from receivable r
  where
    r.deposit_ids_amount_locked <> array(
      select distinct l.deposit_id
      from receivable_lock l
      where
        l.tenant_id = r.tenant_id
        and l.livemode = r.livemode
        and l.receivable_id = r.id
        and not l.settled
        and l.amount > 0
      order by 1
    )
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
    )
  union all
  select y.tenant_id, y.livemode, 'payout and its postings disagree', y.id
  from payout y
  where
    (y.status <> 'processing') <> exists (
      select
      from posting p
      where p.tenant_id = y.tenant_id and p.livemode = y.livemode and p.cause = y.id and p.kind = 'payout_end'
    )
  union all
  select
    b.tenant_id,
    b.livemode,
    'payout_processing is not the sum of the payouts under way',
    b.account_id || ' ' || b.currency
  from balance b
  where
    b.payout_processing <> (
      select coalesce(sum(y.amount), 0)
      from payout y
      where
        y.tenant_id = b.tenant_id
        and y.livemode = b.livemode
        and y.account_id = b.account_id
        and y.currency = b.currency
        and y.status = 'processing'
    )
  union all
  select b.tenant_id, b.livemode, 'pending is not the sum of what deposits have left', b.account_id || ' ' || b.currency
  from balance b
  where
    b.pending <> (
      select coalesce(sum(d.pending_rest), 0)
      from deposit d
      where
        d.tenant_id = b.tenant_id
        and d.livemode = b.livemode
        and d.to_account_id = b.account_id
        and d.currency = b.currency
    )
  union all
  select c.tenant_id, c.livemode, 'checkout is credited other than once', c.id
  from
    checkout c
    left join (
      select
        p.tenant_id,
        p.livemode,
        p.checkout_id,
        count(*) filter (where d.status in ('completed', 'reversed')) n,
        min(d.id) filter (where d.status in ('completed', 'reversed')) id,
        sum(d.amount) filter (where d.status in ('completed', 'reversed')) amount
      from
        payment p
        join deposit d on d.tenant_id = p.tenant_id and d.livemode = p.livemode and d.id = p.deposit_id
      where p.checkout_id is not null
      group by 1, 2, 3
    ) k
      on k.tenant_id = c.tenant_id and k.livemode = c.livemode and k.checkout_id = c.id
  where
    (coalesce(k.n, 0), k.id, coalesce(k.amount, 0)) is distinct from (
      case
        when c.deposit_id is null then 0
        else 1
      end,
      c.deposit_id,
      case
        when c.deposit_id is null then 0
        else c.amount
      end
    )
    or (c.status = 'completed' and c.deposit_id is null)
  union all
  select c.tenant_id, c.livemode, 'checkout and its fee disagree', c.id
  from checkout c
  where
    c.deposit_id is not null
    and c.gross_amount is distinct from (
      select -sum(k.amount)
      from
        posting p
        join contra_entry k on k.tenant_id = c.tenant_id and k.livemode = c.livemode and k.posting_id = p.id
      where
        p.tenant_id = c.tenant_id
        and p.livemode = c.livemode
        and p.cause = c.deposit_id
        and p.kind = 'deposit'
        and k.contra = 'acquirer'
    )
  union all
  select t.tenant_id, t.livemode, 'transaction and its checkout disagree', t.id
  from
    transaction t
    join checkout c on c.tenant_id = t.tenant_id and c.livemode = t.livemode and c.id = t.checkout_id
  where
    (t.status = 'succeeded') <> (c.deposit_id is not null and t.deposit_id is not distinct from c.deposit_id)
    or (t.status = 'succeeded' and c.effective_transaction_id <> t.id)
  union all
  select null, null, 'append-only is not enforced', x.what
  from append_only_breaches(array(select s.name from drizzle.runtime_role s)) x;
