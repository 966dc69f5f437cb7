-- The audit of refunds.

-- Contradictions in refunds, and in the money that waits for their end. Each row breaks an invariant.
create or replace view refund_violations as
  select d.tenant_id, d.livemode, 'refunds and disputes exceed their deposit' as rule, d.id as what
  from
    (
      select r.tenant_id, r.livemode, r.deposit_id, sum(r.amount) as refunded
      from refund r
      where r.status <> 'failed'
      group by 1, 2, 3
    ) s
    join deposit d on d.tenant_id = s.tenant_id and d.livemode = s.livemode and d.id = s.deposit_id
  where s.refunded + d.disputed > d.amount and d.reason_code is distinct from 'duplicate'
  union all
  select r.tenant_id, r.livemode, 'refund and its deposit disagree', r.id
  from
    refund r
    left join deposit d on d.tenant_id = r.tenant_id and d.livemode = r.livemode and d.id = r.deposit_id
  where (r.account_id, r.currency) is distinct from (d.to_account_id, d.currency) or d.disputes_id is not null
  union all
  select r.tenant_id, r.livemode, 'refund and its payment disagree', r.id
  from
    refund r
    left join payment p on p.tenant_id = r.tenant_id and p.livemode = r.livemode and p.id = r.payment_id
  where
    (p.type, p.amount, p.currency, p.status) is distinct from (
      'refund',
      -r.amount,
      r.currency,
      case r.status
        when 'pending' then 'processing'
        when 'succeeded' then 'completed'
        else 'failed'
      end
    )
  union all
  select r.tenant_id, r.livemode, 'refund and its money disagree', r.id
  from refund r
  where
    case
      when r.debited_account_id is null then 0
      else r.amount
    end <> (
      select coalesce(sum(e.amount), 0)
      from
        posting p
        join entry e on e.tenant_id = r.tenant_id and e.livemode = r.livemode and e.posting_id = p.id
      where
        p.tenant_id = r.tenant_id
        and p.livemode = r.livemode
        and p.cause = r.id
        and p.kind = 'refund'
        and e.category = 'processing'
    )
  union all
  -- The end takes all of it out of `processing`, and a success brings as much to the outside world.
  select r.tenant_id, r.livemode, 'refund and its end disagree', r.id
  from refund r
  where
    (
      select coalesce(sum(e.amount), 0)
      from
        posting p
        join entry e on e.tenant_id = r.tenant_id and e.livemode = r.livemode and e.posting_id = p.id
      where
        p.tenant_id = r.tenant_id
        and p.livemode = r.livemode
        and p.cause = r.id
        and p.kind = 'refund_end'
        and e.category = 'processing'
    ) <> case
      when r.status = 'pending'
      or r.debited_account_id is null then 0
      else -r.amount
    end
    or (
      select coalesce(sum(c.amount), 0)
      from
        posting p
        join contra_entry c on c.tenant_id = r.tenant_id and c.livemode = r.livemode and c.posting_id = p.id
      where
        p.tenant_id = r.tenant_id
        and p.livemode = r.livemode
        and p.cause = r.id
        and p.kind = 'refund_end'
        and c.contra = 'refund'
    ) <> case r.status
      when 'succeeded' then r.amount
      else 0
    end
  union all
  -- A duplicate is refunded whole, once, and from no account.
  select r.tenant_id, r.livemode, 'refund of a duplicate and its attempt disagree', r.id
  from
    refund r
    left join transaction t on t.tenant_id = r.tenant_id and t.livemode = r.livemode and t.deposit_id = r.deposit_id
  where
    (r.debited_account_id is null or t.reason_code = 'duplicate')
    and (
      (r.amount, r.currency, r.from_pending, r.debited_account_id, t.reason_code) is distinct from (
        coalesce(t.taken_amount, t.amount),
        t.currency,
        0::bigint,
        null::text,
        'duplicate'
      )
      or exists (
        select
        from refund x
        where x.tenant_id = r.tenant_id and x.livemode = r.livemode and x.deposit_id = r.deposit_id and x.id <> r.id
      )
    )
  union all
  -- Conversions pass through it within one statement.
  select
    b.tenant_id,
    b.livemode,
    'processing is not the sum of the pending refunds',
    b.account_id || ' ' || b.currency
  from balance b
  where
    b.processing <> (
      select
        coalesce(
          sum(
            case
              when r.account_id = b.account_id then r.from_pending
              else 0
            end + case
              when r.debited_account_id = b.account_id then r.amount - r.from_pending
              else 0
            end
          ),
          0
        )
      from refund r
      where
        r.tenant_id = b.tenant_id
        and r.livemode = b.livemode
        and r.status = 'pending'
        and r.currency = b.currency
        and (r.account_id = b.account_id or r.debited_account_id = b.account_id)
    );
