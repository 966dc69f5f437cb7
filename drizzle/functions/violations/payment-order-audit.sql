-- The audit of payment orders, which have no tenant.

-- Orders that break an invariant: an approved one was proposed by one named operator and approved by another one, and
-- from its proposal on an order has the payouts that were counted then, in its currency. A payout has an order that
-- exists, and that is not rejected.
create or replace view payment_order_breaches as
  with
    claimed as materialized (
      select
        y.order_id,
        y.currency,
        count(*) as payouts,
        count(*) filter (where y.status = 'processing') as under_way,
        sum(y.amount) as total
      from payout y
      where y.order_id is not null
      group by y.order_id, y.currency
    )
  select 'payment order was not approved by another operator' as rule, o.id as what
  from payment_order o
  where o.status in ('approved', 'sent') and (o.created_by_id <> o.decided_by_id) is not true
  union all
  select 'payment order and its payouts disagree', o.id
  from
    payment_order o
    left join claimed c on c.order_id = o.id and c.currency = o.currency
  where o.status in ('proposed', 'approved', 'sent') and (o.payouts, o.total) is distinct from (c.payouts, c.total)
  union all
  select 'payout is in no payment order of its currency', c.order_id
  from
    claimed c
    left join payment_order o on o.id = c.order_id and o.currency = c.currency
  where o.id is null
  union all
  -- An order is rejected first, and then a statement of each tenant gives its payouts back. What an interruption has
  -- left is given back when another order is begun, before that one is proposed.
  select 'payout is claimed by a rejected payment order', o.id
  from payment_order o
  where
    o.status = 'rejected'
    and exists (
      select
      from claimed c
      where c.order_id = o.id and c.under_way > 0
    )
    and exists (
      select
      from payment_order n
      where n.status in ('proposed', 'approved', 'sent') and n.created > o.decided_at
    );
