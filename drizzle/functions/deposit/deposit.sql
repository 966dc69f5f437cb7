-- Deposits: their parties and creation. Each function locks the balances that it may change before anything else.
--
-- Longer than 60 lines: payment_address (one search, one update and one insert); insert_deposit (its columns).

-- Returns the account whose receivables a deposit may be reconciled against: the account itself if it is a user, or the
-- owner if it is a partner. The rule is a table of TypeScript, from which receiver_by_kind is generated.
create or replace function receiver_of(p_tenant text, p_live boolean, p_to text)
returns text
language plpgsql
stable
as $$
declare
  v_kind text;
  v_owner text;
  v_id text;
begin
  select a.kind, a.owner_id, a.id
  into v_kind, v_owner, v_id
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_to;
  return receiver_by_kind(v_kind, v_id, v_owner);
end;
$$;

-- Returns the address from which a partner pays with a method. The partner's first payment creates it, and later
-- payments find it again. It is reusable for ACH debit (Spec: Address, is_reusable) because the partner has paid with
-- it. In live mode only its type is known.
create or replace function payment_address(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_partner account,
  p_method text,
  p_currency text
)
returns text
language plpgsql
as $$
declare
  v_type text := case
    when p_method in ('affirm', 'afterpay', 'klarna') then 'wallet'
    when p_method = 'upi' then 'vpa'
    else 'bank_account'
  end;
  v_id text;
  v address;
  v_now bigint := clock(p_tenant, p_live);
begin
  select d.id
  into v_id
  from address d
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.linked_id = p_partner.id
    and d.category = 'partner_payment'
    and d.status = 'activated'
    and d.type = v_type
    and d.currency = p_currency
    and (v_type <> 'wallet' or d.wallet_provider = p_method)
  order by d.created desc, d.id desc
  limit 1;
  if v_id is not null then
    -- An account that was debited once can be debited again.
    if p_method = 'domestic_debit' then
      update address d
      set
        is_reusable = true,
        version = d.version + 1,
        updated_at = greatest(d.updated_at, v_now)
      where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id and not d.is_reusable
      returning *
      into v;
      if found then
        perform emit_event(p_tenant, p_live, p_envelope, 'address.updated', 'address', to_jsonb(v));
      end if;
    end if;
    return v_id;
  end if;
  v := insert_address(
    p_tenant,
    p_live,
    p_envelope,
    p_partner,
    'partner_payment',
    v_type,
    p_currency,
    p_is_reusable => p_method = 'domestic_debit',
    p_wallet =>
      case
        when v_type = 'wallet' then jsonb_build_object('provider', p_method)
      end,
    p_vpa =>
      case
        when v_type = 'vpa'
        and not p_live then vpa_of('payer@sandbox')
      end,
    p_bank_account =>
      case
        when v_type = 'bank_account' then jsonb_build_object('bankName', null)
      end
  );
  return v.id;
end;
$$;

-- The row of a deposit that `p_to` will receive, with a new id, but without its time and its payment. It locks the
-- payer, and may create the address from which a partner pays.
create or replace function deposit_of_args(p_tenant text, p_live boolean, p_envelope jsonb, p_to account, p_args jsonb)
returns deposit
language plpgsql
as $$
declare
  v deposit;
  v_from account;
  v_from_id text := p_args ->> 'fromAccountId';
begin
  v.id := new_id('deposit');
  v.to_account_id := p_to.id;
  v.to_address_id := p_args ->> 'toAddressId';
  if v.to_address_id is null then
    v.to_address_id := deposit_destination(p_tenant, p_live, p_to, p_args ->> 'currency', p_args ->> 'visibleTo');
  end if;
  v.from_address_id := p_args ->> 'fromAddressId';
  -- Look up the payer only if there is one: for a null id PostgreSQL would make a new plan each time.
  if v_from_id is not null then
    -- No key update: a deposit in the opposite direction, whose row refers to this account, must not wait for this
    -- lock.
    select a.*
    into v_from
    from account a
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_from_id
    for no key update;
    v.from_account_id := v_from.id;
    if v_from.kind = 'partner' and v.from_address_id is null then
      v.from_address_id := payment_address(
        p_tenant,
        p_live,
        p_envelope,
        v_from,
        p_args ->> 'paymentMethod',
        p_args ->> 'currency'
      );
    end if;
  end if;
  v.amount := p_args ->> 'amount';
  v.currency := p_args ->> 'currency';
  v.payment_method := p_args ->> 'paymentMethod';
  v.statement_descriptor := coalesce(p_args ->> 'statementDescriptor', '');
  v.status := 'initialized';
  if p_args ? 'metadata' then
    v.metadata := merge_metadata(null, p_args -> 'metadata', 'deposit.metadata');
  end if;
  v.context_id := p_to.context_id;
  v.on_root_list := p_to.on_root_list or coalesce(v_from.on_root_list, false);
  return v;
end;
$$;

-- Stores a new deposit with its entries of the search. Its event, its jobs and its money are the caller's.
create or replace function insert_deposit(p_tenant text, p_live boolean, p_deposit deposit)
returns deposit
language plpgsql
as $$
declare
  d deposit := p_deposit;
begin
  insert into deposit
    (
      tenant_id,
      livemode,
      id,
      created,
      amount,
      currency,
      from_account_id,
      from_address_id,
      to_account_id,
      to_address_id,
      payment_method,
      payment_method_details,
      reason_code,
      statement_descriptor,
      status,
      metadata,
      payment_id,
      disputes_id,
      bank_details,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      d.id,
      d.created,
      d.amount,
      d.currency,
      d.from_account_id,
      d.from_address_id,
      d.to_account_id,
      d.to_address_id,
      d.payment_method,
      d.payment_method_details,
      d.reason_code,
      d.statement_descriptor,
      d.status,
      d.metadata,
      d.payment_id,
      d.disputes_id,
      d.bank_details,
      d.context_id,
      d.on_root_list
    )
  returning *
  into d;
  perform index_object(p_tenant, p_live, 'deposit', null, to_jsonb(d));
  return d;
end;
$$;

create or replace function create_deposit(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'toAccountId text, toAddressId text null, fromAccountId text null, fromAddressId text null, amount bigint,
        currency text, paymentMethod text, statementDescriptor? text null,
        metadata? object null, visibleTo? text null'
    )
  );
  v deposit;
  v_to account;
  v_now bigint;
  v_row jsonb;
begin
  select a.*
  into v_to
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'toAccountId';
  v := deposit_of_args(p_tenant, p_live, p_envelope, v_to, v_args);
  -- Read the clock after the locks and after the event of the payer's address: events are numbered by their time.
  v_now := clock(p_tenant, p_live);
  v.payment_id := insert_payment_at(p_tenant, p_live, v_to, 'deposit', v.amount, v.currency, 'processing', v.id, v_now);
  v.created := v_now;
  v := insert_deposit(p_tenant, p_live, v);
  v_row := to_jsonb(v);
  perform enqueue_at(p_tenant, p_live, 'process_deposit', v.id, 0, '{}', v_now);
  perform emit_event_at(p_tenant, p_live, p_envelope, 'deposit.initialized', 'deposit', v_row, v_now);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, v_row);
  return next v;
end;
$$;
