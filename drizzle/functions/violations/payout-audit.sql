-- The audit of payouts.

-- Contradictions in payouts, and in money and locks that wait for a payout. Each row breaks an invariant.
create or replace view payout_violations as
  select y.tenant_id, y.livemode, 'payout and its money disagree' as rule, y.id as what
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
  union all
  -- The events with lower numbers than a payout's event show the state that the payout was checked against: a lock made
  -- each of them wait for the commit of the one before.
  select y.tenant_id, y.livemode, 'payout to an address that was not usable', y.id
  from
    payout y
    join address a on a.tenant_id = y.tenant_id and a.livemode = y.livemode and a.id = y.address_id
    left join event p
      on p.tenant_id = y.tenant_id
      and p.livemode = y.livemode
      and hashtext(p.object_id) = hashtext(y.id)
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
      where
        x.tenant_id = y.tenant_id
        and x.livemode = y.livemode
        and hashtext(x.object_id) = hashtext(a.id)
        and x.object_id = a.id
        and x.number < p.number
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
      and hashtext(p.object_id) = hashtext(y.id)
      and p.object_id = y.id
      and p.type = 'payout.processing'
      and p.number is not null
    join account_setting s on s.tenant_id = y.tenant_id and s.livemode = y.livemode and s.account_id = y.account_id
  where
    (
      select x.data ->> 'payouts_enabled'
      from event x
      where
        x.tenant_id = y.tenant_id
        and x.livemode = y.livemode
        and hashtext(x.object_id) = hashtext(s.id)
        and x.object_id = s.id
        and x.number < p.number
      order by x.number desc
      limit 1
    ) = 'false'
  union all
  select y.tenant_id, y.livemode, 'payout left its account below zero', y.id
  from payout y
  where
    exists (
      select
      from
        posting p
        join entry e on e.tenant_id = y.tenant_id and e.livemode = y.livemode and e.posting_id = p.id
      where
        p.tenant_id = y.tenant_id
        and p.livemode = y.livemode
        and p.cause = y.id
        and p.kind in ('payout', 'conversion_out')
        and e.category = 'available'
        and e.balance_after < 0
    )
  union all
  -- A payout takes all that is available, so nothing is left that could make up for a user below zero. Since what is
  -- taken from a user comes from the platform by the same statement, only money that was taken before can have left a
  -- user below zero for a time: until the version of the balance with which it was covered. The numbers of the events
  -- say whether a payout was made meanwhile, as above. Events without a number are later, and deleted ones earlier.
  select distinct y.tenant_id, y.livemode, 'payout left an aggregator and its users below zero', y.id
  from
    posting p
    join entry e on e.tenant_id = p.tenant_id and e.livemode = p.livemode and e.posting_id = p.id
    join account u on u.tenant_id = p.tenant_id and u.livemode = p.livemode and u.id = e.account_id
    join account o on o.tenant_id = p.tenant_id and o.livemode = p.livemode and o.id = u.owner_id
    left join lateral (
      select
        w.kind,
        w.cause,
        case w.kind
          when 'reconciliation' then split_part(w.cause, ':', 1)
          else w.payment_id
        end as object_id
      from
        entry x
        join posting w on w.tenant_id = p.tenant_id and w.livemode = p.livemode and w.id = x.posting_id
      where
        x.tenant_id = p.tenant_id
        and x.livemode = p.livemode
        and x.account_id = e.account_id
        and x.currency = e.currency
        and x.version > e.version
        and x.category = 'available'
        and x.balance_after >= 0
      order by x.version
      limit 1
    ) c
      on true
    join payout y
      on y.tenant_id = p.tenant_id
      and y.livemode = p.livemode
      and y.account_id = o.id
      and y.source_currency = e.currency
    join event n
      on n.tenant_id = p.tenant_id
      and n.livemode = p.livemode
      and hashtext(n.object_id) = hashtext(y.id)
      and n.object_id = y.id
      and n.type = 'payout.processing'
      and n.number is not null
  where
    p.kind in ('dispute', 'reversal')
    and e.category = 'available'
    and e.balance_after < 0
    and u.kind = 'connected_user'
    and o.sub_type = 'aggregator'
    and (c.kind, c.cause) is distinct from ('transfer_back', p.cause)
    and not exists (
      select
      from event x
      where
        x.tenant_id = p.tenant_id
        and x.livemode = p.livemode
        and hashtext(x.object_id) = hashtext(p.cause)
        and x.object_id = p.cause
        and x.type in ('deposit.completed', 'deposit.reversed')
        and (x.type = 'deposit.reversed') = (p.kind = 'reversal')
        and coalesce(x.number > n.number, true)
    )
    and (
      c.kind is null
      or exists (
        select
        from event x
        where
          x.tenant_id = p.tenant_id
          and x.livemode = p.livemode
          and hashtext(x.object_id) = hashtext(c.object_id)
          and x.object_id = c.object_id
          and case c.kind
            when 'reconciliation' then x.type = 'deposit.reconciled'
            and x.data ->> 'version' = split_part(c.cause, ':', 2)
            else x.type = 'payment.completed'
          end
          and coalesce(x.number > n.number, true)
      )
    )
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
    (y.status in ('failed', 'returned') or (y.status = 'completed' and not k.settled and k.amount > 0))
    and not exists (
      select
      from job j
      where
        j.tenant_id = k.tenant_id
        and j.livemode = k.livemode
        and j.kind in ('settle_locks', 'free_locks')
        and j.subject_id = y.account_id
    )
  union all
  -- The rate is stored with 16 decimals, and the amount was truncated to what can be paid in its currency.
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
  select y.tenant_id, y.livemode, 'payout and its postings disagree', y.id
  from payout y
  where
    array(
      select p.kind
      from posting p
      where
        p.tenant_id = y.tenant_id
        and p.livemode = y.livemode
        and p.cause = y.id
        and p.kind in ('payout_end', 'payout_return')
      order by 1
    ) <> case y.status
      when 'processing' then array[]::text[]
      when 'returned' then array['payout_end', 'payout_return']
      else array['payout_end']
    end
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
    );
