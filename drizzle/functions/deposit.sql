-- Deposits: made, moved, reconciled, disputed. Each function locks the balances that it may change before anything
-- else.

-- The account that owns the receivables a deposit may be reconciled against: a user itself, or the owner of the partner
-- that holds it.
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
  return case
    when v_kind = 'partner' then v_owner
    else v_id
  end;
end;
$$;

-- The address that a partner pays from with a method: made with its first payment, found again afterwards, and reusable
-- for ACH debit (Spec: Address, is_reusable) since the partner has paid by it. Of a real one no more is known than what
-- kind it is.
create or replace function payment_address(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
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
        version = d.version + 1
      where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id and not d.is_reusable
      returning *
      into v;
      if found then
        perform emit_event(p_tenant, p_live, p_call, 'address.updated', 'address', to_jsonb(v));
      end if;
    end if;
    return v_id;
  end if;
  v := insert_address(
    p_tenant,
    p_live,
    p_call,
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
        and not p_live then jsonb_build_object(
          'id',
          'payer@sandbox',
          'upi',
          jsonb_build_object('onetime', 'enabled', 'recurring', 'disabled')
        )
      end,
    p_bank_account =>
      case
        when v_type = 'bank_account' then jsonb_build_object('bankName', null)
      end
  );
  return v.id;
end;
$$;

create or replace function create_deposit(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'toAccountId text, toAddressId text, fromAccountId text null, fromAddressId text null, amount bigint,
        currency text, paymentMethod text, statementDescriptor? text null,
        metadata? object null'
    )
  );
  v deposit;
  v_to account;
  v_from account;
  v_id text := new_id('deposit');
  v_now bigint;
  v_payment text;
  v_row jsonb;
  v_trace text;
  v_from_id text := v_args ->> 'fromAccountId';
  v_from_address text := v_args ->> 'fromAddressId';
begin
  select a.*
  into v_to
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'toAccountId';
  -- A payer is looked for only if there is one: for an id that is null PostgreSQL would make a new plan each time.
  if v_from_id is not null then
    -- No key update: a deposit the other way round, whose row refers to this account, must not wait for it.
    select a.*
    into v_from
    from account a
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_from_id
    for no key update;
    if v_from.kind = 'partner' and v_from_address is null then
      v_from_address := payment_address(
        p_tenant,
        p_live,
        p_call,
        v_from,
        v_args ->> 'paymentMethod',
        v_args ->> 'currency'
      );
    end if;
  end if;
  -- After the locks, and after what an address of the payer has told: events are numbered by their time.
  v_now := clock(p_tenant, p_live);
  v_payment := insert_payment_at(
    p_tenant,
    p_live,
    v_to,
    'deposit',
    (v_args ->> 'amount')::bigint,
    v_args ->> 'currency',
    'processing',
    v_id,
    v_now
  );
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
      statement_descriptor,
      status,
      metadata,
      payment_id,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      (v_args ->> 'amount')::bigint,
      v_args ->> 'currency',
      v_from.id,
      v_from_address,
      v_to.id,
      v_args ->> 'toAddressId',
      v_args ->> 'paymentMethod',
      coalesce(v_args ->> 'statementDescriptor', ''),
      'initialized',
      case
        when v_args ? 'metadata' then merge_metadata(null, v_args -> 'metadata', 'deposit.metadata')
      end,
      v_payment,
      v_to.context_id,
      v_to.on_root_list or coalesce(v_from.on_root_list, false)
    )
  returning *
  into v;
  v_row := to_jsonb(v);
  v_trace := enqueue_at(p_tenant, p_live, 'process_deposit', v_id, 0, '{}', v_now);
  v_trace := emit_event_at(p_tenant, p_live, p_call, 'deposit.initialized', 'deposit', v_row, v_now);
  perform store_idempotent_response(p_tenant, p_live, p_call, v_row);
  return next v;
end;
$$;

