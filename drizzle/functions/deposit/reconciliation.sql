-- Reconciliation: counts deposits towards receivables, whose locks grow.
--
-- Longer than 60 lines: reconcile_shares (all steps in the order of their locks).

-- Adds to the locked and settled amounts of a receivable, and emits its event.
create or replace function change_receivable(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_id text,
  p_locked bigint,
  p_settled bigint
)
returns void
language plpgsql
as $$
declare
  v receivable;
  v_now bigint := clock(p_tenant, p_live);
begin
  update receivable r
  set
    amount_locked = r.amount_locked + p_locked,
    amount_settled_payouts = r.amount_settled_payouts + p_settled,
    version = r.version + 1,
    updated_at = greatest(r.updated_at, v_now),
    deposit_ids_amount_locked = array(
      select distinct k.deposit_id
      from receivable_lock k
      where k.tenant_id = p_tenant and k.livemode = p_live and k.receivable_id = p_id and not k.settled and k.amount > 0
      order by 1
    )
    where r.tenant_id = p_tenant and r.livemode = p_live and r.id = p_id
  returning *
  into strict v;
  perform emit_event(p_tenant, p_live, p_envelope, 'receivable.updated', 'receivable', to_jsonb(v));
end;
$$;

-- Counts a completed deposit towards receivables: pending money of the deposit's account becomes available to the
-- receivables' owner, and their locks grow by the same amount. Arguments: id, receivables [{id, amount}, …].
create or replace function reconcile_deposit(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, receivables object[] {id text, amount bigint}'));
  d deposit;
begin
  d := reconcile_shares(p_tenant, p_live, p_envelope, v_args ->> 'id', v_args -> 'receivables', null);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(d));
  return next d;
end;
$$;

-- The steps of a reconciliation, by its shares [{id, amount}, …]. The event has the reasons of a match that nobody has
-- asked for. Returns the deposit as it became.
create or replace function reconcile_shares(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_id text,
  p_shares jsonb,
  p_reasons jsonb
)
returns deposit
language plpgsql
as $$
declare
  d deposit;
  x record;
  v_allocations jsonb := '[]';
begin
  select y.* into d from deposit y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = p_id;
  perform lock_money_of(p_tenant, p_live, d);
  select y.* into d from deposit y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = d.id for update;
  if d.status <> 'completed' or d.amount < 0 then
    perform refuse(400, 'status_invalid', 'deposit.status');
  end if;
  perform lock_receivables(p_tenant, p_live, array(select s ->> 'id' from jsonb_array_elements(p_shares) s));
  -- Refuse void receivables before adding up amounts: an error of a status comes before an error of an amount.
  if
    exists (
      select
      from receivable r
      where
        r.tenant_id = p_tenant
        and r.livemode = p_live
        and r.voided
        and r.id in (select s ->> 'id' from jsonb_array_elements(p_shares) s)
    )
  then
    perform refuse(400, 'status_invalid', 'deposit.receivables', 'must not include a receivable that is void');
  end if;
  perform refuse_shares(p_tenant, p_live, d, p_shares);
  -- In the order of the arguments: when money is taken back later, the newest lock is freed first.
  for x in
    select r ->> 'id' as id, sum((r ->> 'amount')::bigint)::bigint as amount
    from jsonb_array_elements(p_shares) with ordinality s (r, n)
    group by 1
    order by min(n)
  loop
    perform lock_receivable(p_tenant, p_live, p_envelope, d, x.id, x.amount, 'deposit.receivables');
    v_allocations := v_allocations || jsonb_build_object('receivable_id', x.id, 'amount', x.amount::text);
  end loop;
  d := make_available(
    p_tenant,
    p_live,
    p_envelope,
    d.id,
    (select sum((r ->> 'amount')::bigint)::bigint from jsonb_array_elements(p_shares) r)
  );
  perform emit_event(
    p_tenant,
    p_live,
    p_envelope,
    'deposit.reconciled',
    'deposit',
    to_jsonb(d) || jsonb_strip_nulls(jsonb_build_object('allocations', v_allocations, 'match_reasons', p_reasons))
  );
  return d;
end;
$$;

-- Refuses shares that are too large. The problems name each share with which a limit is passed: what its receivable can
-- still take, or the rest of the deposit. They do not name the shares before it, which are within the limit, or those
-- after it.
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
          when s.beyond_receivable then 'must be at most what the receivable can still take'
          else 'must be at most what is still pending of the deposit'
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
begin
  perform lock_balances(p_tenant, p_live, money_keys_of(p_tenant, p_live, p_deposit));
end;
$$;

-- The keys of those balances, as lock_balances takes them: two, where there are no more, are locked without a query.
create or replace function money_keys_of(p_tenant text, p_live boolean, p_deposit deposit)
returns jsonb
language plpgsql
stable
as $$
declare
  v_receiver text := receiver_of(p_tenant, p_live, p_deposit.to_account_id);
  v_target text := transfer_target(p_tenant, p_live, v_receiver);
  v_paid jsonb := jsonb_build_object('account', p_deposit.to_account_id, 'currency', p_deposit.currency);
begin
  if v_receiver = p_deposit.to_account_id and v_target is null then
    return jsonb_build_array(v_paid);
  end if;
  return jsonb_build_array(
    v_paid,
    jsonb_build_object('account', coalesce(v_target, v_receiver), 'currency', p_deposit.currency)
  ) || case
    when v_target is not null
    and v_receiver <> p_deposit.to_account_id then jsonb_build_object(
      'account',
      v_receiver,
      'currency',
      p_deposit.currency
    )
    else '[]'
  end;
end;
$$;

-- Moves reconciled money from pending to its receiver's available funds, and from there to the aggregator or into the
-- next payout.
create or replace function make_available(p_tenant text, p_live boolean, p_envelope jsonb, p_id text, p_amount bigint)
returns deposit
language plpgsql
as $$
declare
  d deposit;
  v_receiver text;
  v_now bigint := clock(p_tenant, p_live);
begin
  update deposit y
  set
    pending_rest = y.pending_rest - p_amount,
    version = y.version + 1,
    updated_at = greatest(y.updated_at, v_now)
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
  perform sweep_to_platform(p_tenant, p_live, p_envelope, v_receiver, d.currency);
  return d;
end;
$$;
