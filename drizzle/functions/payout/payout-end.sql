-- The end of a payout, and its effects on the receivables that it pays.
--
-- Longer than 60 lines: move_payout (one decision per status, and what all have in common); free_locks (the statements
-- that find the locks of a call, and the loops over their deposits).

-- Ends a payout, once: completion and failure share one cause. A completed payout may come back later, once as well: a
-- return has a posting of its own. The money and the status change at once. The locks follow: this statement handles
-- the first 500, which is all that nearly every payout has, and jobs handle the rest, because no statement may take
-- longer the more locks there are. Until then those receivables show what they showed while the payout was under way:
-- locked and not yet settled.
create or replace function move_payout(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof payout
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, to text, reasonCode? text null, bankReference? text null, orderId? text null')
  );
  y payout;
  v_to text := v_args ->> 'to';
  v_returned boolean := v_to = 'returned';
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.* into y from payout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  perform lock_all_balances(p_tenant, p_live, y.account_id);
  update payout x
  set
    status = v_to,
    reason_code = case
      when v_to <> 'completed' then coalesce(v_args ->> 'reasonCode', 'general')
    end,
    bank_reference = coalesce(v_args ->> 'bankReference', x.bank_reference),
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where
    x.tenant_id = p_tenant
    and x.livemode = p_live
    and x.id = y.id
    and x.status = case
      when v_returned then 'completed'
      else 'processing'
    end
    -- A payout that a bank may be told to pay ends by the answer to its order alone.
    and (v_returned or x.order_id is null or x.order_id = v_args ->> 'orderId')
  returning *
  into y;
  if not found then
    perform refuse(400, 'status_invalid', 'payout.status');
  end if;
  perform post(
    p_tenant,
    p_live,
    case
      when v_returned then 'payout_return'
      else 'payout_end'
    end,
    y.id,
    y.payment_id,
    jsonb_build_array(
      case
        when v_returned then contra_leg('payout_rail', y.currency, -y.amount)
        else leg(y.account_id, 'payout_processing', y.currency, -y.amount)
      end,
      case v_to
        when 'completed' then contra_leg('payout_rail', y.currency, y.amount)
        else leg(y.account_id, 'available', y.currency, y.amount)
      end
    )
  );
  perform move_payment(
    p_tenant,
    p_live,
    y.payment_id,
    case
      when v_returned then 'reversed'
      else v_to
    end
  );
  if v_to = 'completed' then
    perform settle_locks(p_tenant, p_live, p_envelope, y, null);
  else
    perform free_locks(p_tenant, p_live, p_envelope, y, null);
    perform schedule_payout(p_tenant, p_live, y.account_id, true);
  end if;
  perform enqueue(p_tenant, p_live, 'retire_address', y.address_id, 0);
  perform emit_event(p_tenant, p_live, p_envelope, 'payout.' || v_to, 'payout', to_jsonb(y));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(y));
  return next y;
end;
$$;

-- How many locks one call settles, frees or shrinks. These 500 take 0.1 to 0.8 s, depending on the load of the machine;
-- the balances of the account are locked meanwhile.
create or replace function locks_per_call()
returns int
language plpgsql
immutable
as $$
begin
  return 500;
end;
$$;

-- Marks locks as settled by their payout, or as open again, and moves their amounts on their receivables accordingly.
-- One call changes each receivable once and emits one event for it. Each row is found by its key: PostgreSQL could plan
-- one statement for all of them as a scan of all locks. The caller has locked the balances of the payout's account,
-- like every function that changes these receivables.
create or replace function mark_locks(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_locks receivable_lock[],
  p_settled boolean
)
returns void
language plpgsql
as $$
declare
  v_changed record;
  v_id text;
begin
  for v_changed in
    select l.receivable_id, sum(l.amount)::bigint as amount, array_agg(l.id) as ids
    from unnest(p_locks) l
    where l.settled <> p_settled and l.amount > 0
    group by 1
    order by 1
  loop
    foreach v_id in array v_changed.ids loop
      update receivable_lock k
      set settled = p_settled
      where k.tenant_id = p_tenant and k.livemode = p_live and k.id = v_id;
    end loop;
    perform change_receivable(
      p_tenant,
      p_live,
      p_envelope,
      v_changed.receivable_id,
      case
        when p_settled then -v_changed.amount
        else v_changed.amount
      end,
      case
        when p_settled then v_changed.amount
        else -v_changed.amount
      end
    );
  end loop;