-- The compartment that a deposit arrives in: the fee advance of a platform by its own address, pending by every other.
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

-- Moves a deposit's status; completion is the one that posts, a reversal the one that takes all of it back.
create or replace function move_deposit(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, from text[], to text, reasonCode? text null'));
  v deposit;
  v_id text := v_args ->> 'id';
  v_to text := v_args ->> 'to';
  v_category text;
  v_from text[] := array(select jsonb_array_elements_text(v_args -> 'from'));
  v_row jsonb;
  v_trace text;
begin
  select d.* into v from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id;
  if v_to in ('completed', 'reversed') then
    perform lock_money_of(p_tenant, p_live, v);
  end if;
  -- Read again under its lock: whoever was faster has changed it.
  select d.* into v from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id for update;
  -- A helper may ask for the end of what has not begun: it goes through every state of its way.
  if v.status = 'initialized' and v_to in ('completed', 'failed') and 'initialized' = any (v_from) then
    update deposit d
    set
      status = 'processing',
      version = d.version + 1
    where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id and d.status = 'initialized'
    returning *
    into v;
    if found then
      v_trace := emit_event_at(
        p_tenant,
        p_live,
        p_call,
        'deposit.processing',
        'deposit',
        to_jsonb(v),
        clock(p_tenant, p_live)
      );
    end if;
  end if;
  v_category := category_of(p_tenant, p_live, v);
  update deposit d
  set
    status = v_to,
    version = d.version + 1,
    reason_code = coalesce(v_args ->> 'reasonCode', d.reason_code),
    pending_rest = case
      when v_to = 'completed'
      and v_category = 'pending' then d.amount
      else d.pending_rest
    end
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.id = v_id
    and d.status = any (v_from)
    and (v_to <> 'reversed' or d.amount > 0)
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'deposit.status');
  end if;
  if v_to = 'completed' then
    perform post(
      p_tenant,
      p_live,
      'deposit',
      v_id,
      v.payment_id,
      source_legs(p_tenant, p_live, v) || leg(v.to_account_id, v_category, v.currency, v.amount)
    );
    perform move_payment(p_tenant, p_live, v.payment_id, 'completed');
  elseif v_to = 'reversed' then
    perform claw_back(p_tenant, p_live, p_call, v, v.amount - v.disputed, 'reversal', v_id, v.payment_id, v_category);
    perform move_payment(p_tenant, p_live, v.payment_id, 'reversed');
    select d.* into v from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = v_id;
  elseif v_to in ('failed', 'cancelled') then
    perform move_payment(p_tenant, p_live, v.payment_id, v_to);
  end if;
  v_row := to_jsonb(v);
  v_trace := emit_event_at(p_tenant, p_live, p_call, 'deposit.' || v_to, 'deposit', v_row, clock(p_tenant, p_live));
  perform store_idempotent_response(p_tenant, p_live, p_call, v_row);
  return next v;
end;
$$;

-- Takes money of a deposit back: what is pending of it first, then the receiver's available funds, which alone may go
-- below zero by it. Unpaid locks of the deposit shrink by what came from the available funds; those in a payout stay
-- until it fails.
create or replace function claw_back(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_deposit deposit,
  p_amount bigint,
  p_kind text,
  p_cause text,
  p_payment text,
  p_category text
)
returns void
language plpgsql
as $$
declare
  v_pending bigint := least(p_deposit.pending_rest, p_amount);
  v_rest bigint;
  v_receiver text := receiver_of(p_tenant, p_live, p_deposit.to_account_id);
