-- The audit of disputes.

-- Contradictions in disputes, and in the money that they take and give back. Each row breaks an invariant.
create or replace view dispute_violations as
  -- Disputes from before their objects, and the recalls of banks, have none.
  select d.tenant_id, d.livemode, 'disputed is not the sum of the disputes that were not won' as rule, d.id as what
  from
    deposit d
    join (
      select n.tenant_id, n.livemode, n.disputes_id, -sum(n.amount) filter (where n.status = 'completed') as taken
      from deposit n
      where n.disputes_id is not null
      group by 1, 2, 3
    ) s
      on s.tenant_id = d.tenant_id and s.livemode = d.livemode and s.disputes_id = d.id
  where d.disputed <> coalesce(s.taken, 0)
  union all
  select d.tenant_id, d.livemode, 'deposit is disputed without a dispute', d.id
  from deposit d
  where
    d.disputed > 0
    and not exists (
      select
      from deposit n
      where n.tenant_id = d.tenant_id and n.livemode = d.livemode and n.disputes_id = d.id
    )
  union all
  select r.tenant_id, r.livemode, 'dispute and its deposits disagree', r.id
  from
    dispute r
    left join deposit n on n.tenant_id = r.tenant_id and n.livemode = r.livemode and n.id = r.debit_deposit_id
  where
    (r.account_id, r.deposit_id, r.currency, r.amount) is distinct from (
      n.to_account_id,
      n.disputes_id,
      n.currency,
      -n.amount
    )
  union all
  select
    n.tenant_id,
    n.livemode,
    'deposit of a dispute is reversed without a win, or is not after one',
    n.id
  from
    deposit n
    left join dispute r
      on r.tenant_id = n.tenant_id
      and r.livemode = n.livemode
      and r.deposit_id = n.disputes_id
      and (
        n.id = r.debit_deposit_id
        or (
          n.bank_details ->> 'reference' = r.reference
          and not exists (
            select
            from clawback c
            where
              c.tenant_id = n.tenant_id
              and c.livemode = n.livemode
              and c.reference = r.reference
              and c.deposit_id = n.id
          )
        )
      )
    -- A dispute that no balance had has no object. Its deposits took what refunds that failed had given back.
    left join unexplained u
      on r.id is null
      and u.tenant_id = n.tenant_id
      and u.livemode = n.livemode
      and u.reference = n.bank_details ->> 'reference'
      and u.deposit_id = n.disputes_id
    left join payment p on p.tenant_id = n.tenant_id and p.livemode = n.livemode and p.id = n.payment_id
  where
    n.disputes_id is not null
    and (
      n.status <> case
        when r.status = 'won'
        or u.decision = 'won' then 'reversed'
        else 'completed'
      end
      or p.status is distinct from n.status
    )
  union all
  -- What was taken comes back from the outside world once, and only when the dispute is won.
  select r.tenant_id, r.livemode, 'dispute and its money disagree', r.id
  from dispute r
  where
    (
      select coalesce(-sum(c.amount), 0)
      from
        posting p
        join contra_entry c on c.tenant_id = r.tenant_id and c.livemode = r.livemode and c.posting_id = p.id
      where p.tenant_id = r.tenant_id and p.livemode = r.livemode and p.cause = r.id and p.kind = 'dispute_won'
    ) <> case r.status
      when 'won' then r.amount
      else 0
    end
  union all
  select
    coalesce(c.tenant_id, u.tenant_id),
    coalesce(c.livemode, u.livemode),
    'what was taken beyond a deposit and its unexplained money disagree',
    coalesce(c.deposit_id, u.deposit_id)
  from
    (select * from clawback where beyond is not null) c
    full join (
      select x.*
      from
        unexplained x
        join deposit n on n.tenant_id = x.tenant_id and n.livemode = x.livemode and n.id = x.deposit_id
      where x.reason = 'beyond_deposit' and n.amount < 0
    ) u
      on u.tenant_id = c.tenant_id and u.livemode = c.livemode and u.deposit_id = c.deposit_id
  where c.beyond is distinct from -u.amount
  union all
  -- What no balance had comes back when its dispute is won, but for what was taken from the account since. What was
  -- taken beyond a deposit that a bank had reversed before does not.
  select u.tenant_id, u.livemode, 'unexplained money and its decision disagree', u.id
  from unexplained u
  where
    (
      select coalesce(sum(c.amount), 0)
      from
        posting p
        join contra_entry c on c.tenant_id = u.tenant_id and c.livemode = u.livemode and c.posting_id = p.id
      where
        p.tenant_id = u.tenant_id
        and p.livemode = u.livemode
        and p.cause = u.id
        and p.kind = 'dispute_won'
        and c.contra = 'unexplained'
    ) <> case
      when u.decision = 'won' then -u.amount - u.covered
      else 0
    end
    or (
      u.reason = 'beyond_deposit'
      and (u.decision is not null) <> exists (
        select
        from
          deposit n
          join dispute r
            on r.tenant_id = u.tenant_id
            and r.livemode = u.livemode
            and r.deposit_id = n.disputes_id
            and r.debit_deposit_id = n.id
          join deposit d on d.tenant_id = u.tenant_id and d.livemode = u.livemode and d.id = n.disputes_id
        where
          n.tenant_id = u.tenant_id
          and n.livemode = u.livemode
          and n.id = u.deposit_id
          and r.status = 'won'
          and (d.status <> 'reversed' or u.decision is not null)
      )
    )
  union all
  -- A bank takes all of a transfer back, what its refunds have paid back or will pay back, too.
  select u.tenant_id, u.livemode, 'refunds of a reversed deposit and its unexplained money disagree', u.deposit_id
  from
    unexplained u
    join deposit d on d.tenant_id = u.tenant_id and d.livemode = u.livemode and d.id = u.deposit_id
  where
    u.reason = 'beyond_deposit'
    and d.amount > 0
    and (
      select sum(-x.amount - x.covered)
      from
        unexplained x
        join deposit n on n.tenant_id = x.tenant_id and n.livemode = x.livemode and n.id = x.deposit_id
      where
        x.tenant_id = u.tenant_id
        and x.livemode = u.livemode
        and x.currency = d.currency
        and x.decision is distinct from 'won'
        and d.id in (n.id, n.disputes_id)
    ) < (
      select coalesce(sum(r.amount), 0)
      from refund r
      where r.tenant_id = u.tenant_id and r.livemode = u.livemode and r.deposit_id = d.id and r.status <> 'failed'
    )
  union all
  -- Of an attempt that has no deposit, because it took another currency, at most what it took is taken back at once.
  select u.tenant_id, u.livemode, 'what was taken back of an attempt and what it took disagree', u.id
  from
    unexplained u
    left join transaction t on t.tenant_id = u.tenant_id and t.livemode = u.livemode and t.id = u.transaction_id
  where
    u.amount < 0
    and u.transaction_id is not null
    and (
      t.taken_currency <> t.currency
      and t.deposit_id is null
      and (u.currency <> t.taken_currency or -u.amount <= t.taken_amount)
    ) is not true
  union all
  select r.tenant_id, r.livemode, 'dispute and its times disagree', r.id
  from dispute r
  where
    (r.decided_at is not null) <> (r.status in ('won', 'lost', 'accepted'))
    or (r.submitted_at is null and r.status = 'under_review')
    or (r.submitted_at is not null and r.status in ('needs_response', 'accepted'));
