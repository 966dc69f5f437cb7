-- The ledger. Every movement is a posting whose entries sum to zero per currency. A balance is the running sum of its
-- entries, and the same statement changes both. The caller of `post` has locked the balances first, in the order of
-- their keys (lock_balances): this single order prevents deadlocks, and serialises all changes of one account's money.
--
-- Longer than 60 lines: move_within_balance (one update and one insert with their columns); post (the hot path, where
-- each call of a function would cost a statement).

-- Writes both entries of a move between two compartments of one balance, which changes the balance once.
create or replace function move_within_balance(
  p_tenant text,
  p_live boolean,
  p_kind text,
  p_posting text,
  p_payment text,
  p_now bigint,
  p_legs jsonb
)
returns text
language plpgsql
as $$
declare
  v_account text := p_legs -> 0 ->> 'account';
  v_currency text := p_legs -> 0 ->> 'currency';
  v_category text := p_legs -> 0 ->> 'category';
  v_other text := p_legs -> 1 ->> 'category';
  v_amount bigint := p_legs -> 0 ->> 'amount';
  v_id text := new_id('bt');
  v_other_id text := new_id('bt');
  b balance;
  v_after jsonb;
begin
  update balance
  set
    available = available + case
      when v_category = 'available' then v_amount
      when v_other = 'available' then -v_amount
      else 0
    end,
    fee_advance = fee_advance + case
      when v_category = 'fee_advance' then v_amount
      when v_other = 'fee_advance' then -v_amount
      else 0
    end,
    payout_processing = payout_processing + case
      when v_category = 'payout_processing' then v_amount
      when v_other = 'payout_processing' then -v_amount
      else 0
    end,
    pending = pending + case
      when v_category = 'pending' then v_amount
      when v_other = 'pending' then -v_amount
      else 0
    end,
    processing = processing + case
      when v_category = 'processing' then v_amount
      when v_other = 'processing' then -v_amount
      else 0
    end,
    version = version + 2,
    latest = greatest(latest, p_now),
    late = late or coalesce(latest > p_now, false)
  where tenant_id = p_tenant and livemode = p_live and account_id = v_account and currency = v_currency
  returning *
  into strict b;
  if
    b.available < 0
    and ((v_category = 'available' and v_amount < 0) or (v_other = 'available' and v_amount > 0))
    and p_kind not in ('dispute', 'reversal')
  then
    perform refuse(402, 'balance_insufficient', null);
  end if;
  v_after := to_jsonb(b);
  insert into entry
    (
      tenant_id,
      livemode,
      id,
      created,
      posting_id,
      account_id,
      amount,
      currency,
      category,
      payment_id,
      balance_after,
      version,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      p_now,
      p_posting,
      v_account,
      v_amount,
      v_currency,
      v_category,
      p_payment,
      (v_after ->> v_category)::bigint,
      b.version - 1,
      b.context_id,
      b.on_root_list
    ),
    (
      p_tenant,
      p_live,
      v_other_id,
      p_now,
      p_posting,
      v_account,
      -v_amount,
      v_currency,
      v_other,
      p_payment,
      (v_after ->> v_other)::bigint,
      b.version,
      b.context_id,
      b.on_root_list
    );
  if b.latest > p_now then
    perform insert_late_entry(p_tenant, p_live, v_account, v_currency, b.version - 1, b.latest);
    perform insert_late_entry(p_tenant, p_live, v_account, v_currency, b.version, b.latest);
  end if;
  return p_posting;
end;
$$;

-- Inserts one posting. Legs are [{account, category, currency, amount}, …] for balances and [{contra, currency,
-- amount}, …] for the outside world; amounts are signed minor units. A cause posts once per kind, even when it is
-- retried: the second time is a conflict. Only kinds that take money back may leave `available` below zero; check
-- constraints keep the other compartments at zero or above.
create or replace function post(p_tenant text, p_live boolean, p_kind text, p_cause text, p_payment text, p_legs jsonb)
returns text
language plpgsql
as $$
declare
  v_posting text := new_id('posting');
  v_now bigint := clock(p_tenant, p_live);
  v_legs jsonb := p_legs;
  l jsonb;
  v_id text;
  v_account text;
  v_category text;
  v_currency text;
  v_amount bigint;
  v_after bigint;
  v_version bigint;
  v_latest bigint;
  v_acting_account text;
  v_root boolean;
  v_within boolean := false;