begin
  v_rest := case
    when p_category = 'fee_advance' then 0
    else p_amount - v_pending
  end;
  if p_amount <= 0 then
    return;
  end if;
  perform post(
    p_tenant,
    p_live,
    p_kind,
    p_cause,
    p_payment,
    jsonb_build_array(
      leg(
        p_deposit.to_account_id,
        p_category,
        p_deposit.currency,
        case
          when p_category = 'fee_advance' then -p_amount
          else -v_pending
        end
      ),
      leg(v_receiver, 'available', p_deposit.currency, -v_rest),
      contra_leg('dispute', p_deposit.currency, p_amount)
    )
  );
  update deposit d
  set
    pending_rest = d.pending_rest - v_pending,
    version = d.version + 1
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = p_deposit.id;
  -- Where nothing is available any more, nothing keeps it from being paid out.
  delete from payout_block k
  where
    k.tenant_id = p_tenant
    and k.livemode = p_live
    and k.account_id = v_receiver
    and k.currency = p_deposit.currency
    and exists (
      select
      from balance b
      where
        b.tenant_id = p_tenant
        and b.livemode = p_live
        and b.account_id = v_receiver
        and b.currency = p_deposit.currency
        and b.available <= 0
    );
  perform shrink_locks(p_tenant, p_live, p_call, p_deposit.id, v_rest);
end;
$$;

-- Takes so much off a deposit's locks, the newest first, and no more than there is of those that no payout has taken
-- along. The locks of a failed payout that are being freed count as free. Where the rest needs more locks than one call
-- shrinks, a job goes on: until then the receivables are locked for more than there is, and the account is not paid
-- out. With `p_from`, locks from that id on alone.
create or replace function shrink_locks(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_deposit text,
  p_amount bigint,
  p_from text default null
)
returns void
language plpgsql
as $$
declare
  v_locks receivable_lock[];
  l receivable_lock;
  v_rest bigint := p_amount;
  v_shrink bigint;
begin
  if v_rest <= 0 then
    return;
  end if;
  v_locks := array(
    select k
    from
      receivable_lock k
      join lock_batch b on b.tenant_id = p_tenant and b.livemode = p_live and b.id = k.batch_id
      left join payout y on y.tenant_id = p_tenant and y.livemode = p_live and y.id = b.payout_id
    where
      k.tenant_id = p_tenant
      and k.livemode = p_live
      and k.deposit_id = p_deposit
      and k.amount > 0
      and k.id >= coalesce(p_from, '')
      and (b.payout_id is null or y.status = 'failed')
    order by k.id desc
    limit locks_per_call()
  );
  -- In the order of their ids, as everybody locks receivables; the newest lock is shrunk first all the same.
  perform
  from receivable r
  where r.tenant_id = p_tenant and r.livemode = p_live and r.id in (select x.receivable_id from unnest(v_locks) x)
  order by r.id
  for no key update;
  foreach l in array v_locks loop
    exit when v_rest <= 0;
    v_shrink := least(l.amount, v_rest);
    update receivable_lock k
    set amount = k.amount - v_shrink
    where k.tenant_id = p_tenant and k.livemode = p_live and k.id = l.id;
    perform change_receivable(p_tenant, p_live, p_call, l.receivable_id, -v_shrink, 0);
    v_rest := v_rest - v_shrink;
  end loop;
  if v_rest > 0 and p_from is null and cardinality(v_locks) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'shrink_locks',
      paid_out_by(p_tenant, p_live, l.account_id),
      0,
      jsonb_build_object('deposit', p_deposit)
    );
  end if;
end;
$$;

-- What the locks of a deposit hold beyond what is counted of it.
create or replace function overlocked_of(p_tenant text, p_live boolean, p_deposit text)
returns bigint
language plpgsql
stable
as $$
declare
  d deposit;
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_deposit;
  return coalesce(
    (
      select sum(k.amount)
      from receivable_lock k
      where k.tenant_id = p_tenant and k.livemode = p_live and k.deposit_id = p_deposit
    ),
    0
  ) - reconciled_of(d);
end;
$$;

-- What of a deposit is counted towards receivables and has not been taken back.
create or replace function reconciled_of(p_deposit deposit)
returns bigint
language plpgsql
immutable
as $$
begin
  return case p_deposit.status
    when 'reversed' then 0
    else p_deposit.amount - p_deposit.disputed - p_deposit.pending_rest
  end;
