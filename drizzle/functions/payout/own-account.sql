-- The operator's own accounts at banks, from which payouts are paid. They are about the whole deployment and have no
-- tenant.

-- Adds an account of the operator at a bank. The same call under the same idempotency key returns the account that the
-- first one has added.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function add_own_account(p_account jsonb, p_by text, p_key text)
returns setof own_account
language plpgsql
as $$
declare
  v own_account := jsonb_populate_record(null::own_account, p_account);
begin
  return query select x.* from own_account_of_key(p_account, p_key) x;
  if found then
    return;
  end if;
  v.id := new_id('own_account');
  v.created := wall_clock();
  v.created_by := p_by;
  v.closed_at := null;
  v.idempotency_key := p_key;
  insert into own_account select x.* from unnest(array[v]) x;
  return next v;
exception when unique_violation then
  -- The same call at the same time may have been first.
  return query select x.* from own_account_of_key(p_account, p_key) x;
  if not found then
    perform refuse(
      409,
      'state_conflict',
      'own_account.number',
      'is that of another account of yours in this currency.'
    );
  end if;
end;
$$;

-- The account that a call with an idempotency key has added, if there is one. Refuses another account under its key.
create or replace function own_account_of_key(p_account jsonb, p_key text)
returns setof own_account
language plpgsql
as $$
declare
  v own_account;
  a own_account := jsonb_populate_record(null::own_account, p_account);
begin
  select o.* into v from own_account o where o.idempotency_key = p_key;
  if not found then
    return;
  end if;
  if
    (v.holder, v.currency, v.iban, v.number, v.bic, v.ifsc) is distinct from (
      a.holder,
      a.currency,
      a.iban,
      a.number,
      a.bic,
      a.ifsc
    )
  then
    perform refuse(400, 'idempotency_key_reused', null);
  end if;
  return next v;
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