begin
  -- Most postings move money between one balance and the outside world, and have these in order.
  if
    not coalesce(
      jsonb_array_length(p_legs) = 2
      and p_legs -> 0 ? 'account'
      and p_legs -> 1 ? 'contra'
      and p_legs -> 0 ->> 'currency' = p_legs -> 1 ->> 'currency'
      and (p_legs -> 0 ->> 'amount')::bigint = -(p_legs -> 1 ->> 'amount')::bigint
      and (p_legs -> 1 ->> 'amount')::bigint <> 0,
      false
    )
  then
    v_legs := sorted_legs(p_kind, p_cause, p_legs);
    v_within := jsonb_array_length(v_legs) = 2
    and v_legs -> 0 ->> 'account' = v_legs -> 1 ->> 'account'
    and v_legs -> 0 ->> 'currency' = v_legs -> 1 ->> 'currency';
  end if;
  insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
  values (p_tenant, p_live, v_posting, v_now, p_kind, p_cause, p_payment)
  on conflict (tenant_id, livemode, kind, cause) do nothing;
  if not found then
    perform refuse(409, 'state_conflict', null);
  end if;
  insert into unsealed (tenant_id, livemode, posting_id) values (p_tenant, p_live, v_posting);
  if v_within then
    return move_within_balance(p_tenant, p_live, p_kind, v_posting, p_payment, v_now, v_legs);
  end if;
  for i in 0..jsonb_array_length(v_legs) - 1 loop
    l := v_legs -> i;
    v_account := l ->> 'account';
    v_currency := l ->> 'currency';
    v_amount := l ->> 'amount';
    if v_account is null then
      v_id := new_id('contra');
      insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
      values (p_tenant, p_live, v_id, v_now, v_posting, l ->> 'contra', v_amount, v_currency);
    else
      v_category := l ->> 'category';
      update balance
      set
        available = available + case
          when v_category = 'available' then v_amount
          else 0
        end,
        fee_advance = fee_advance + case
          when v_category = 'fee_advance' then v_amount
          else 0
        end,
        payout_processing = payout_processing + case
          when v_category = 'payout_processing' then v_amount
          else 0
        end,
        pending = pending + case
          when v_category = 'pending' then v_amount
          else 0
        end,
        processing = processing + case
          when v_category = 'processing' then v_amount
          else 0
        end,
        version = version + 1,
        latest = greatest(latest, v_now),
        late = late or coalesce(latest > v_now, false)
      where tenant_id = p_tenant and livemode = p_live and account_id = v_account and currency = v_currency
      returning
        version,
        latest,
        context_id,
        on_root_list,
        case
          when v_category = 'available' then available
          when v_category = 'fee_advance' then fee_advance
          when v_category = 'payout_processing' then payout_processing
          when v_category = 'pending' then pending
          else processing
        end
      into strict v_version, v_latest, v_acting_account, v_root, v_after;
      if
        v_after < 0
        and v_amount < 0
        and v_category = 'available'
        and p_kind not in ('dispute', 'reversal', 'transfer_back')
      then
        perform refuse(402, 'balance_insufficient', null);
      end if;
      v_id := new_id('bt');
      insert into entry
        (
          tenant_id,
          livemode,
          id,
          created,
          posting_id,
          account_id,
          amount,
          currency,
          category,
          payment_id,
          balance_after,
          version,
          context_id,
          on_root_list
        )
      values
        (
          p_tenant,
          p_live,
          v_id,
          v_now,
          v_posting,
          v_account,
          v_amount,
          v_currency,
          v_category,
          p_payment,
          v_after,
          v_version,
          v_acting_account,
          v_root
        );
      if v_latest > v_now then
        perform insert_late_entry(p_tenant, p_live, v_account, v_currency, v_version, v_latest);
      end if;
    end if;
  end loop;
  return v_posting;
end;
$$;

-- The smallest amount of a currency, in the hundredths in which amounts are stored: 100 for a currency without a minor
-- unit. Source: ISO 4217.
create or replace function least_amount(p_currency text)
returns bigint
language plpgsql
immutable
as $$
begin
  return case
    when p_currency = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,UYI,VND,VUV}')
    or p_currency = any ('{XAF,XAG,XAU,XBA,XBB,XBC,XBD,XDR,XOF,XPD,XPF,XPT,XSU,XUA}') then 100
    else 1
  end;
end;
$$;
