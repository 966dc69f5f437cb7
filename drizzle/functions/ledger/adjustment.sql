-- Adjustments: postings by the operator between an account and the outside world, or between two currencies of an
-- account. One operator proposes one, and another one decides about it.
--
-- Longer than 60 lines: decide_adjustment (a refusal for each of its rules, and its repetition).

-- Stores a proposal, which moves nothing. The account sees an adjustment once it is approved.
-- Without an event: the account does not see proposals.
create or replace function propose_adjustment(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof adjustment
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'accountId text, credit? object {amount bigint, currency text} null,
        debit? object {amount bigint, currency text} null, reason text, proposedBy text, proposedById? text null'
    )
  );
  v adjustment := new_adjustment(p_tenant, p_live, v_args);
begin
  insert into adjustment select x.* from unnest(array[v]) x;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- The row of a new proposal. Refuses one for an account whose money is another account's: a partner's is its user's,
-- and that of a user of an aggregator goes to the platform.
create or replace function new_adjustment(p_tenant text, p_live boolean, p_args jsonb)
returns adjustment
language plpgsql
as $$
declare
  a account;
  v adjustment;
  v_credit jsonb := p_args -> 'credit';
  v_debit jsonb := p_args -> 'debit';
  v_holder text;
begin
  select x.*
  into a
  from account x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_args ->> 'accountId';
  v_holder := paid_out_by(p_tenant, p_live, receiver_by_kind(a.kind, a.id, a.owner_id));
  if v_holder <> a.id then
    perform refuse(
      400,
      'parameter_invalid',
      'adjustment.account_id',
      'has no money of its own to pay out. Name the account that has it: ' || v_holder
    );
  end if;
  v.tenant_id := p_tenant;
  v.livemode := p_live;
  v.id := new_id('adjustment');
  v.created := clock(p_tenant, p_live);
  v.account_id := a.id;
  v.credit_amount := v_credit ->> 'amount';
  v.credit_currency := v_credit ->> 'currency';
  v.debit_amount := v_debit ->> 'amount';
  v.debit_currency := v_debit ->> 'currency';
  v.reason := p_args ->> 'reason';
  v.status := 'proposed';
  v.proposed_by := p_args ->> 'proposedBy';
  v.proposed_by_id := p_args ->> 'proposedById';
  v.context_id := a.context_id;
  v.on_root_list := a.on_root_list;
  return v;
end;
$$;

-- Approves or rejects a proposal, once. A named operator approves it, who is not the one that proposed it, and its
-- money moves at once. Of a proposal by OPERATOR_KEY or a command, the first named operator who approves it becomes the
-- one who proposes it, so that two are needed. Any operator rejects it, which also withdraws it.
create or replace function decide_adjustment(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof adjustment
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text, decidedBy text, decidedById? text null'));
  v_to text := v_args ->> 'to';
  v_by text := v_args ->> 'decidedById';
  v adjustment;
  v_now bigint := clock(p_tenant, p_live);
begin
  if v_to = 'approved' and v_by is not null then
    update adjustment x
    set
      proposed_by = v_args ->> 'decidedBy',
      proposed_by_id = v_by,
      adopted_at = v_now
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.id = v_args ->> 'id'
      and x.status = 'proposed'
      and x.proposed_by_id is null
    returning *
    into v;
    if found then
      perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
      return next v;
      return;
    end if;
  end if;
  select x.* into v from adjustment x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  perform lock_adjusted(p_tenant, p_live, v);
  select x.* into v from adjustment x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.id;
  -- The approval of an operator whose answer was lost: nothing more is done.
  if
    (v.status = v_to and v.decided_by_id = v_by)
    or (v.status = 'proposed' and v_to = 'approved' and v.adopted_at is not null and v.proposed_by_id = v_by)
  then
    perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
    return next v;
    return;
  end if;
  v_now := clock(p_tenant, p_live);
  if v_to = 'approved' and (v_by is null or v_by = v.proposed_by_id) then
    perform refuse(
      403,
      'permission_denied',
      null,
      'An operator with a name and a key of their own approves an adjustment, and not the one that proposed it.'
    );
  end if;
  update adjustment x
  set
    status = v_to,
    decided_by = v_args ->> 'decidedBy',
    decided_by_id = v_by,
    decided_at = greatest(v_now, x.created)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.id and x.status = 'proposed'
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'adjustment.status');
  end if;
  if v_to = 'approved' then
    v := book_adjustment(p_tenant, p_live, p_envelope, v);
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Adjusts a balance in test mode at once: the account plays both operators.
create or replace function create_test_adjustment(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof adjustment
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'accountId text, credit? object {amount bigint, currency text} null,
        debit? object {amount bigint, currency text} null, reason text'
    )
  );
  v adjustment := new_adjustment(p_tenant, p_live, v_args);
