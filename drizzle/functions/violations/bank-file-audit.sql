-- The audit of the files of banks, which have no tenant.

-- Booked lines whose deposit or payout is missing or does not fit. A line that credits has a deposit of its amount, and
-- one that answers a payout has a payout of its amount. A line that takes a receipt back has a deposit of at most its
-- amount, since refunds and disputes may have left less. The currency is always the same. A line is a deposit or a
-- payout, and no two lines are the same one in the same direction.
create or replace view bank_line_breaches as
  select
    'bank line is not what it is booked as' as rule,
    l.file_id || ' ' || l.number as what
  from
    bank_line l
    left join deposit d on l.payout_id is null and d.id = l.deposit_id and d.tenant_id = l.tenant
    left join payout y on y.id = l.payout_id
  where
    l.state = 'booked'
    and (
      case
        when l.payout_id is not null then l.deposit_id is null
        and y.amount = l.amount
        and y.currency = l.currency
        when l.direction = 'credit' then d.amount = l.amount
        and d.currency = l.currency
        else abs(d.amount) <= l.amount
        and d.currency = l.currency
      end
    ) is not true
  union all
  select 'two bank lines are booked as one transfer', coalesce(l.payout_id, l.deposit_id) || ' ' || l.direction
  from bank_line l
  where l.state = 'booked'
  group by coalesce(l.payout_id, l.deposit_id), l.direction
  having count(*) > 1;
