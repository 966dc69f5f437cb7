-- Payment orders: payouts that a bank is told to pay. The orders and the operator's own accounts are about the whole
-- deployment and have no tenant; a payout is claimed for an order by a conditional update of its tenant's row.

-- Adds an account of the operator at a bank.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function add_own_account(p_account jsonb, p_by text)
returns setof own_account
language plpgsql
as $$
declare
  v own_account := jsonb_populate_record(null::own_account, p_account);
begin
  v.id := new_id('own_account');
  v.created := wall_clock();
  v.created_by := p_by;
  v.closed_at := null;
  insert into own_account select x.* from unnest(array[v]) x;
  return next v;
exception when unique_violation then
  perform refuse(409, 'state_conflict', 'own_account.number', 'is that of another account of yours in this currency.');
end;
$$;

-- Closes an account of the operator: no order is made from it any more.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function close_own_account(p_id text)
returns setof own_account
language plpgsql
as $$
begin
  update own_account o set closed_at = wall_clock() where o.id = p_id and o.closed_at is null;
  return query select o.* from own_account o where o.id = p_id;
end;
$$;

-- Begins an order from an account for a day. One that is still being gathered for the account was interrupted: it is
-- rejected, so that each order has one process that gathers it.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function create_payment_order(p_own_account text, p_value_date text, p_by text, p_by_id text)
returns setof payment_order
language plpgsql
as $$
declare
  v_id text := new_id('payment_order');
begin
  perform from own_account o where o.id = p_own_account and o.closed_at is null for update;
  if not found then
    perform refuse(409, 'state_conflict', 'own_account.id', 'is not an account of yours that is open.');
  end if;
  update payment_order p
  set
    status = 'rejected',
    note = 'Another order was begun before all payouts of this one were gathered.',
    decided_by = p_by,
    decided_by_id = p_by_id,
    decided_at = wall_clock()
  where p.own_account_id = p_own_account and p.status = 'gathering';
  insert into payment_order (id, created, created_by, created_by_id, own_account_id, currency, value_date, status)
  select v_id, wall_clock(), p_by, p_by_id, o.id, o.currency, p_value_date, 'gathering'
  from own_account o
  where o.id = p_own_account;
  return query select p.* from payment_order p where p.id = v_id;
end;
$$;

-- Claims payouts of a tenant for an order: those that are under way and in no order. Returns their ids.
-- Without an event: an account sees nothing of orders.
create or replace function claim_payouts(p_tenant text, p_live boolean, p_ids jsonb, p_order text)
returns setof text
language plpgsql
as $$
declare
  v_ids text[] := array(
    select y.id
    from payout y
    where
      y.tenant_id = p_tenant
      and y.livemode = p_live
      and y.id in (select x from jsonb_array_elements_text(p_ids) x)
      and y.status = 'processing'
      and y.order_id is null
    order by y.id
    for update
  );
begin
  update payout y
  set order_id = p_order
  where y.tenant_id = p_tenant and y.livemode = p_live and y.id = any (v_ids);
  return query select x from unnest(v_ids) x;
end;
$$;

-- Gives payouts of a tenant back that an order has claimed and no bank has paid. Returns their ids.
-- Without an event: an account sees nothing of orders.
create or replace function release_payouts(p_tenant text, p_live boolean, p_ids jsonb, p_order text)
returns setof text
language plpgsql
as $$
declare
  v_ids text[] := array(
    select y.id
    from payout y
    where
      y.tenant_id = p_tenant
      and y.livemode = p_live
      and y.id in (select x from jsonb_array_elements_text(p_ids) x)
      and y.status = 'processing'
      and y.order_id = p_order
    order by y.id
    for update
  );
begin
  update payout y
  set order_id = null
  where y.tenant_id = p_tenant and y.livemode = p_live and y.id = any (v_ids);
  return query select x from unnest(v_ids) x;
end;
$$;

-- Proposes an order with what was counted in it, unless it was rejected meanwhile. One without payouts is rejected.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function propose_payment_order(p_id text, p_payouts int, p_total bigint)
returns setof payment_order
language plpgsql
as $$
begin
  update payment_order p
  set
    status = case
      when p_payouts > 0 then 'proposed'
      else 'rejected'
    end,
    payouts = p_payouts,
    total = p_total
  where p.id = p_id and p.status = 'gathering';
  return query select p.* from payment_order p where p.id = p_id;
end;
$$;

-- Approves an order, which only a named operator does who has not proposed it, or rejects it. After its approval its
-- file may be at the bank: then a named operator rejects it who has neither approved nor sent it.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function decide_payment_order(p_id text, p_to text, p_by text, p_by_id text, p_note text)
returns setof payment_order
language plpgsql
as $$
declare
  v payment_order;
begin
  select p.* into v from payment_order p where p.id = p_id for update;
  if v.status = p_to and v.decided_by_id is not distinct from p_by_id then
    return next v;
    return;
  end if;
  if v.status = 'rejected' or (p_to = 'approved' and v.status <> 'proposed') then
    perform refuse(400, 'status_invalid', 'payment_order.status');
  end if;
  if p_to = 'approved' and (p_by_id is null or p_by_id = v.created_by_id) then
    perform refuse(
      403,
      'permission_denied',
      null,
      'An operator with a name and a key of their own approves a payment order, and not the one that proposed it.'
    );
  end if;
  if v.status in ('approved', 'sent') and (p_by_id is null or p_by_id in (v.decided_by_id, v.sent_by_id)) then
    perform refuse(
      403,
      'permission_denied',
      null,
      'The bank may have the file. A named operator rejects the order, who has neither approved nor sent it.'
    );
  end if;
  update payment_order p
  set
    status = p_to,
    decided_by = p_by,
    decided_by_id = p_by_id,
    decided_at = wall_clock(),
    note = p_note
  where p.id = p_id
  returning *
  into v;
  return next v;
end;
$$;

-- Records that the file of an approved order was given to the bank, once.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function send_payment_order(p_id text, p_by text, p_by_id text)
returns setof payment_order
language plpgsql
as $$
begin
  update payment_order p
  set
    status = 'sent',
    sent_by = p_by,
    sent_by_id = p_by_id,
    sent_at = wall_clock()
  where p.id = p_id and p.status = 'approved';
  return query select p.* from payment_order p where p.id = p_id and p.status = 'sent';
  if not found then
    perform refuse(400, 'status_invalid', 'payment_order.status');
  end if;
end;
$$;
