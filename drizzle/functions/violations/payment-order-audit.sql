-- The audit of payment orders, which have no tenant.

-- Orders that break an invariant: an approved one was proposed by one named operator and approved by another one.
create or replace view payment_order_breaches as
  select 'payment order was not approved by another operator' as rule, o.id as what
  from payment_order o
  where o.status in ('approved', 'sent') and (o.created_by_id <> o.decided_by_id) is not true;
