-- The audit of payments and events.

-- A payment is shown with an amount of its own, which is that of the object that it belongs to, or what its entries
-- move.
create or replace view payment_violations as
  select o.tenant_id, o.livemode, 'payment has not the amount of its object' as rule, o.payment_id as what
  from
    (
      select tenant_id, livemode, payment_id, amount, currency from deposit
      union all
      select tenant_id, livemode, payment_id, amount, currency from payout
      union all
      select tenant_id, livemode, payment_id, -amount, currency from refund
      union all
      select
        tenant_id,
        livemode,
        payment_id,
        coalesce(credit_amount, -debit_amount),
        coalesce(credit_currency, debit_currency)
      from adjustment
      where payment_id is not null
    ) o
    left join payment p on p.tenant_id = o.tenant_id and p.livemode = o.livemode and p.id = o.payment_id
  where (p.amount, p.currency) is distinct from (o.amount, o.currency)
  union all
  select p.tenant_id, p.livemode, 'payment has not the amount of its object', p.id
  from payment p
  where
    p.type = 'transfer'
    and not exists (
      select
      from entry e
      where
        e.tenant_id = p.tenant_id
        and e.livemode = p.livemode
        and e.payment_id = p.id
        and e.currency = p.currency
        and abs(e.amount) = abs(p.amount)
    );

-- Old events are deleted from the first one on, and the others have all numbers up to the last one. When all are old
-- enough to be gone, nothing tells whether one is missing.
create or replace view event_violations as
  select c.tenant_id, c.livemode, 'events are not dense up to the last number' as rule, c.last::text as what
  from
    event_counter c
    cross join lateral (
      select count(*) as n, min(e.number) as first
      from event e
      where e.tenant_id = c.tenant_id and e.livemode = c.livemode and e.number is not null
    ) e
  where e.n > 0 and e.first + e.n - 1 <> c.last;