end;
$$;

-- Settles the locks of a completed payout after the id `p_after`, in the order of their ids. A job continues where this
-- call stops. The caller has locked the balances of the payout's account.
create or replace function settle_locks(p_tenant text, p_live boolean, p_envelope jsonb, p_payout payout, p_after text)
returns void
language plpgsql
as $$
declare
  v_payout text := p_payout.id;
  v_after text := coalesce(p_after, '');
  v_ids text[];
  v_locks receivable_lock[];
begin
  -- The ids first: where data is distributed, a query inside a join has no complete rows of a table.
  v_ids := array(
    select x.id
    from
      lock_batch b
      cross join lateral (
        select k.id
        from receivable_lock k
        where k.tenant_id = p_tenant and k.livemode = p_live and k.batch_id = b.id and k.id > v_after
        order by k.id
        limit locks_per_call()
      ) x
    where b.tenant_id = p_tenant and b.livemode = p_live and b.payout_id = v_payout
    order by x.id
    limit locks_per_call()
  );
  v_locks := array(
    select k
    from receivable_lock k
    where k.tenant_id = p_tenant and k.livemode = p_live and k.id = any (v_ids)
    order by k.id
  );
  perform mark_locks(p_tenant, p_live, p_envelope, v_locks, true);
  if cardinality(v_locks) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'settle_locks',
      p_payout.account_id,
      0,
      jsonb_build_object('payout', p_payout.id, 'after', v_locks[cardinality(v_locks)].id)
    );
  end if;
end;
$$;

-- Frees the locks of a failed or returned payout, whose money is available again in the payout's currency. Those that
-- the payout had settled are locks again. Locks of deposits that were taken back meanwhile shrink first, the newest
-- first, however many calls this takes. When the last call has seen all locks, their batches are open again. Until then
-- the account is not paid out, because a payout must take along the locks whose money it pays.
create or replace function free_locks(p_tenant text, p_live boolean, p_envelope jsonb, p_payout payout, p_before text)
returns void
language plpgsql
as $$
declare
  v_payout text := p_payout.id;
  -- No id of a lock is greater.
  v_before text := coalesce(p_before, '~');
  v_ids text[];
  v_locks receivable_lock[];
  v_deposits text[];
  v_last text;
  v_id text;
begin
  v_ids := array(
    select x.id
    from
      lock_batch b
      cross join lateral (
        select k.id
        from receivable_lock k
        where k.tenant_id = p_tenant and k.livemode = p_live and k.batch_id = b.id and k.id < v_before
        order by k.id desc
        limit locks_per_call()
      ) x
    where b.tenant_id = p_tenant and b.livemode = p_live and b.payout_id = v_payout
    order by x.id desc
    limit locks_per_call()
  );
  v_locks := array(
    select k
    from receivable_lock k
    where k.tenant_id = p_tenant and k.livemode = p_live and k.id = any (v_ids)
    order by k.id desc
  );
  v_last := v_locks[cardinality(v_locks)].id;
  v_deposits := array(select distinct x.deposit_id from unnest(v_locks) x order by 1);
  v_ids := array(select x.receivable_id from unnest(v_locks) x where x.settled);
  foreach v_id in array v_deposits loop
    if overlocked_of(p_tenant, p_live, v_id) > 0 then
      v_ids := v_ids || array(select x.receivable_id from unnest(shrinkable_locks(p_tenant, p_live, v_id, v_last)) x);
    end if;
  end loop;
  perform lock_receivables(p_tenant, p_live, v_ids);
  perform mark_locks(p_tenant, p_live, p_envelope, v_locks, false);
  foreach v_id in array v_deposits loop
    perform shrink_locks(p_tenant, p_live, p_envelope, v_id, overlocked_of(p_tenant, p_live, v_id), v_last);
  end loop;
  if cardinality(v_locks) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'free_locks',
      p_payout.account_id,
      0,
      jsonb_build_object('payout', p_payout.id, 'before', v_last)
    );
  else
    update lock_batch b
    set
      payout_id = null,
      held_in = p_payout.currency
    where b.tenant_id = p_tenant and b.livemode = p_live and b.payout_id = p_payout.id;
  end if;
end;
$$;
