-- Checkouts and the attempts to pay them. An attempt begins with a form of the hosted page, and is decided by the
-- acquirer, by a test helper or by its own expiry. Only one success is credited: the function that credits it has
-- locked the balances, then the checkout.
--
-- Longer than 60 lines: create_checkout (checks under locks and one insert with its columns).

-- Drop the view and create it again, because a replaced view accepts new columns only at its end: when the table gets a
-- column, `now` would no longer be the last one.
drop view if exists checkout_now;

-- Checkouts as they are now. A checkout whose time is over reads as expired even before a worker has expired it; `now`
-- is the time of the tenant's clock.
create view checkout_now as
  select
    c.tenant_id,
    c.livemode,
    c.id,
    c.created,
    c.expires_at,
    c.amount,
    c.gross_amount,
    c.currency,
    c.from_account_id,
    c.to_account_id,
    c.to_address_id,
    c.payment_methods,
    c.receivable_ids,
    c.redirect_url,
    case
      when c.status = 'initialized'
      and c.expires_at <= floor(extract(epoch from statement_timestamp()))::bigint + coalesce(
        t.offset_seconds,
        0
      ) then 'expired'
      else c.status
    end as status,
    c.effective_transaction_id,
    c.effective_transaction_status,
    c.deposit_id,
    c.metadata,
    c.opened_at,
    c.last_tried_at,
    c.context_id,
    c.on_root_list,
    c.version,
    c.updated_at,
    c.status as stored_status,
    floor(extract(epoch from statement_timestamp()))::bigint + coalesce(t.offset_seconds, 0) as now
  -- Only test mode has a clock. With clock_timestamp(), which is volatile, or with a comparison of the modes of both
  -- tables, lists would be sorted in place of using the order of their index. A correlated query in place of the join
  -- would be one statement for each shard of a distributed database.
  from
    checkout c
    left join test_clock t on t.tenant_id = c.tenant_id and not t.livemode and not c.livemode;

-- Returns the address of a partner that receives the funds from checkouts; the partner's first checkout creates it. In
-- live mode the acquirer assigns its VPA before its first code.
create or replace function checkout_address(p_tenant text, p_live boolean, p_envelope jsonb, p_partner account)
returns text
language plpgsql
as $$
declare
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
    and d.category = 'service_checkout'
    and d.status = 'activated'
  order by d.created desc, d.id desc
  limit 1;
  if v_id is not null then
    return v_id;
  end if;
  v := insert_address(
    p_tenant,
    p_live,
    p_envelope,
    p_partner,
    'service_checkout',
    'vpa',
    edition_currency(p_partner.edition),
    p_name => p_partner.business_details ->> 'legalName',
    p_vpa =>
      case
        when not p_live then vpa_of('checkout.' || right(p_partner.id, 12) || '@sandbox')
      end
  );
  return v.id;
end;
$$;

create or replace function create_checkout(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof checkout
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'amount bigint, grossAmount bigint, currency text, fromAccountId text, toAccountId text,
        paymentMethods text[], receivableIds text[], redirectUrl text, metadata? object null, seconds int'
    )
  );
  v checkout;
  v_from account;
  v_to account;
  r record;
  v_id text := new_id('checkout');
  v_link text;
  v_now bigint := clock(p_tenant, p_live);
  v_seconds bigint := (v_args ->> 'seconds')::bigint;
  v_address text;
  v_methods text[] := array(select jsonb_array_elements_text(v_args -> 'paymentMethods'));
  v_receivables text[] := array(select jsonb_array_elements_text(v_args -> 'receivableIds'));
