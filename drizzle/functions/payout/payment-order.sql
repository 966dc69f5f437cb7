-- Payment orders: payouts that a bank is told to pay. The orders are about the whole deployment and have no tenant; a
-- payout is claimed for an order by a conditional update of its tenant's row.
--
-- Longer than 60 lines: decide_payment_order (a refusal for each of its rules).

-- Begins an order from an account for a day. One that is still being gathered for the account was interrupted: it is
-- rejected, so that each order has one process that gathers it. The same call under the same idempotency key returns
-- the order of the first one once that is proposed; what was interrupted before is begun anew.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function create_payment_order(
  p_own_account text,
  p_value_date text,
  p_by text,
  p_by_id text,
  p_key text
)
returns setof payment_order
language plpgsql
as $$
declare
  v_id text := new_id('payment_order');
  a own_account;
begin
  select o.* into a from own_account o where o.id = p_own_account for update;
  return query select p.* from order_of_key(p_own_account, p_value_date, p_key) p;
  if found then
    return;
  end if;
  if a.id is null or a.closed_at is not null then
    perform refuse(409, 'state_conflict', 'own_account.id', 'is not an account of yours that is open.');
  end if;
  -- A day has begun somewhere before it has in UTC, and lasts longer elsewhere.
  if p_value_date < to_char(to_timestamp(wall_clock() - 86400) at time zone 'UTC', 'YYYY-MM-DD') then
    perform refuse(400, 'parameter_invalid', 'payment_order.value_date', 'must not be in the past');
  end if;
  update payment_order p
  set
    status = 'rejected',
    note = 'Another order was begun before all payouts of this one were gathered.',
    decided_by = p_by,
    decided_by_id = p_by_id,
    decided_at = wall_clock()
  where p.own_account_id = p_own_account and p.status = 'gathering';
  -- The same call may have proposed its order until now.
  return query select p.* from order_of_key(p_own_account, p_value_date, p_key) p;
  if found then
    return;
  end if;
  insert into payment_order
    (id, created, created_by, created_by_id, own_account_id, currency, value_date, status, idempotency_key)
  values (v_id, wall_clock(), p_by, p_by_id, a.id, a.currency, p_value_date, 'gathering', p_key);
  return query select p.* from payment_order p where p.id = v_id;
end;
$$;

-- The order that a call with an idempotency key has proposed, if there is one. Refuses another order under its key.
create or replace function order_of_key(p_own_account text, p_value_date text, p_key text)
returns setof payment_order
language plpgsql
as $$
declare
  v payment_order;
begin
  select p.* into v from payment_order p where p.idempotency_key = p_key and p.payouts > 0;
  if not found then
    return;
  end if;
  if (v.own_account_id, v.value_date) is distinct from (p_own_account, p_value_date) then
    perform refuse(400, 'idempotency_key_reused', null);
  end if;
  return next v;
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

-- Proposes an order with what was counted in it and what was left out, unless it was rejected meanwhile. One without
-- payouts is rejected, and so is a second one under an idempotency key.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function propose_payment_order(p_id text, p_payouts int, p_total bigint, p_left_out jsonb)
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
    total = p_total,
    left_out = p_left_out,
    decided_at = case
      when p_payouts = 0 then wall_clock()
    end
  where p.id = p_id and p.status = 'gathering';
  return query select p.* from payment_order p where p.id = p_id;
exception when unique_violation then
  update payment_order p
  set
    status = 'rejected',
    note = 'Another order was proposed under the same Idempotency-Key.',
    decided_at = wall_clock()
  where p.id = p_id and p.status = 'gathering';
  return query select p.* from payment_order p where p.id = p_id;
end;
$$;

-- Approves an order, which only a named operator does who has not proposed it, or rejects it. Of an order that
-- OPERATOR_KEY or a command has begun, the first named operator who approves it becomes the one who proposes it, so
-- that two are needed. After its approval its file may be at the bank: then a named operator rejects it who has neither
-- proposed, approved nor sent it and has never had its file, so that no two of them pay one payout twice.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function decide_payment_order(p_id text, p_to text, p_by text, p_by_id text, p_note text)
returns setof payment_order
language plpgsql
as $$
declare
  v payment_order;
begin
  select p.* into v from payment_order p where p.id = p_id for update;
  -- The decision of an operator whose answer was lost: nothing more is done.
  if
    (v.status = p_to and v.decided_by_id is not distinct from p_by_id)
    or (v.status = 'proposed' and p_to = 'approved' and v.adopted_at is not null and v.created_by_id = p_by_id)
  then
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
  if p_to = 'approved' and v.created_by_id is null then
    update payment_order p
    set
      created_by = p_by,
      created_by_id = p_by_id,
      adopted_at = wall_clock()
    where p.id = p_id
    returning *
    into v;
    return next v;
    return;
  end if;
  if
    v.status in ('approved', 'sent')
    and (
      p_by_id is null
      or p_by_id in (v.created_by_id, v.decided_by_id, v.sent_by_id)
      or had_order_file(p_id, p_by_id)
    )
  then
    perform refuse(
      403,
      'permission_denied',
      null,
      'The bank may have the file. Only a named operator rejects it who has not proposed, approved, sent or read it.'
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

-- Whether an operator has read the file of an order, or begun to: the entry in the audit log comes before the file.
create or replace function had_order_file(p_id text, p_by_id text)
returns boolean
language plpgsql
stable
as $$
begin
  return exists (
    select
    from operator_action a
    where
      a.object_id = p_id
      and a.operation = 'readPaymentOrder'
      and a.operator_id = p_by_id
      and not exists (select from operator_action e where e.action = a.number and e.outcome = 'refused')
  );
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
