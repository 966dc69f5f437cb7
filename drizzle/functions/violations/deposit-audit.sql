-- The audit of deposits and receivables.

-- Contradictions in deposits, receivables and the locks between them. Each row breaks an invariant.
create or replace view deposit_violations as
  with
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
  select r.tenant_id, r.livemode, 'receivable is not the sum of its locks' as rule, r.id as what
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
      else d.amount - d.disputed - d.pending_rest - (
        select coalesce(sum(r.amount), 0)
        from refund r
        where r.tenant_id = d.tenant_id and r.livemode = d.livemode and r.deposit_id = d.id and r.status <> 'failed'
      )
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
    and d.amount > 0
    and (
      d.pending_rest <> 0
      or d.amount - d.disputed <> (
        select coalesce(sum(c.amount), 0)
        from
          posting p
          join contra_entry c on c.tenant_id = d.tenant_id and c.livemode = d.livemode and c.posting_id = p.id
        where p.tenant_id = d.tenant_id and p.livemode = d.livemode and p.cause = d.id and p.kind = 'reversal'
      ) + (
        -- What refunds have taken before, and what the reversal has taken of those that failed later.
        select coalesce(sum(r.amount), 0)
        from refund r
        where
          r.tenant_id = d.tenant_id
          and r.livemode = d.livemode
          and r.deposit_id = d.id
          and (
            r.status <> 'failed'
            or exists (
              select
              from posting p
              where p.tenant_id = d.tenant_id and p.livemode = d.livemode and p.cause = r.id and p.kind = 'reversal'
            )
          )
      ) + (
        -- What the reversal has taken of what disputes that were won later gave back.
        select coalesce(-sum(n.amount), 0)
        from
          deposit n
          left join dispute x
            on x.tenant_id = n.tenant_id
            and x.livemode = n.livemode
            and x.deposit_id = n.disputes_id
            and x.debit_deposit_id = n.id
        where
          n.tenant_id = d.tenant_id
          and n.livemode = d.livemode
          and n.disputes_id = d.id
          and n.status = 'reversed'
          and exists (
            select
            from posting p
            where
              p.tenant_id = d.tenant_id
              and p.livemode = d.livemode
              and p.cause = coalesce(x.id, n.id)
              and p.kind = 'reversal'
          )
      )
    )
  union all
  select c.tenant_id, c.livemode, 'recall or chargeback and its deposit disagree', c.kind || ' ' || c.reference
  from
    clawback c
    left join deposit d on d.tenant_id = c.tenant_id and d.livemode = c.livemode and d.id = c.deposit_id
  where d.id is null or d.amount <> -c.amount or d.disputes_id is distinct from c.disputes_id
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
  select b.tenant_id, b.livemode, 'pending is not the sum of what deposits have left', b.account_id || ' ' || b.currency
  from balance b
  where
    b.pending <> (
      select coalesce(sum(d.pending_rest), 0)
      from deposit d
      where
        d.tenant_id = b.tenant_id
        and d.livemode = b.livemode
        and hashtext(d.to_account_id) = hashtext(b.account_id)
        and d.to_account_id = b.account_id
        and d.currency = b.currency
    );
