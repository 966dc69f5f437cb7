-- The end of a refund: its money has left, or comes back.
--
-- Longer than 60 lines: move_refund (its refusals); lock_again (the shares, and what follows from them).

-- Ends a refund, once: success and failure share one cause. With `unsubmitted: true` it is refused if the worker has
-- submitted the refund to an acquirer, and the worker does not submit it any more: a claim and this one exclude each
-- other by the row of the job.
create or replace function move_refund(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof refund
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, to text, failureReason? text null, bankReference? text null, unsubmitted? boolean')
  );
  d deposit;
  r refund;
  v_to text := v_args ->> 'to';
  v_now bigint;
begin
  select x.* into r from refund x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.deposit_id;
  perform lock_money_of(p_tenant, p_live, d);
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id for update;
  v_now := clock(p_tenant, p_live);
  update refund x
  set
    status = v_to,
    failure_reason = case
      when v_to = 'failed' then v_args ->> 'failureReason'
    end,
    bank_reference = v_args ->> 'bankReference',
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.id and x.status = 'pending'
  returning *
  into r;
  if not found then
    perform refuse(400, 'status_invalid', 'refund.status');
  end if;
  if (v_args ->> 'unsubmitted')::boolean then
    delete from job x
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.kind = 'send_refund'
      and x.subject_id = r.id
      and x.attempts = 0;
    if
      exists (
        select
        from job x
        where x.tenant_id = p_tenant and x.livemode = p_live and x.kind = 'send_refund' and x.subject_id = r.id
      )
    then
      perform refuse(
        409,
        'state_conflict',
        'refund.status',
        'It was submitted to the acquirer. Record what that says with `--told-by-acquirer` (`toldByAcquirer`).'
      );
    end if;
  end if;
  if r.debited_account_id is null then
    perform end_duplicate_refund(p_tenant, p_live, r);
  elseif v_to = 'succeeded' then
    perform post(
      p_tenant,
      p_live,
      'refund_end',
      r.id,
      r.payment_id,
      jsonb_build_array(
        leg(r.account_id, 'processing', r.currency, -r.from_pending),
        leg(r.debited_account_id, 'processing', r.currency, r.from_pending - r.amount),
        contra_leg('refund', r.currency, r.amount)
      )
    );
  else
    perform return_refund(p_tenant, p_live, p_envelope, r, d);
    perform cover_beyond(p_tenant, p_live, p_envelope, r);
  end if;
  perform move_payment(p_tenant, p_live, r.payment_id, replace(v_to, 'succeeded', 'completed'));
  perform emit_event(p_tenant, p_live, p_envelope, 'refund.' || v_to, 'refund', to_jsonb(r) - 'freed_locks');
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(r) - 'freed_locks');
  return next r;
end;
$$;

-- Gives the money of a failed refund back. What was not reconciled is so again. What had been locked is reconciled with
-- the same receivables, as far as they can still take it: until then, and for the rest, it is not reconciled. What no
-- lock was freed for is available again. If the deposit has been reversed meanwhile, the reversal takes this part, too.
create or replace function return_refund(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_refund refund,
  p_deposit deposit
)
returns void
language plpgsql
as $$
declare
  r refund := p_refund;
  d deposit := p_deposit;
  v_category text := category_of(p_tenant, p_live, d);
  v_unlocked bigint;
  v_now bigint := clock(p_tenant, p_live);
begin
  -- The refund does not count any more, so this is how far the reconciled money exceeds the locks.
  v_unlocked := case
    when v_category = 'fee_advance' then 0
    else least(r.amount - r.from_pending, greatest(0, -overlocked_of(p_tenant, p_live, d.id) - r.from_pending))
  end;
  perform post(
    p_tenant,
    p_live,
    'refund_end',
    r.id,
    r.payment_id,
    jsonb_build_array(
      leg(r.account_id, 'processing', r.currency, -r.from_pending),
      leg(r.account_id, v_category, r.currency, r.from_pending + v_unlocked),
      leg(r.debited_account_id, 'processing', r.currency, r.from_pending - r.amount),
      leg(r.debited_account_id, 'available', r.currency, r.amount - r.from_pending - v_unlocked)
    )
  );
  update deposit x
  set
    pending_rest = x.pending_rest + case
      when v_category = 'pending' then r.from_pending + v_unlocked
      else 0
    end,
    version = x.version + 1,
    updated_at = greatest(x.updated_at, v_now)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id
  returning *
  into d;
  if d.status = 'reversed' then
    perform claw_back(p_tenant, p_live, p_envelope, d, r.amount, 'reversal', r.id, r.payment_id, v_category);
    return;
  end if;
  if r.amount - r.from_pending > v_unlocked then
    perform schedule_payout(p_tenant, p_live, r.debited_account_id);
  end if;
  perform lock_again(p_tenant, p_live, p_envelope, r, d, 0, v_unlocked);
