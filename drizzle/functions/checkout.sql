-- Checkouts and the attempts to pay them. An attempt begins by a form of the hosted page, and is decided by the
-- acquirer, by a test helper or by its own expiry. A success credits once: whoever credits has locked the balances,
-- then the checkout.

-- Checkouts as they are now. One whose time is over reads as expired before any worker has come by; `now` is the
-- tenant's.
create or replace view checkout_now as
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
      and c.expires_at <= n.now then 'expired'
      else c.status
    end as status,
    c.effective_transaction_id,
    c.effective_transaction_status,
    c.deposit_id,
    c.metadata,
    c.context_id,
    c.on_root_list,
    c.version,
    n.now
  -- The clock is looked up row by row: joined, it would cost every list the order of its index.
  from
    checkout c,
    lateral (
      select
        extract(epoch from clock_timestamp())::bigint + coalesce(
          (
            select t.offset_seconds
            from test_clock t
            where t.tenant_id = c.tenant_id and t.livemode = c.livemode and not c.livemode
          ),
          0
        ) as now
    ) n;

-- The address of a partner that funds come to through checkouts: made with its first checkout. In live mode the
-- acquirer has yet to give it a name.
create or replace function checkout_address(p_tenant text, p_live boolean, p_call jsonb, p_partner account)
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
    p_call,
    p_partner,
    'service_checkout',
    'vpa',
    'INR',
    p_name => p_partner.business_details ->> 'legalName',
    p_vpa =>
      case
        when not p_live then jsonb_build_object(
          'id',
          'checkout.' || right(p_partner.id, 12) || '@sandbox',
          'upi',
          jsonb_build_object('onetime', 'enabled', 'recurring', 'disabled')
        )
      end
  );
  return v.id;
end;
$$;

