-- Deposits that are reconciled by themselves, where the account that receives them has that done: the jobs that match
-- them with their receivables.
--
-- Longer than 60 lines: job_match_deposits (two reads, each in the order of an index).

-- Whether what an account receives is reconciled by itself: the setting of the account that owns the receivables.
create or replace function auto_reconciles(p_tenant text, p_live boolean, p_to text)
returns boolean
language plpgsql
stable
as $$
declare
  v_receiver text := receiver_of(p_tenant, p_live, p_to);
begin
  return coalesce(
    (
      select s.auto_reconcile
      from account_setting s
      where s.tenant_id = p_tenant and s.livemode = p_live and s.account_id = v_receiver
    ),
    false
  );
end;
$$;

-- Reconciles a deposit with the receivable that is its one exact match, if the setting is still on. What it finds at
-- first tells what to lock; what it finds under the locks decides, so that nothing is reconciled that has changed
-- meanwhile. A refusal, as it has for each reconciliation, leaves the deposit as it is.
create or replace function job_match_deposit(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  d deposit;
  m record;
  v_receivable text;
begin
  select x.*
  into d
  from deposit x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_job.subject_id;
  if not auto_reconciles(p_tenant, p_live, d.to_account_id) then
    return;
  end if;
  select x.receivable_id
  into v_receivable
  from receivable_matches(p_tenant, p_live, array[d.id], null) x
  where x.exact;
  if v_receivable is null then
    return;
  end if;
  perform lock_reconciled(
    p_tenant,
    p_live,
    jsonb_build_array(
      jsonb_build_object('id', d.id, 'receivables', jsonb_build_array(jsonb_build_object('id', v_receivable)))
    )
  );
  select x.* into m from receivable_matches(p_tenant, p_live, array[d.id], null) x where x.exact;
  if m.receivable_id is distinct from v_receivable then
    return;
  end if;
  perform reconciliation_result(
    p_tenant,
    p_live,
    '{}',
    jsonb_build_object(
      'id',
      d.id,
      'receivables',
      jsonb_build_array(jsonb_build_object('id', v_receivable, 'amount', m.amount::text)),
      'problems',
      '[]'::jsonb,
      'matchReasons',
      array_remove(
        array[
          'reference',
          'amount',
          case
            when m.billed then 'payer'
          end
        ],
        null
      )
    )
  );
end;
$$;

-- After the setting was switched on, enqueues a job for each deposit of the account and its partners that waits,
-- oldest first, in batches. A job for a later change of the setting takes the place of one from before it.
-- Without an event: the deposits that are reconciled have their own events.
create or replace function job_match_deposits(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  k record;
  n int := 0;
  v_waiting constant text := p_job.subject_id || ' true';
  v_created bigint := coalesce((p_job.args ->> 'created')::bigint, 0);
  v_after text := coalesce(p_job.args ->> 'after', '');
begin
  -- Not in one condition: on a cluster a query over a table calls no function that reads another one.
  if not auto_reconciles(p_tenant, p_live, p_job.subject_id) then
    return;
  end if;
  if
    exists (
      select
      from job j
      where
        j.tenant_id = p_tenant
        and j.livemode = p_live
        and j.subject_id = p_job.subject_id
        and j.kind = p_job.kind
        and j.id > p_job.id
    )
  then
    return;
  end if;
  for k in
    select x.id, x.created
    from
      (
        (
          select d.id, d.created
          from deposit d
          where
            d.tenant_id = p_tenant
            and d.livemode = p_live
            and hashtextextended(
              d.to_account_id || ' ' || (
                case
                  when d.pending_rest > 0 then 'true'
                end
              ),
              0
            ) = hashtextextended(v_waiting, 0)
            and d.to_account_id = p_job.subject_id
            and (d.created, d.id) > (v_created, v_after)
          order by d.created, d.id
          limit 100
        )
        union all
        (
          select d.id, d.created
          from deposit d
          where
            d.tenant_id = p_tenant
            and d.livemode = p_live
            and d.context_id <> d.to_account_id
            and hashtextextended(
              d.context_id || ' ' || (
                case
                  when d.pending_rest > 0 then 'true'
                end
              ),
              0
            ) = hashtextextended(v_waiting, 0)
            and d.context_id = p_job.subject_id
            and (d.created, d.id) > (v_created, v_after)
          order by d.created, d.id
          limit 100
        )
      ) x
    order by x.created, x.id
    limit 100
  loop
    perform enqueue(p_tenant, p_live, 'match_deposit', k.id, 0);
    n := n + 1;
  end loop;
  if n = 100 then
    perform enqueue(
      p_tenant,
      p_live,
      p_job.kind,
      p_job.subject_id,
      0,
      jsonb_build_object('created', k.created, 'after', k.id)
    );
  end if;
end;
$$;