end;
$$;

-- Reconciles a deposit with the receivables whose locks a failed refund had freed, from the position `p_from` of them
-- on: each for as much as was freed of it and it can still take, together at most `p_amount`. A job continues where
-- this call stops.
create or replace function lock_again(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_refund refund,
  p_deposit deposit,
  p_from int,
  p_amount bigint
)
returns void
language plpgsql
as $$
declare
  d deposit;
  v receivable;
  x record;
  v_share bigint;
  v_rest bigint := p_amount;
  v_allocations jsonb := '[]';
  v_freed jsonb := (
    select jsonb_agg(e.f order by e.n)
    from jsonb_array_elements(coalesce(p_refund.freed_locks, '[]')) with ordinality e (f, n)
    where e.n > p_from and e.n <= p_from + locks_per_call()
  );
begin
  if v_freed is null or p_amount <= 0 then
    return;
  end if;
  perform lock_receivables(p_tenant, p_live, array(select f ->> 'receivableId' from jsonb_array_elements(v_freed) f));
  for x in
    select e.f ->> 'receivableId' as id, (e.f ->> 'amount')::bigint as amount
    from jsonb_array_elements(v_freed) with ordinality e (f, n)
    order by e.n
  loop
    select y.* into v from receivable y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = x.id;
    v_share := least(
      x.amount,
      v_rest,
      case
        when v.voided then 0
        else v.amount_reconcilable
      end
    );
    continue when v_share <= 0;
    perform lock_receivable(p_tenant, p_live, p_envelope, p_deposit, x.id, v_share, 'deposit.receivables');
    v_allocations := v_allocations || jsonb_build_object('receivable_id', x.id, 'amount', v_share::text);
    v_rest := v_rest - v_share;
  end loop;
  if v_rest > 0 and jsonb_array_length(v_freed) = locks_per_call() then
    perform enqueue(
      p_tenant,
      p_live,
      'lock_again',
      p_refund.id,
      0,
      jsonb_build_object('from', p_from + locks_per_call(), 'amount', v_rest)
    );
  end if;
  if v_rest = p_amount then
    return;
  end if;
  d := make_available(p_tenant, p_live, p_envelope, p_deposit.id, p_amount - v_rest);
  perform emit_event(
    p_tenant,
    p_live,
    p_envelope,
    'deposit.reconciled',
    'deposit',
    to_jsonb(d) || jsonb_build_object('allocations', v_allocations)
  );
end;
$$;

-- Locks more receivables again, as far as the deposit still has the money.
create or replace function job_lock_again(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  d deposit;
  r refund;
begin
  select x.* into r from refund x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_job.subject_id;
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = r.deposit_id;
  perform lock_money_of(p_tenant, p_live, d);
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.id for update;
  perform lock_again(
    p_tenant,
    p_live,
    '{}',
    r,
    d,
    (p_job.args ->> 'from')::int,
    least((p_job.args ->> 'amount')::bigint, d.pending_rest)
  );
end;
$$;

-- The sandbox bank completes a refund, unless a client has ended it.
create or replace function job_settle_refund(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  if
    exists (
      select
      from refund r
      where r.tenant_id = p_tenant and r.livemode = p_live and r.id = p_job.subject_id and r.status = 'pending'
    )
  then
    perform move_refund(p_tenant, p_live, '{}', jsonb_build_object('id', p_job.subject_id, 'to', 'succeeded'));
  end if;
end;
$$;
