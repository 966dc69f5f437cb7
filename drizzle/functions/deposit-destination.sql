-- Where a deposit goes when its request names no address.

-- Returns the newest usable address of the account that receives a deposit, preferably in its currency. Refuses when
-- there is none, and when the caller does not see the account: `p_context` is the acting account of a caller that sees
-- the rows of its own list alone, and null for one that sees all.
create or replace function deposit_destination(
  p_tenant text,
  p_live boolean,
  p_to account,
  p_currency text,
  p_context text
)
returns text
language plpgsql
as $$
declare
  v_id text;
begin
  if p_to.id is null or p_to.context_id <> p_context then
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
