-- The audit of checkouts.

-- Contradictions in checkouts and their attempts. Each row breaks an invariant. An attempt was paid with its amount,
-- where nothing says that something else was taken.
create or replace view checkout_violations as
  select c.tenant_id, c.livemode, 'checkout is credited other than once' as rule, c.id as what
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
    left join transaction t
      on t.tenant_id = c.tenant_id and t.livemode = c.livemode and t.id = c.effective_transaction_id
  where
    (coalesce(k.n, 0), k.id, coalesce(k.amount, 0)) is distinct from (
      case
        when c.deposit_id is null then 0
        else 1
      end,
      c.deposit_id,
      case
        when c.deposit_id is null then 0
        else least(coalesce(t.taken_amount, t.amount), c.amount)
      end
    )
    or (c.status = 'completed' and c.deposit_id is null)
  union all
  select c.tenant_id, c.livemode, 'checkout and its fee disagree', c.id
  from
    checkout c
    left join transaction t
      on t.tenant_id = c.tenant_id and t.livemode = c.livemode and t.id = c.effective_transaction_id
  where
    c.deposit_id is not null
    and least(coalesce(t.taken_amount, t.amount), c.gross_amount) is distinct from (
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
  -- A success in another currency pays nothing, and all of it is unexplained once its job has run. So is a duplicate
  -- that could not be refunded.
  select t.tenant_id, t.livemode, 'attempt and its unexplained money disagree', t.id
  from
    transaction t
    left join unexplained u
      on u.tenant_id = t.tenant_id and u.livemode = t.livemode and u.transaction_id = t.id and u.amount > 0
    left join refund r
      on r.tenant_id = t.tenant_id
      and r.livemode = t.livemode
      and r.deposit_id = t.deposit_id
      and t.reason_code = 'duplicate'
  where
    (t.taken_amount is not null or u.id is not null or r.status = 'failed')
    and (u.amount, u.currency) is distinct from (
      case
        when t.taken_currency <> t.currency then t.taken_amount
        when t.status = 'succeeded'
        and t.taken_amount > t.amount then t.taken_amount - t.amount
        when r.status = 'failed' then r.amount
      end,
      case
        when t.taken_currency <> t.currency
        or (t.status = 'succeeded' and t.taken_amount > t.amount) then t.taken_currency
        when r.status = 'failed' then r.currency
      end
    )
    and not exists (
      select
      from job j
      where
        j.tenant_id = t.tenant_id
        and j.livemode = t.livemode
        and j.kind = 'settle_transaction'
        and j.subject_id = t.id
    )
  union all
  select u.tenant_id, u.livemode, 'unexplained money and its posting disagree', u.id
  from unexplained u
  where
    not exists (
      select
      from
        posting p
        join contra_entry e on e.tenant_id = u.tenant_id and e.livemode = u.livemode and e.posting_id = p.id
      where
        p.tenant_id = u.tenant_id
        and p.livemode = u.livemode
        and p.cause = u.id
        and p.kind = 'unexplained'
        and e.currency = u.currency
      group by p.id
      having
        count(*) = 2
        and sum(e.amount) filter (where e.contra = 'unexplained') = u.amount
        and sum(e.amount) filter (
          where
            e.contra = case
              when u.amount < 0 then 'dispute'
              else 'acquirer'
            end
        ) = -u.amount
    )
  union all
  -- What a bank or an acquirer has taken back, in the currency of what was paid for a deposit or taken with an attempt.
  -- One row is at most that. Several together may be more, and no rule adds them up: what banks and acquirers report
  -- beyond the rest is kept as it comes, and of money that came back in another way a row says so in words alone.
  select u.tenant_id, u.livemode, 'unexplained money is more than was paid', u.id
  from
    unexplained u
    left join deposit d on d.tenant_id = u.tenant_id and d.livemode = u.livemode and d.id = u.deposit_id
    left join transaction t on t.tenant_id = u.tenant_id and t.livemode = u.livemode and t.id = u.transaction_id
  where
    u.reason = 'recorded'
    and case
      when d.id is not null then u.currency = d.currency
      and -u.amount > greatest(
        d.amount,
        (
          select max(coalesce(x.taken_amount, x.amount))
          from transaction x
          where x.tenant_id = d.tenant_id and x.livemode = d.livemode and x.deposit_id = d.id
        )
      )
      else u.currency = t.taken_currency
      and -u.amount > t.taken_amount
    end;