create or replace function create_checkout(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
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
begin
  -- The partner's row is locked, so that two first checkouts make one address.
  select a.*
  into v_from
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'fromAccountId'
  for no key update;
  select a.*
  into v_to
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'toAccountId';
  -- What was judged before the rows were locked is judged again: the partner, and after it the receivables in the order
  -- of their ids.
  if v_from.status in ('hold', 'deactivated') or (p_live and v_from.status <> 'activated') then
    perform refuse(
      400,
      'status_invalid',
      'checkout.from.account_id',
      'The status of the partner does not allow it to pay.'
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
      'The receivable is not open.'
    );
  end if;
  if (v_args ->> 'amount')::bigint > r.reconcilable then
    perform refuse(
      402,
      'amount_exceeds_reconcilable',
      'checkout.amount',
      'is more than what the receivables can still take'
    );
  end if;
  v_address := checkout_address(p_tenant, p_live, p_call, v_from);
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
      array(select jsonb_array_elements_text(v_args -> 'paymentMethods')),
      array(select jsonb_array_elements_text(v_args -> 'receivableIds')),
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
  perform emit_event(p_tenant, p_live, p_call, 'checkout.created', 'checkout', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;

-- Ends a checkout that nobody has paid: cancelled by its user, or expired. Attempts under way may still succeed, and
-- are credited all the same.
create or replace function end_checkout(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
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
  -- What the sandbox will say after the expiry comes after this one.
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
  perform emit_event(p_tenant, p_live, p_call, 'checkout.' || v_to, 'checkout', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end;
$$;

-- An attempt's time ends with its checkout's at the latest, or a code would be shown as good when nothing can be paid
-- any more; a test helper's may come after both.
create or replace function insert_transaction(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_checkout checkout,
  p_key text,
  p_method text,
  p_details jsonb,
  p_seconds bigint
)
returns transaction
language plpgsql
as $$
declare
  v transaction;
  v_id text := new_id('transaction');
  v_now bigint := clock(p_tenant, p_live);
  v_end bigint := greatest(v_now, least(v_now + p_seconds, p_checkout.expires_at));
begin
  insert into transaction
    (
      tenant_id,
      livemode,
      id,
      created,
      checkout_id,
      attempt_key,
      expires_at,
      payment_method,
      payment_method_details,
      amount,
      currency,
      status,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      p_checkout.id,
      p_key,
      v_end,
      p_method,
      nullif(p_details, 'null'),
      p_checkout.gross_amount,
      p_checkout.currency,
      'processing',
      p_checkout.context_id,
      p_checkout.on_root_list
    )
  returning *
  into v;
  perform enqueue(p_tenant, p_live, 'expire_transaction', v_id, v_end - v_now);
  perform emit_event(p_tenant, p_live, p_call, 'transaction.created', 'transaction', to_jsonb(v));
  return v;
end;
$$;

-- Begins an attempt. The same form again is the same attempt. While one is with the acquirer there is no other: a payer
-- is not let to pay twice by mistake; a code that nobody may ever scan hinders nothing.
create or replace function begin_transaction(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('checkoutId text, attemptKey text, paymentMethod text, details? object null, seconds int')
  );
  c checkout;
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
  v_method text := case v_args ->> 'paymentMethod'
    when 'card' then 'cards'
    else 'upi'
  end;
begin
  select x.*
  into c
  from checkout x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'checkoutId'
  for update;
  if c.status <> 'initialized' or c.expires_at <= v_now then
    perform refuse(400, 'status_invalid', 'checkout.status');
  end if;
  select t.*
  into v
  from transaction t
  where
    t.tenant_id = p_tenant
    and t.livemode = p_live
    and t.checkout_id = c.id
    and t.attempt_key = v_args ->> 'attemptKey';
  if found then
    -- Under the same name another attempt, or one that has gone on meanwhile, is not begun again.
    if
      v.status <> 'processing'
      or v.expires_at <= v_now
      or v.payment_method <> v_args ->> 'paymentMethod'
      or v.payment_method_details is distinct from nullif(v_args -> 'details', 'null')
    then
      perform refuse(409, 'state_conflict', 'checkout.effective_transaction', 'The attempt has already progressed.');
    end if;
    return next v;
    return;
  end if;
  if not v_method = any (c.payment_methods) then
    perform refuse(400, 'parameter_invalid', 'checkout.payment_methods', 'do not include this method');
  end if;
  if
    exists (
      select
      from transaction t
      where
        t.tenant_id = p_tenant
        and t.livemode = p_live
        and t.checkout_id = c.id
        and t.status = 'processing'
        and t.payment_method_details is not null
        and t.expires_at > v_now
    )
  then
    perform refuse(
      409,
      'state_conflict',
      'checkout.effective_transaction',
      'A payment of this checkout is being confirmed.'
    );
  end if;
  -- Whoever tries one card after the other is no payer. The page has the same number, and tells it beforehand.
  if
    (
      select count(*) from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.checkout_id = c.id
    ) >= 30
  then
    perform refuse(
      429,
      'rate_limit_exceeded',
      'checkout.id',
      'The checkout has had too many attempts; create another.'
    );
  end if;
  v := insert_transaction(
    p_tenant,
    p_live,
    p_call,
    c,
    v_args ->> 'attemptKey',
    v_args ->> 'paymentMethod',
    v_args -> 'details',
    (v_args ->> 'seconds')::bigint
  );
  -- From here on the acquirer may have it, so until it is decided somebody asks: an answer that was lost comes yet.
  perform enqueue(p_tenant, p_live, 'inquire_transaction', v.id, 5);
  return next v;
end;
$$;

-- What the acquirer says of an attempt, at once or, in the sandbox, after a while. Args: id, status, reasonCode,
-- details, and `afterSeconds` or `afterExpiry` of the checkout. Said again it changes nothing, and one code is paid by
-- one payer: what is said about other details than those that were submitted concerns no attempt of ours. A success is
-- the exception, because the payer has been charged: it counts whatever it came with and after the attempt's time, too,
-- and what does not fit is kept for the operator (`mismatch`). `processing` notes that the acquirer has it, or is about
-- to.
create or replace function decide_transaction(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, details? object null, status text, reasonCode? text null, afterSeconds? int,
        afterExpiry? boolean'
    )
  );
  v transaction;
  c checkout;
  v_now bigint := clock(p_tenant, p_live);
  v_open boolean;
  v_fits boolean;
  v_paid boolean;
  v_queued text;
  v_told jsonb := nullif(v_args -> 'details', 'null');
  v_status text := v_args ->> 'status';
begin
  select t.*
  into v
  from transaction t
  where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v_args ->> 'id'
  for update;
  v_open := v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired' and v_status <> 'failed');
  if v_open and v.payment_method_details is null and v_told is not null then
    update transaction t
    set
      payment_method_details = v_told,
      version = t.version + 1
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
    perform emit_event(p_tenant, p_live, p_call, 'transaction.submitted', 'transaction', to_jsonb(v));
  end if;
  v_fits := v_told is null or v_told = v.payment_method_details;
  v_queued := (
    select j.args ->> 'status'
    from job j
    where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'settle_transaction' and j.subject_id = v.id
    order by j.id
    limit 1
  );
  -- A checkout is credited once: the success of another attempt is for the acquirer to refund.
  v_paid := exists (
    select
    from checkout x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.checkout_id and x.deposit_id is not null
  );
  if
    v_status = 'succeeded'
    and v.mismatch is null
    and (not v_fits or v_queued = 'failed' or (v.status = 'failed' and v.reason_code not in ('expired', 'duplicate')))
  then
    update transaction t
    set
      version = t.version + 1,
      mismatch = jsonb_build_object(
        'credited',
        v.status = 'succeeded' or (v_open and v_queued is distinct from 'failed' and not v_paid),
        'details',
        v_told,
        'created',
        v_now::text
      )
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
    perform emit_event(p_tenant, p_live, p_call, 'transaction.mismatched', 'transaction', to_jsonb(v));
  end if;
  if v_open and v_queued is null and (v_fits or v_status = 'succeeded') then
    if v_status <> 'processing' then
      select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.checkout_id;
      perform enqueue(
        p_tenant,
        p_live,
        'settle_transaction',
        v.id,
        case
          when (v_args ->> 'afterExpiry')::boolean then c.expires_at - v_now + 1
          else coalesce((v_args ->> 'afterSeconds')::bigint, 0)
        end,
        jsonb_build_object('status', v_status, 'reasonCode', v_args ->> 'reasonCode')
      );
      delete from job j
      where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id;
    elseif
      not exists (
        select
        from job j
        where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id
      )
    then
      perform enqueue(p_tenant, p_live, 'inquire_transaction', v.id, 5);
    end if;
  end if;
  return next v;
end;
$$;

-- The attempts that the acquirer is to be asked about now. Each is asked about again after a pause that grows, to half
-- a minute within its time and to an hour after it; the job stays until there is an answer, so whoever dies meanwhile
-- has lost none. It waits for no lock: what another process has claimed is left to it.
create or replace function claim_inquiries(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('limit int'));
  j job;
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
  v_wall bigint := wall_clock();
begin
  for j in
    select x.*
    from job x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.kind = 'inquire_transaction' and x.due <= v_wall
    order by x.due, x.id
    limit (v_args ->> 'limit')::int
    for update skip locked
  loop
    select t.* into v from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.id = j.subject_id;
    if v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired') then
      update job x
      set
        attempts = x.attempts + 1,
        due = v_wall + case
          when v.expires_at > v_now then least(v.expires_at - v_now + 5, 30, greatest(5, (v_now - v.created) / 2))
          else least(3600, greatest(60, v_now - v.expires_at))
        end
      where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
      return next v;
    else
      delete from job x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = j.id;
    end if;
  end loop;
end;
$$;

-- The answer to a question, recorded like any other. Without a status the acquirer has never had the attempt, which
-- after its time is for good; what it is still working on then, and a failure of somebody else's payment under this
-- attempt, are asked about for another day. A question is dropped when its answer has been recorded, and never before.
-- Args as of a decision.
create or replace function answer_inquiry(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof transaction
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, details? object null, status? text, reasonCode? text, afterSeconds? int,
        afterExpiry? boolean'
    )
  );
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
  v_status text := v_args ->> 'status';
  v_patience bigint := case
    when v_status is null then 0
    else 86400
  end;
  v_recorded boolean := false;
begin
  if v_status in ('succeeded', 'failed') then
    -- No request of anybody's has caused it.
    select t.* into v from decide_transaction(p_tenant, p_live, p_call - 'requestId', v_args) t;
    v_recorded := v.status <> 'processing'
    or exists (
      select
      from job j
      where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'settle_transaction' and j.subject_id = v.id
    );
  else
    select t.*
    into v
    from transaction t
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v_args ->> 'id';
  end if;
  if v_recorded or v.expires_at + v_patience <= v_now then
    delete from job j
    where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'inquire_transaction' and j.subject_id = v.id;
  end if;
  return next v;
end;
$$;

-- The end of an attempt. What has failed because its time was over may still succeed, since the money has really come;
-- every other end is for good, and told again it changes nothing.
create or replace function settle_transaction(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_id text,
  p_status text,
  p_reason text
)
returns checkout
language plpgsql
as $$
declare
  v transaction;
  c checkout;
begin
  select t.* into v from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.id = p_id;
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v.checkout_id;
  if p_status = 'succeeded' then
    perform lock_balances(
      p_tenant,
      p_live,
      jsonb_build_array(
        jsonb_build_object('account', c.to_account_id, 'currency', c.currency),
        jsonb_build_object('account', transfer_target(p_tenant, p_live, c.to_account_id), 'currency', c.currency)
      )
    );
  end if;
  -- Read again under their locks: another attempt may have succeeded meanwhile.
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id for update;
  select t.* into v from transaction t where t.tenant_id = p_tenant and t.livemode = p_live and t.id = p_id for update;
  if v.status = 'processing' and p_status = 'failed' then
    update transaction t
    set
      status = 'failed',
      reason_code = p_reason,
      version = t.version + 1
    where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
    returning *
    into v;
    perform emit_event(p_tenant, p_live, p_call, 'transaction.failed', 'transaction', to_jsonb(v));
    if c.deposit_id is null then
      update checkout x
      set
        effective_transaction_id = v.id,
        effective_transaction_status = 'failed',
        version = x.version + 1
      where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id
      returning *
      into c;
      perform emit_event(p_tenant, p_live, p_call, 'checkout.updated', 'checkout', to_jsonb(c));
    end if;
  elseif
    p_status = 'succeeded'
    and (v.status = 'processing' or (v.status = 'failed' and v.reason_code = 'expired'))
  then
    c := credit_checkout(p_tenant, p_live, p_call, c, v);
  end if;
  return c;
end;
$$;

-- The money of a successful attempt. The first is credited, and locks the receivables in their order as far as they
-- take it; any other becomes a failed deposit and posts nothing, since the acquirer refunds it.
create or replace function credit_checkout(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_checkout checkout,
  p_transaction transaction
)
returns checkout
language plpgsql
as $$
declare
  c checkout := p_checkout;
  v transaction := p_transaction;
  d deposit;
  r receivable;
  v_from account;
  v_to account;
  v_first boolean := p_checkout.deposit_id is null;
  v_id text := new_id('deposit');
  v_now bigint := clock(p_tenant, p_live);
  v_address text;
  v_payment text;
  v_receivable text;
  v_share bigint;
  v_rest bigint := p_checkout.amount;
begin
  select a.* into v_to from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = c.to_account_id;
  select a.*
  into v_from
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = c.from_account_id
  for no key update;
  v_address := payment_address(p_tenant, p_live, p_call, v_from, v.payment_method, c.currency);
  v_payment := insert_payment(
    p_tenant,
    p_live,
    v_to,
    'checkout',
    c.amount,
    c.currency,
    case
      when v_first then 'processing'
      else 'failed'
    end,
    v_id
  );
  update payment p set checkout_id = c.id where p.tenant_id = p_tenant and p.livemode = p_live and p.id = v_payment;
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
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      c.amount,
      c.currency,
      v_from.id,
      v_address,
      v_to.id,
      c.to_address_id,
      v.payment_method,
      v.payment_method_details,
      case
        when not v_first then 'duplicate'
      end,
      c.id,
      case
        when v_first then 'processing'
        else 'failed'
      end,
      v_payment,
      c.context_id,
      c.on_root_list
    )
  returning *
  into d;
  update transaction t
  set
    status = case
      when v_first then 'succeeded'
      else 'failed'
    end,
    reason_code = case
      when not v_first then 'duplicate'
    end,
    payment_id = v_payment,
    deposit_id = v_id,
    version = t.version + 1
  where t.tenant_id = p_tenant and t.livemode = p_live and t.id = v.id
  returning *
  into v;
  perform emit_event(p_tenant, p_live, p_call, 'transaction.' || v.status, 'transaction', to_jsonb(v));
  if not v_first then
    perform emit_event(p_tenant, p_live, p_call, 'deposit.failed', 'deposit', to_jsonb(d));
    return c;
  end if;
  -- One whose time is over is late, whether or not a worker has said so yet.
  if c.status = 'initialized' and c.expires_at <= v_now then
    select e.*
    into c
    from end_checkout(p_tenant, p_live, p_call - 'key', jsonb_build_object('id', c.id, 'to', 'expired')) e;
  end if;
  update checkout x
  set
    status = case
      when x.status = 'initialized' then 'completed'
      else x.status
    end,
    effective_transaction_id = v.id,
    effective_transaction_status = 'succeeded',
    deposit_id = v_id,
    version = x.version + 1
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id
  returning *
  into c;
  perform move_deposit(
    p_tenant,
    p_live,
    p_call - 'key',
    jsonb_build_object('id', v_id, 'from', jsonb_build_array('processing'), 'to', 'completed')
  );
  select y.* into d from deposit y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_id;
  -- All of them in the order of their ids first: two that lock the same ones in two orders would wait for each other.
  perform
  from receivable y
  where y.tenant_id = p_tenant and y.livemode = p_live and y.id = any (c.receivable_ids)
  order by y.id
  for no key update;
  foreach v_receivable in array c.receivable_ids loop
    exit when v_rest = 0;
    select y.* into r from receivable y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_receivable;
    v_share := least(v_rest, r.amount_reconcilable);
    continue when v_share <= 0;
    perform lock_receivable(p_tenant, p_live, p_call, d, r.id, v_share, 'deposit.receivables');
    v_rest := v_rest - v_share;
  end loop;
  if v_rest < c.amount then
    d := make_available(p_tenant, p_live, p_call, v_id, c.amount - v_rest);
    perform emit_event(p_tenant, p_live, p_call, 'deposit.reconciled', 'deposit', to_jsonb(d));
  end if;
  perform emit_event(
    p_tenant,
    p_live,
    p_call,
    case
      when c.status = 'completed' then 'checkout.completed'
      else 'checkout.late_payment'
    end,
    'checkout',
    to_jsonb(c)
  );
  return c;
end;
$$;

-- Test helper: an attempt that is decided at once. Whatever state a checkout is in, money may come: a second time, or
-- late.
create or replace function pay_test_checkout(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof checkout
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, status text, reasonCode text null, paymentMethod text, details object, seconds int')
  );
  c checkout;
  v transaction;
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  if v_args ->> 'status' = 'succeeded' then
    perform lock_balances(
      p_tenant,
      p_live,
      jsonb_build_array(
        jsonb_build_object('account', c.to_account_id, 'currency', c.currency),
        jsonb_build_object('account', transfer_target(p_tenant, p_live, c.to_account_id), 'currency', c.currency)
      )
    );
  end if;
  select x.* into c from checkout x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = c.id for update;
  if v_args ->> 'status' = 'failed' and (c.status <> 'initialized' or c.expires_at <= v_now) then
    perform refuse(400, 'status_invalid', 'checkout.status');
  end if;
  -- There is no form, so each call is an attempt of its own; one that is sent anew after a lost answer is undone by
  -- `store_idempotent_response`.
  v := insert_transaction(
    p_tenant,
    p_live,
    p_call,
    c,
    new_id('test'),
    v_args ->> 'paymentMethod',
    v_args -> 'details',
    (v_args ->> 'seconds')::bigint
  );
  c := settle_transaction(p_tenant, p_live, p_call, v.id, v_args ->> 'status', v_args ->> 'reasonCode');
  perform store_idempotent_response(p_tenant, p_live, p_call, to_jsonb(c));
  return next c;
end;
$$;

-- Where the money of a deposit comes from: a bank, or the acquirer with what is kept of it as a fee.
create or replace function source_legs(p_tenant text, p_live boolean, p_deposit deposit)
returns jsonb
language plpgsql
stable
as $$
declare
  c checkout;
begin
  select x.*
  into c
  from
    payment p
    join checkout x on x.tenant_id = p_tenant and x.livemode = p_live and x.id = p.checkout_id
  where p.tenant_id = p_tenant and p.livemode = p_live and p.id = p_deposit.payment_id;
  if c.id is null then
    return jsonb_build_array(contra_leg('bank', p_deposit.currency, -p_deposit.amount));
  end if;
  return jsonb_build_array(
    contra_leg('acquirer', c.currency, -c.gross_amount),
    contra_leg('fees', c.currency, c.gross_amount - c.amount)
  );
end;
$$;

drop function if exists insert_transaction(text, boolean, jsonb, checkout, jsonb);