begin
  v.proposed_by := 'test helper';
  v.status := 'approved';
  v.decided_by := 'test helper';
  v.decided_at := v.created;
  perform lock_adjusted(p_tenant, p_live, v);
  v := book_adjustment(p_tenant, p_live, p_envelope, v);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Locks the balances that an adjustment changes.
create or replace function lock_adjusted(p_tenant text, p_live boolean, p_adjustment adjustment)
returns void
language plpgsql
as $$
declare
  j adjustment := p_adjustment;
begin
  perform lock_balances(
    p_tenant,
    p_live,
    jsonb_build_array(
      jsonb_build_object('account', j.account_id, 'currency', coalesce(j.credit_currency, j.debit_currency)),
      jsonb_build_object('account', j.account_id, 'currency', coalesce(j.debit_currency, j.credit_currency))
    )
  );
end;
$$;

-- The legs of an adjustment: to or from the outside world, or between two currencies against the exchange.
create or replace function legs_of_adjustment(p_adjustment adjustment)
returns jsonb
language plpgsql
immutable
as $$
declare
  j adjustment := p_adjustment;
  v_contra text := case
    when j.credit_currency is null
    or j.debit_currency is null then 'adjustment'
    else 'fx'
  end;
  v_legs jsonb := '[]';
begin
  if j.credit_currency is not null then
    v_legs := v_legs || jsonb_build_array(
      leg(j.account_id, 'available', j.credit_currency, j.credit_amount),
      contra_leg(v_contra, j.credit_currency, -j.credit_amount)
    );
  end if;
  if j.debit_currency is not null then
    v_legs := v_legs || jsonb_build_array(
      leg(j.account_id, 'available', j.debit_currency, -j.debit_amount),
      contra_leg(v_contra, j.debit_currency, j.debit_amount)
    );
  end if;
  return v_legs;
end;
$$;

-- Moves the money of an approved adjustment, and stores it with its payment. Available money never falls below zero by
-- it. Locks of receivables stay: what an invoice has been paid does not change.
create or replace function book_adjustment(p_tenant text, p_live boolean, p_envelope jsonb, p_adjustment adjustment)
returns adjustment
language plpgsql
as $$
declare
  v adjustment := p_adjustment;
  a account;
  p payment;
begin
  select x.* into a from account x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.account_id;
  v.payment_id := insert_payment(
    p_tenant,
    p_live,
    a,
    'adjustment',
    coalesce(v.credit_amount, -v.debit_amount),
    coalesce(v.credit_currency, v.debit_currency),
    'completed',
    null
  );
  insert into adjustment
  select x.*
  from unnest(array[v]) x
  on conflict (tenant_id, livemode, id) do update
    set payment_id = excluded.payment_id;
  perform post(p_tenant, p_live, 'adjustment', v.id, v.payment_id, legs_of_adjustment(v));
  select y.* into p from payment y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v.payment_id;
  perform emit_event(p_tenant, p_live, p_envelope, 'payment.completed', 'payment', to_jsonb(p));
  -- What could not be paid out may have gone, and what waited for a debt may go now.
  perform forget_payout_blocks(p_tenant, p_live, a.id);
  if
    exists (
      select
      from balance x
      where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = a.id and x.available > 0
    )
  then
    perform schedule_payout(p_tenant, p_live, a.id);
  end if;
  return v;
end;
$$;