end;
$$;

-- Adds to what is locked and settled of a receivable, and tells it.
create or replace function change_receivable(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_id text,
  p_locked bigint,
  p_settled bigint
)
returns void
language plpgsql
as $$
declare
  v receivable;
begin
  update receivable r
  set
    amount_locked = r.amount_locked + p_locked,
    amount_settled_payouts = r.amount_settled_payouts + p_settled,
    version = r.version + 1,
    deposit_ids_amount_locked = array(
      select distinct k.deposit_id
      from receivable_lock k
      where k.tenant_id = p_tenant and k.livemode = p_live and k.receivable_id = p_id and not k.settled and k.amount > 0
      order by 1
    )
    where r.tenant_id = p_tenant and r.livemode = p_live and r.id = p_id
  returning *
  into strict v;
  perform emit_event(p_tenant, p_live, p_call, 'receivable.updated', 'receivable', to_jsonb(v));
end;
$$;

-- A dispute: a deposit of its own with a negative amount, at most the undisputed rest of the original.
create or replace function dispute_deposit(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, reasonCode? text null, amount? bigint null'));
  d deposit;
  v deposit;
  v_to account;
  v_id text := new_id('deposit');
  v_now bigint := clock(p_tenant, p_live);
  v_amount bigint;
  v_payment text;
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  perform lock_money_of(p_tenant, p_live, d);
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id for update;
  if d.status <> 'completed' or d.amount < 0 then
    perform refuse(400, 'status_invalid', 'deposit.status');
  end if;
  v_amount := coalesce((v_args ->> 'amount')::bigint, d.amount - d.disputed);
  if v_amount <= 0 or v_amount > d.amount - d.disputed then
    perform refuse(402, 'amount_exceeds_deposit', 'deposit.amount');
  end if;
  select a.* into v_to from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = d.to_account_id;
  v_payment := insert_payment(p_tenant, p_live, v_to, 'dispute', -v_amount, d.currency, 'completed', v_id);
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
      payment_id,
      disputes_id,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      -v_amount,
      d.currency,
      d.from_account_id,
      d.from_address_id,
      d.to_account_id,
      d.to_address_id,
      d.payment_method,
      d.payment_method_details,
      coalesce(v_args ->> 'reasonCode', 'general'),
      d.statement_descriptor,
      'completed',
      v_payment,
      d.id,
      d.context_id,
      d.on_root_list
    )
  returning *
  into v;
  perform claw_back(
    p_tenant,
    p_live,
    p_call,
    d,
    v_amount,
    'dispute',
    v_id,
    v_payment,
    category_of(p_tenant, p_live, d)
  );
  update deposit x
  set
    disputed = x.disputed + v_amount,
    version = x.version + 1
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id
  returning *
  into d;
  perform emit_event(p_tenant, p_live, p_call, 'deposit.disputed', 'deposit', to_jsonb(d));
  perform emit_event(p_tenant, p_live, p_call, 'deposit.completed', 'deposit', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;

-- Counts a completed deposit towards receivables: pending money of whoever holds it becomes available to the
-- receivables' owner, and their locks grow by as much. Args: id, receivables [{id, amount}, …].
create or replace function reconcile_deposit(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, receivables object[]'));
  d deposit;
  x record;
begin
  select y.* into d from deposit y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_args ->> 'id';
  perform lock_money_of(p_tenant, p_live, d);
  select y.* into d from deposit y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = d.id for update;
  if d.status <> 'completed' or d.amount < 0 then
    perform refuse(400, 'status_invalid', 'deposit.status');
  end if;
  -- Rows in the order of their ids, whatever order they are given in: others lock them so, too.
  perform
  from receivable r
  where
    r.tenant_id = p_tenant
    and r.livemode = p_live
    and r.id in (select s ->> 'id' from jsonb_array_elements(v_args -> 'receivables') s)
  order by r.id
  for no key update;
  -- What is void is refused before anything is added up: a state comes before an amount.
  if
    exists (
      select
      from receivable r
      where
        r.tenant_id = p_tenant
        and r.livemode = p_live
        and r.voided
        and r.id in (select s ->> 'id' from jsonb_array_elements(v_args -> 'receivables') s)
    )
  then
    perform refuse(400, 'status_invalid', 'deposit.receivables', 'must not include a receivable that is void');
  end if;
  perform refuse_shares(p_tenant, p_live, d, v_args -> 'receivables');
  -- In the order given: what is taken back later frees the newest lock first.
  for x in
    select r ->> 'id' as id, sum((r ->> 'amount')::bigint)::bigint as amount
    from jsonb_array_elements(v_args -> 'receivables') with ordinality s (r, n)
    group by 1
    order by min(n)
  loop
    perform lock_receivable(p_tenant, p_live, p_call, d, x.id, x.amount, 'deposit.receivables');
  end loop;
  d := make_available(
    p_tenant,
    p_live,
    p_call,
    d.id,
    (select sum((r ->> 'amount')::bigint)::bigint from jsonb_array_elements(v_args -> 'receivables') r)
  );
  perform emit_event(p_tenant, p_live, p_call, 'deposit.reconciled', 'deposit', to_jsonb(d));
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(d));
  return next d;
end;
$$;

-- Refuses shares that are too much, by the amount of each with which a limit is passed: what its receivable can still
-- take, or the rest of the deposit. The shares before it are within the limit, and those after it are not to blame.
create or replace function refuse_shares(p_tenant text, p_live boolean, p_deposit deposit, p_shares jsonb)
returns void
language plpgsql
stable
as $$
declare
  v_problems jsonb;
begin
  select
    jsonb_agg(
      jsonb_build_object(
        'code',
        'amount_exceeds_reconcilable',
        'field',
        format('deposit.receivables[%s].amount', s.n - 1),
        'message',
        case
          when s.beyond_receivable then 'is more than the receivable can still take'
          else 'is more than what is still pending of the deposit'
        end
      )
      order by s.n
    )
  into v_problems
  from
    (
      select
        x.n,
        x.of_receivable > r.amount_reconcilable
        and x.of_receivable - x.amount <= r.amount_reconcilable as beyond_receivable,
        x.of_all > p_deposit.pending_rest and x.of_all - x.amount <= p_deposit.pending_rest as beyond_deposit
      from
        (
          select
            y.n,
            y.id,
            y.amount,
            sum(y.amount) over (
              partition by y.id
              order by y.n
            ) as of_receivable,
            sum(y.amount) over (order by y.n) as of_all
          from
            (
              select z.n, z.share ->> 'id' as id, (z.share ->> 'amount')::bigint as amount
              from jsonb_array_elements(p_shares) with ordinality z (share, n)
            ) y
        ) x
        join receivable r on r.tenant_id = p_tenant and r.livemode = p_live and r.id = x.id
    ) s
  where s.beyond_receivable or s.beyond_deposit;
  if v_problems is not null then
    raise exception using errcode = 'TG402', message = 'amount_exceeds_reconcilable', detail = v_problems::text;
  end if;
end;
$$;

-- Locks every balance that a deposit's money may move between.
create or replace function lock_money_of(p_tenant text, p_live boolean, p_deposit deposit)
returns void
language plpgsql
as $$
declare
  v_receiver text := receiver_of(p_tenant, p_live, p_deposit.to_account_id);
  v_target text := transfer_target(p_tenant, p_live, v_receiver);
  v_id text;
begin
  if v_receiver = p_deposit.to_account_id and v_target is null then
    v_id := lock_balance(p_tenant, p_live, v_receiver, p_deposit.currency);
    return;
  end if;
  perform lock_balances(
    p_tenant,
    p_live,
    jsonb_build_array(
      jsonb_build_object('account', p_deposit.to_account_id, 'currency', p_deposit.currency),
      jsonb_build_object('account', v_receiver, 'currency', p_deposit.currency),
      jsonb_build_object('account', v_target, 'currency', p_deposit.currency)
    )
  );
end;
$$;

-- One receivable's share of a deposit: refused beyond what it can still take.
create or replace function lock_receivable(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_deposit deposit,
  p_id text,
  p_amount bigint,
  p_field text
)
returns void
language plpgsql
as $$
declare
  r receivable;
  v_id text := new_id('lock');
  v_now bigint := clock(p_tenant, p_live);
begin
  select y.*
  into r
  from receivable y
  where y.tenant_id = p_tenant and y.livemode = p_live and y.id = p_id
  for no key update;
  if r.voided then
    perform refuse(400, 'status_invalid', p_field, 'must not include a receivable that is void');
  end if;
  if p_amount > r.amount_reconcilable then
    perform refuse(402, 'amount_exceeds_reconcilable', p_field);
  end if;
  insert into receivable_lock
    (tenant_id, livemode, id, created, receivable_id, deposit_id, account_id, currency, amount, batch_id)
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      r.id,
      p_deposit.id,
      r.account_id,
      r.currency,
      p_amount,
      open_lock_batch(p_tenant, p_live, paid_out_by(p_tenant, p_live, r.account_id), p_deposit.currency)
    );
  perform change_receivable(p_tenant, p_live, p_call, r.id, p_amount, 0);
