-- Payments: the objects that produce balance transactions. Their status follows that of the object that they belong to.

create or replace function insert_payment(
  p_tenant text,
  p_live boolean,
  p_account account,
  p_type text,
  p_amount bigint,
  p_currency text,
  p_status text,
  p_deposit text
)
returns text
language plpgsql
as $$
begin
  return insert_payment_at(
    p_tenant,
    p_live,
    p_account,
    p_type,
    p_amount,
    p_currency,
    p_status,
    p_deposit,
    clock(p_tenant, p_live)
  );
end;
$$;

-- The same, with a time that the caller has already read.
create or replace function insert_payment_at(
  p_tenant text,
  p_live boolean,
  p_account account,
  p_type text,
  p_amount bigint,
  p_currency text,
  p_status text,
  p_deposit text,
  p_now bigint
)
returns text
language plpgsql
as $$
declare
  v_id text := new_id('payment');
begin
  insert into payment
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      type,
      amount,
      currency,
      status,
      deposit_id,
      context_id,
      on_root_list,
      updated_at
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      p_now,
      p_account.id,
      p_type,
      p_amount,
      p_currency,
      p_status,
      p_deposit,
      p_account.context_id,
      p_account.on_root_list,
      p_now
    );
  return v_id;
end;
$$;

create or replace function move_payment(p_tenant text, p_live boolean, p_id text, p_status text)
returns void
language plpgsql
as $$
declare
  v_now bigint := clock(p_tenant, p_live);
begin
  update payment
  set
    status = p_status,
    updated_at = greatest(payment.updated_at, v_now)
  where tenant_id = p_tenant and livemode = p_live and id = p_id;
end;
$$;