begin
  -- Lock the partner's row, so that two concurrent first checkouts create only one address.
  select a.*
  into v_from
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'fromAccountId'
  for no key update;
  select a.*
  into v_to
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'toAccountId';
  -- The caller's checks ran before the rows were locked, so repeat them: for the partner, and then for the receivables
  -- in the order of their ids.
  if v_from.status in ('hold', 'deactivated') or (p_live and v_from.status <> 'activated') then
    perform refuse(
      400,
      'status_invalid',
      'checkout.from.account_id',
      'A partner in this status cannot pay. Name another partner, or read the account to see its status.'
    );
  end if;
  perform
  from receivable x
  where
    x.tenant_id = p_tenant
    and x.livemode = p_live
    and x.id in (select jsonb_array_elements_text(v_args -> 'receivableIds'))
  order by x.id
  for share;
  select min(i.n) filter (where x.status <> 'open') as closed, sum(x.amount_reconcilable) as reconcilable
  into r
  from
    jsonb_array_elements_text(v_args -> 'receivableIds') with ordinality i (id, n)
    join receivable x on x.tenant_id = p_tenant and x.livemode = p_live and x.id = i.id;
  if r.closed is not null then
    perform refuse(
      400,
      'status_invalid',
      format('checkout.receivables[%s].id', r.closed - 1),
      'This receivable is not open, so it cannot be paid. Leave it out, or name one that is open.'
    );
  end if;
  if (v_args ->> 'amount')::bigint > r.reconcilable then
    perform refuse(
      402,
      'amount_exceeds_reconcilable',
      'checkout.amount',
      'is more than the receivables can still take. Send a smaller amount, or name further receivables.'
    );
  end if;
  v_address := checkout_address(p_tenant, p_live, p_envelope, v_from);
  insert into checkout
    (
      tenant_id,
      livemode,
      id,
      created,
      expires_at,
      amount,
      gross_amount,
      currency,
      from_account_id,
      to_account_id,
      to_address_id,
      payment_methods,
      receivable_ids,
      redirect_url,
      status,
      metadata,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      v_now + v_seconds,
      (v_args ->> 'amount')::bigint,
      (v_args ->> 'grossAmount')::bigint,
      v_args ->> 'currency',
      v_from.id,
      v_to.id,
      v_address,
      v_methods,
      v_receivables,
      v_args ->> 'redirectUrl',
      'initialized',
      merge_metadata(null, v_args -> 'metadata', 'checkout.metadata'),
      v_to.context_id,
      v_to.on_root_list or v_from.on_root_list
    )
  returning *
  into v;
  -- In the order of their ids, as a payment locks them: the foreign key of a link locks its receivable too.
  for r in select x.id, x.position from unnest(v.receivable_ids) with ordinality x (id, position) order by x.id loop
    v_link := new_id('link');
    insert into checkout_receivable (tenant_id, livemode, id, created, checkout_id, receivable_id, position)
    values (p_tenant, p_live, v_link, v_now, v_id, r.id, r.position);
  end loop;
  perform enqueue(p_tenant, p_live, 'expire_checkout', v_id, v_seconds);
  perform emit_event(p_tenant, p_live, p_envelope, 'checkout.created', 'checkout', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Ends an unpaid checkout: its user has cancelled it, or it has expired. Attempts under way may still succeed, and are
-- credited then.
create or replace function end_checkout(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof checkout
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, to text'));
  v checkout;
  v_to text := v_args ->> 'to';
  v_now bigint := clock(p_tenant, p_live);
  v_wall bigint := wall_clock();
begin
  update checkout c
  set
    status = v_to,
    version = c.version + 1,
    updated_at = greatest(c.updated_at, v_now),
    expires_at = case
      when v_to = 'expired' then least(c.expires_at, v_now)
      else c.expires_at
    end
  where
    c.tenant_id = p_tenant
    and c.livemode = p_live
    and c.id = v_args ->> 'id'
    and c.status = 'initialized'
    and (v_to = 'expired' or c.expires_at > v_now)
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'checkout.status');
  end if;
  -- Outcomes that the sandbox still has to report become due just after the expiry.
  if v_to = 'expired' then
    update job j
    set due = v_wall + 1
    where
      j.tenant_id = p_tenant
      and j.livemode = p_live
      and j.kind = 'settle_transaction'
      and j.due > v_wall + 1
      and j.subject_id in (
        select t.id from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.checkout_id = v.id
      );
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'checkout.' || v_to, 'checkout', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Expires a checkout whose time is over.
create or replace function job_expire_checkout(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  if
    exists (
      select
      from checkout c
      where c.tenant_id = p_tenant and c.livemode = p_live and c.id = p_job.subject_id and c.status = 'initialized'
    )
  then
    perform end_checkout(p_tenant, p_live, '{}', jsonb_build_object('id', p_job.subject_id, 'to', 'expired'));
  end if;
end;
$$;