end;
$$;

-- The open batch of an account's locks whose money is held in a currency, made where there is none. Payouts of the
-- account take it along; they and the callers have locked the account's balance in that currency.
create or replace function open_lock_batch(p_tenant text, p_live boolean, p_account text, p_currency text)
returns text
language plpgsql
as $$
declare
  v_id text;
  v_now bigint;
begin
  select b.id
  into v_id
  from lock_batch b
  where
    b.tenant_id = p_tenant
    and b.livemode = p_live
    and b.account_id = p_account
    and b.held_in = p_currency
    and b.payout_id is null
  order by b.id desc
  limit 1;
  if found then
    return v_id;
  end if;
  v_id := new_id('lock_batch');
  v_now := clock(p_tenant, p_live);
  insert into lock_batch (tenant_id, livemode, id, created, account_id, held_in)
  values (p_tenant, p_live, v_id, v_now, p_account, p_currency);
  return v_id;
end;
$$;

-- Moves reconciled money from pending to its receiver's available funds, and on from there.
create or replace function make_available(p_tenant text, p_live boolean, p_call jsonb, p_id text, p_amount bigint)
returns deposit
language plpgsql
as $$
declare
  d deposit;
  v_receiver text;
begin
  update deposit y
  set
    pending_rest = y.pending_rest - p_amount,
    version = y.version + 1
  where y.tenant_id = p_tenant and y.livemode = p_live and y.id = p_id and y.pending_rest >= p_amount
  returning *
  into d;
  if not found then
    perform refuse(
      402,
      'amount_exceeds_reconcilable',
      'deposit.receivables',
      'must add up to at most what is still pending of the deposit'
    );
  end if;
  v_receiver := receiver_of(p_tenant, p_live, d.to_account_id);
  perform post(
    p_tenant,
    p_live,
    'reconciliation',
    d.id || ':' || d.version,
    d.payment_id,
    jsonb_build_array(
      leg(d.to_account_id, 'pending', d.currency, -p_amount),
      leg(v_receiver, 'available', d.currency, p_amount)
    )
  );
  perform sweep_to_platform(p_tenant, p_live, p_call, v_receiver, d.currency);
  return d;
end;
$$;

drop function if exists take_back(text, boolean, jsonb, deposit, bigint, text, text, text, text);
