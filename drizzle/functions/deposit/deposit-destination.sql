-- Where a deposit goes: its address when the request names none, and the compartment of the balance.

-- Returns the newest usable address of the account that receives a deposit, preferably in its currency. Refuses when
-- there is none, and when the caller does not see the account: `p_acting_account` is that of a caller that sees the
-- rows of its own list alone, and null for one that sees all.
create or replace function deposit_destination(
  p_tenant text,
  p_live boolean,
  p_to account,
  p_currency text,
  p_acting_account text
)
returns text
language plpgsql
as $$
declare
  v_id text;
begin
  if p_to.id is null or p_to.context_id <> p_acting_account then
    perform refuse(404, 'resource_missing', 'deposit.to.account_id');
  end if;
  select d.id
  into v_id
  from address d
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.linked_id = p_to.id
    and d.category = 'service_receive'
    and d.status = 'activated'
  order by (d.currency = p_currency) desc, d.created desc, d.id desc
  limit 1;
  if v_id is null then
    perform refuse(402, 'address_unusable', 'deposit.to.account_id');
  end if;
  return v_id;
end;
$$;

-- The compartment that receives a deposit: fee_advance for a platform's fee advance address, pending for any other.
create or replace function category_of(p_tenant text, p_live boolean, p_deposit deposit)
returns text
language plpgsql
stable
as $$
begin
  return case
    when exists (
      select
      from address a
      where
        a.tenant_id = p_tenant
        and a.livemode = p_live
        and a.id = p_deposit.to_address_id
        and a.category = 'service_fee_advance'
    ) then 'fee_advance'
    else 'pending'
  end;
end;
$$;
