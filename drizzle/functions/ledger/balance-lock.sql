-- Locks of balances, which a write takes before it posts.

-- Creates missing balance rows, then locks all of them in key order. Keys are [{account, currency}, …]. The rows must
-- exist before a posting: an upsert with a negative delta would fail the check on the row that it proposes.
create or replace function lock_balances(p_tenant text, p_live boolean, p_keys jsonb)
returns void
language plpgsql
as $$
declare
  k record;
  v_account text := p_keys -> 0 ->> 'account';
  v_currency text := p_keys -> 0 ->> 'currency';
  v_other text;
  v_other_currency text;
begin
  -- One key needs no sorting, and two need no query for it. Many callers have a third one without an account.
  if jsonb_array_length(p_keys) = 1 then
    perform lock_balance(p_tenant, p_live, v_account, v_currency);
    return;
  elseif jsonb_array_length(p_keys) = 2 or (jsonb_array_length(p_keys) = 3 and p_keys -> 2 ->> 'account' is null) then
    v_other := p_keys -> 1 ->> 'account';
    v_other_currency := p_keys -> 1 ->> 'currency';
    if (v_account, v_currency) > (v_other, v_other_currency) then
      perform lock_balance(p_tenant, p_live, v_other, v_other_currency);
      perform lock_balance(p_tenant, p_live, v_account, v_currency);
    else
      perform lock_balance(p_tenant, p_live, v_account, v_currency);
      perform lock_balance(p_tenant, p_live, v_other, v_other_currency);
    end if;
    return;
  end if;
  for k in
    select distinct x ->> 'account' as account, x ->> 'currency' as currency
    from jsonb_array_elements(p_keys) x
    where x ->> 'account' is not null
    order by 1, 2
  loop
    perform lock_balance(p_tenant, p_live, k.account, k.currency);
  end loop;
end;
$$;

-- Locks one balance, and creates it if it is missing. Returns its account.
create or replace function lock_balance(p_tenant text, p_live boolean, p_account text, p_currency text)
returns text
language plpgsql
as $$
declare
  o account;
begin
  if p_account is null then
    return null;
  end if;
  perform
  from balance b
  where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.currency = p_currency
  for update;
  if not found then
    select a.* into o from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account;
    insert into balance (tenant_id, livemode, account_id, currency, owner_id, of_partner, context_id, on_root_list)
    values
      (p_tenant, p_live, p_account, p_currency, o.owner_id, o.kind = 'partner', o.context_id, o.on_root_list)
    on conflict (tenant_id, livemode, account_id, currency) do nothing;
    perform
    from balance b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.currency = p_currency
    for update;
  end if;
  return p_account;
end;
$$;

-- Locks all balances of an account, in every currency, because a payout from any of them may take receivable locks
-- along.
create or replace function lock_all_balances(p_tenant text, p_live boolean, p_account text)
returns void
language plpgsql
as $$
declare
  v_keys jsonb;
begin
  select jsonb_agg(jsonb_build_object('account', b.account_id, 'currency', b.currency))
  into v_keys
  from balance b
  where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account;
  perform lock_balances(p_tenant, p_live, coalesce(v_keys, '[]'));
end;
$$;
