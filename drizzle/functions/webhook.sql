-- Webhook endpoints and the deliveries of events to them. The times of deliveries are wall-clock times.
--
-- Longer than 60 lines: create_webhook_endpoint (one insert with its columns); update_webhook_endpoint (one assignment
-- for each parameter); queue_deliveries (one insert with its columns); redeliver_webhooks (two ways to name events);
-- claim_webhook_deliveries (a row with all that an attempt needs); finish_deliveries (the states of deliveries and of
-- the endpoint in one place).

-- An endpoint for events and stored responses, without its encrypted secrets.
create or replace function without_secrets(p_row webhook_endpoint)
returns jsonb
language plpgsql
immutable
as $$
begin
  return to_jsonb(p_row) - array[
    'secret_sealed',
    'previous_secret_sealed',
    'previous_secret_until',
    'due',
    'claimed_until'
  ];
end;
$$;

-- Emits an event of an endpoint.
create or replace function emit_webhook_event(
  p_tenant text,
  p_live boolean,
  p_call jsonb,
  p_type text,
  p_row webhook_endpoint
)
returns text
language plpgsql
as $$
declare
  v_now bigint := clock(p_tenant, p_live);
begin
  return emit_event_at(p_tenant, p_live, p_call, p_type, 'webhook_endpoint', without_secrets(p_row), v_now);
end;
$$;

-- Refuses an account's seventeenth enabled endpoint. Writes of one account wait for each other here.
create or replace function check_webhook_limit(p_tenant text, p_live boolean, p_account text)
returns void
language plpgsql
as $$
declare
  n int;
begin
  perform from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account for no key update;
  select count(*)
  into n
  from webhook_endpoint w
  where w.tenant_id = p_tenant and w.livemode = p_live and w.account_id = p_account and w.enabled;
  if n >= 16 then
    perform refuse(
      400,
      'parameter_invalid',
      'webhook_endpoint.url',
      'An account has at most 16 enabled webhook endpoints. Disable one first.'
    );
  end if;
end;
$$;

create or replace function create_webhook_endpoint(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof webhook_endpoint
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, accountId text, url text, eventTypes text[], description text null, connected boolean,
        secretSealed text, query? text null, queryCost? int null'
    )
  );
  v webhook_endpoint;
  o account;
  v_types text[];
  v_now bigint := wall_clock();
begin
  perform check_webhook_limit(p_tenant, p_live, v_args ->> 'accountId');
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId';
  v_types := array(select jsonb_array_elements_text(v_args -> 'eventTypes'));
  insert into webhook_endpoint
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      url,
      event_types,
      description,
      connected,
      enabled,
      secret_sealed,
      query,
      query_cost,
      context_id,
      on_root_list,
      updated_at
    )
  values
    (
      p_tenant,
      p_live,
      v_args ->> 'id',
      v_now,
      o.id,
      v_args ->> 'url',
      v_types,
      v_args ->> 'description',
      (v_args ->> 'connected')::boolean,
      true,
      v_args ->> 'secretSealed',
      v_args ->> 'query',
      (v_args ->> 'queryCost')::int,
      o.context_id,
      o.on_root_list,
      v_now
    )
  on conflict (tenant_id, livemode, id) do nothing
  returning *
  into v;
  -- Each id is made once: it exists only if this same call was committed before and its response was lost.
  if not found then
    perform refuse(409, 'idempotency_key_in_use', null);
  end if;
  perform emit_webhook_event(p_tenant, p_live, p_call, 'webhook_endpoint.created', v);
  perform store_idempotent_response(p_tenant, p_live, p_call, without_secrets(v));
  return next v;
end;
$$;

create or replace function update_webhook_endpoint(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof webhook_endpoint
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, url? text, eventTypes? text[], description? text null, connected? boolean, enabled? boolean,
        query? text null, queryCost? int null'
    )
  );
  v_old webhook_endpoint;
  v webhook_endpoint;
  v_enabled boolean := (v_args ->> 'enabled')::boolean;
  v_due bigint;
  v_types text[] := array(select jsonb_array_elements_text(v_args -> 'eventTypes'));
  v_now bigint := wall_clock();
begin
  select w.*
  into v_old
  from webhook_endpoint w
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v_args ->> 'id'
  for no key update;
  if not found then
    perform refuse(404, 'resource_missing', 'webhook_endpoint.id');
  end if;
  if v_enabled and not v_old.enabled then
    perform check_webhook_limit(p_tenant, p_live, v_old.account_id);
    v_due := next_delivery(p_tenant, p_live, v_old.id);
  end if;
  update webhook_endpoint w
  set
    url = coalesce(v_args ->> 'url', w.url),
    event_types = case
      when v_args ? 'eventTypes' then v_types
      else w.event_types
    end,
    description = case
      when v_args ? 'description' then v_args ->> 'description'
      else w.description
    end,
    connected = coalesce((v_args ->> 'connected')::boolean, w.connected),
    query = case
      when v_args ? 'query' then v_args ->> 'query'
      else w.query
    end,
    query_cost = case
      when v_args ? 'query' then (v_args ->> 'queryCost')::int
      else w.query_cost
    end,
    enabled = coalesce(v_enabled, w.enabled),
    disabled_reason = case
      when v_enabled then null
      when not v_enabled then coalesce(w.disabled_reason, 'by_request')
      else w.disabled_reason
    end,
    failing_since = case
      when v_enabled
      and not w.enabled then null
      else w.failing_since
    end,
    due = case
      when v_enabled
      and not w.enabled then v_due
      else w.due
    end,
    updated_at = v_now
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v_old.id
  returning *
  into v;
  perform emit_webhook_event(p_tenant, p_live, p_call, 'webhook_endpoint.updated', v);
  perform store_idempotent_response(p_tenant, p_live, p_call, without_secrets(v));
  return next v;
end;
$$;

-- Gives an endpoint a new secret. The previous one signs as well for 24 hours.
create or replace function rotate_webhook_secret(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof webhook_endpoint
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, secretSealed text'));
  v webhook_endpoint;
  v_until bigint := wall_clock() + 86400;
  v_now bigint := wall_clock();
begin
  update webhook_endpoint w
  set
    previous_secret_sealed = w.secret_sealed,
    previous_secret_until = v_until,
    secret_sealed = v_args ->> 'secretSealed',
    updated_at = v_now
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v_args ->> 'id'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'webhook_endpoint.id');
  end if;
  perform emit_webhook_event(p_tenant, p_live, p_call, 'webhook_endpoint.secret_rotated', v);
  perform store_idempotent_response(p_tenant, p_live, p_call, without_secrets(v));
  return next v;
end;
$$;

-- Emits a test event and queues it for this endpoint, whatever its types are.
create or replace function test_webhook_endpoint(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof webhook_endpoint
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
  v webhook_endpoint;
  v_now bigint := wall_clock();
begin
  update webhook_endpoint w
  set due = least(w.due, v_now)
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v_args ->> 'id' and w.enabled
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'webhook_endpoint.id', 'is disabled; enable it first');
  end if;
  perform queue_delivery(
    p_tenant,
    p_live,
    v,
    emit_webhook_event(p_tenant, p_live, p_call, 'webhook_endpoint.tested', v),
    'webhook_endpoint.tested'
  );
  perform store_idempotent_response(p_tenant, p_live, p_call, without_secrets(v));
  return next v;
end;
$$;

-- Queues one event without a number for an endpoint.
create or replace function queue_delivery(
  p_tenant text,
  p_live boolean,
  p_endpoint webhook_endpoint,
  p_event text,
  p_type text
)
returns void
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
begin
  insert into webhook_delivery
    (
      tenant_id,
      livemode,
      id,
      created,
      endpoint_id,
      event_id,
      event_type,
      status,
      queued,
      next_attempt,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      new_id('delivery'),
      v_now,
      p_endpoint.id,
      p_event,
      p_type,
      'pending',
      v_now,
      v_now,
      p_endpoint.context_id,
      p_endpoint.on_root_list
    );
end;
$$;

-- Whether an endpoint gets an event: by its types, and because the event is on the list of its account. A platform's
-- endpoint gets the events of its connected users only by choice.
create or replace function endpoint_gets(p_endpoint webhook_endpoint, p_type text, p_context text, p_on_root boolean)
returns boolean
language plpgsql
immutable
as $$
begin
  return p_endpoint.event_types && array['*', p_type, split_part(p_type, '.', 1) || '.*']
  and (
    p_context = p_endpoint.account_id
    or (p_endpoint.account_id = 'account_' || p_endpoint.tenant_id and (p_on_root or p_endpoint.connected))
  );
end;
$$;

-- Queues numbered events for the enabled endpoints that get them, or for one endpoint. An event is queued once for an
-- endpoint. Returns how many were queued. It belongs to the statement that numbers the events, so that an endpoint gets
-- exactly the events that are numbered while it is enabled.
create or replace function queue_deliveries(
  p_tenant text,
  p_live boolean,
  p_events text[],
  p_endpoint text default null
)
returns int
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
  v_queued text[];
  v_ids text[];
  v_types text[];
  v_numbers bigint[];
  v_contexts text[];
  v_roots boolean[];
  v_known text[];
  v webhook_endpoint;
  n int;
  v_count int := 0;
begin
  if not exists (select from webhook_endpoint w where w.tenant_id = p_tenant and w.livemode = p_live and w.enabled) then
    return 0;
  end if;
  select
    array_agg(e.id order by e.number),
    array_agg(e.type order by e.number),
    array_agg(e.number order by e.number),
    array_agg(e.context_id order by e.number),
    array_agg(e.on_root_list order by e.number)
  into v_ids, v_types, v_numbers, v_contexts, v_roots
  from event e
  where e.tenant_id = p_tenant and e.livemode = p_live and e.id = any (p_events);
  for v in
    select x.*
    from webhook_endpoint x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.enabled and (p_endpoint is null or x.id = p_endpoint)
    order by x.id
  loop
    -- Where data is distributed, an insert counts the rows that conflict, too.
    v_known := array(
      select d.event_id
      from webhook_delivery d
      where d.tenant_id = p_tenant and d.livemode = p_live and d.endpoint_id = v.id and d.event_id = any (v_ids)
    );
    insert into webhook_delivery
      (
        tenant_id,
        livemode,
        id,
        created,
        endpoint_id,
        event_id,
        event_type,
        event_number,
        status,
        queued,
        next_attempt,
        context_id,
        on_root_list,
        updated_at
      )
    select
      p_tenant,
      p_live,
      new_id('delivery'),
      v_now,
      v.id,
      e.id,
      e.type,
      e.number,
      'pending',
      v_now,
      v_now,
      v.context_id,
      v.on_root_list,
      v_now
    from unnest(v_ids, v_types, v_numbers, v_contexts, v_roots) e (id, type, number, context, on_root)
    where e.id <> all (v_known) and endpoint_gets(v, e.type, e.context, e.on_root)
    order by e.number
    on conflict (tenant_id, livemode, endpoint_id, event_id) do nothing;
    /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
    if n > 0 then
      v_queued := v_queued || v.id;
      v_count := v_count + n;
    end if;
  end loop;
  if v_queued is null then
    return 0;
  end if;
  -- A worker that ends its claim meanwhile either sees the new deliveries, or has ended it before this lock.
  perform
  from webhook_endpoint w
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = any (v_queued)
  order by w.id
  for no key update;
  update webhook_endpoint w
  set due = v_now
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = any (v_queued) and (w.due is null or w.due > v_now);
  return v_count;
end;
$$;

-- When the next delivery of an endpoint is due; null when none is pending.
create or replace function next_delivery(p_tenant text, p_live boolean, p_endpoint text)
returns bigint
language plpgsql
as $$
begin
  return (
    select min(d.next_attempt)
    from webhook_delivery d
    where d.tenant_id = p_tenant and d.livemode = p_live and d.endpoint_id = p_endpoint and d.status = 'pending'
  );
end;
$$;

-- Sends one delivery again, or all events after a number that have not reached the endpoint.
-- Without an event: it sends events that exist, and deliveries are listed.
create or replace function redeliver_webhooks(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb)
returns setof webhook_endpoint
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, deliveryId text null, afterNumber int null'));
  v webhook_endpoint;
  v_now bigint := wall_clock();
  v_after bigint := (v_args ->> 'afterNumber')::bigint;
  v_events text[];
  v_due bigint;
begin
  select w.*
  into v
  from webhook_endpoint w
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v_args ->> 'id'
  for no key update;
  if not v.enabled then
    perform refuse(400, 'status_invalid', 'webhook_endpoint.id', 'is disabled; enable it first');
  end if;
  if v_after is not null then
    v_events := array(
      select e.id
      from event e
      where e.tenant_id = p_tenant and e.livemode = p_live and e.number > v_after
      order by e.number
      limit 5001
    );
    if cardinality(v_events) > 5000 then
      perform refuse(
        400,
        'parameter_invalid',
        'webhook_endpoint.after_number',
        'More than 5,000 events have a greater number. Give a later one.'
      );
    end if;
    perform queue_deliveries(p_tenant, p_live, v_events, v.id);
  end if;
  -- Deliveries of events without a number are no part of those since a number.
  update webhook_delivery d
  set
    status = 'pending',
    queued = v_now,
    attempt_count = 0,
    next_attempt = v_now,
    updated_at = v_now
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.endpoint_id = v.id
    and (d.id = v_args ->> 'deliveryId' or (d.event_number > v_after and d.status <> 'succeeded'))
    and not (d.status = 'pending' and d.next_attempt <= v_now);
  if
    v_after is null
    and not exists (
      select
      from webhook_delivery d
      where d.tenant_id = p_tenant and d.livemode = p_live and d.endpoint_id = v.id and d.id = v_args ->> 'deliveryId'
    )
  then
    perform refuse(404, 'resource_missing', 'webhook_endpoint.delivery_id');
  end if;
  v_due := next_delivery(p_tenant, p_live, v.id);
  update webhook_endpoint w
  set due = v_due
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v.id
  returning *
  into v;
  perform store_idempotent_response(p_tenant, p_live, p_call, without_secrets(v));
  return next v;
end;
$$;

-- How gateways from before queries claim an endpoint, during a deploy: as `claim_webhook_deliveries` does, but never an
-- endpoint with a query, because these gateways would send the event in place of the result.
-- Without an event: deliveries are listed; an event about each would cause further deliveries.
create or replace function claim_deliveries(p_tenant text, p_live boolean, p_endpoint text, p_limit int, p_seconds int)
returns table (
  delivery_id text,
  event jsonb,
  url text,
  secret_sealed text,
  previous_secret_sealed text,
  claimed_until bigint,
  claimed_at bigint
)
language plpgsql
as $$
begin
  if
    exists (
      select
      from webhook_endpoint w
      where w.tenant_id = p_tenant and w.livemode = p_live and w.id = p_endpoint and w.query is not null
    )
  then
    return;
  end if;
  return query select
      c.delivery_id,
      c.event,
      c.url,
      c.secret_sealed,
      c.previous_secret_sealed,
      c.claimed_until,
      c.claimed_at
    from claim_webhook_deliveries(p_tenant, p_live, p_endpoint, p_limit, p_seconds) c;
end;
$$;

-- Claims an endpoint for a worker and returns its deliveries that are due, the first ones first, with their events, and
-- the account whose events they are. No other worker claims the endpoint until the claim ends: by `finish_deliveries`,
-- or after `p_seconds`.
create or replace function claim_webhook_deliveries(
  p_tenant text,
  p_live boolean,
  p_endpoint text,
  p_limit int,
  p_seconds int
)
returns table (
  delivery_id text,
  event jsonb,
  url text,
  secret_sealed text,
  previous_secret_sealed text,
  claimed_until bigint,
  claimed_at bigint,
  query text,
  account_id text,
  account_kind text,
  account_edition int
)
language plpgsql
as $$
declare
  v webhook_endpoint;
  v_now bigint := wall_clock();
begin
  update webhook_endpoint w
  set claimed_until = v_now + p_seconds
  where
    w.tenant_id = p_tenant
    and w.livemode = p_live
    and w.id = p_endpoint
    and w.enabled
    and w.due <= v_now
    and coalesce(w.claimed_until, 0) <= v_now
  returning *
  into v;
  if not found then
    return;
  end if;
  return query select
      d.id,
      to_jsonb(e),
      v.url,
      v.secret_sealed,
      case
        when v.previous_secret_until > v_now then v.previous_secret_sealed
      end,
      v.claimed_until,
      v_now,
      v.query,
      a.id,
      a.kind,
      a.edition::int
    from
      (
        select *
        from webhook_delivery x
        where
          x.tenant_id = p_tenant
          and x.livemode = p_live
          and x.endpoint_id = p_endpoint
          and x.status = 'pending'
          and x.next_attempt <= v_now
        order by x.next_attempt, x.event_number
        limit p_limit
      ) d
      left join event e on e.tenant_id = p_tenant and e.livemode = p_live and e.id = d.event_id
      join account a on a.tenant_id = p_tenant and a.livemode = p_live and a.id = v.account_id
    order by d.next_attempt, d.event_number;
end;
$$;

-- Seconds until the attempt after `p_failed` failed ones: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, and then every 12 h, each
-- up to a tenth longer, so that the deliveries of one outage do not return at the same moment.
create or replace function webhook_pause(p_failed int)
returns bigint
language plpgsql
volatile
as $$
declare
  v_pauses int[] := array[5, 300, 1800, 7200, 18000, 36000];
begin
  return ceil(coalesce(v_pauses[p_failed], 43200) * (1 + random() / 10));
end;
$$;

-- Records the attempts of a claim and ends the claim. A failed delivery is tried again for three days. An endpoint that
-- answers 410, or fails for five days, is disabled. `p_results` has an object for each attempt.
create or replace function finish_deliveries(
  p_tenant text,
  p_live boolean,
  p_endpoint text,
  p_claimed_until bigint,
  p_results jsonb
)
returns text
language plpgsql
as $$
declare
  v webhook_endpoint;
  r record;
  v_now bigint := wall_clock();
  v_next bigint;
  v_status text;
  v_attempts jsonb;
  v_due bigint;
  v_reason text;
begin
  select w.*
  into v
  from webhook_endpoint w
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = p_endpoint
  for no key update;
  for r in
    select x.result, o.id, o.attempts, o.attempt_count, o.queued
    from
      jsonb_array_elements(p_results) x (result)
      join webhook_delivery o
        on o.tenant_id = p_tenant
        and o.livemode = p_live
        and o.endpoint_id = p_endpoint
        and o.id = x.result ->> 'delivery'
        and o.status = 'pending'
    order by o.id
  loop
    v_next := v_now + greatest(webhook_pause(r.attempt_count + 1), (r.result ->> 'retryAfter')::bigint);
    v_status := case
      when r.result -> 'attempt' ->> 'error' is null then 'succeeded'
      when r.result ->> 'final' = 'true'
      or v_next > r.queued + 3 * 86400 then 'failed'
      else 'pending'
    end;
    if v_status <> 'pending' then
      v_next := null;
    end if;
    v_attempts := (
      select jsonb_agg(a.attempt order by a.place)
      from
        jsonb_array_elements(jsonb_build_array(r.result -> 'attempt') || r.attempts) with ordinality a (attempt, place)
      where a.place <= 20
    );
    update webhook_delivery d
    set
      attempts = v_attempts,
      attempt_count = d.attempt_count + 1,
      status = v_status,
      next_attempt = v_next,
      updated_at = v_now
    where d.tenant_id = p_tenant and d.livemode = p_live and d.id = r.id and d.status = 'pending';
  end loop;
  -- The claim may have ended by its time, and another worker may have the endpoint now.
  v_reason := endpoint_fault(v, p_results, v_now);
  v_due := next_delivery(p_tenant, p_live, p_endpoint);
  update webhook_endpoint w
  set
    failing_since = case
      when p_results @? '$[*].attempt ? (@.error == null)' then null
      when p_results = '[]' then w.failing_since
      else coalesce(w.failing_since, v_now)
    end,
    enabled = w.enabled and v_reason is null,
    disabled_reason = case
      when w.enabled then v_reason
      else w.disabled_reason
    end,
    -- An endpoint that asks to wait stays claimed until then.
    claimed_until = case
      when w.claimed_until is distinct from p_claimed_until then w.claimed_until
      else v_now + (p_results -> -1 ->> 'retryAfter')::bigint
    end,
    due = v_due,
    updated_at = case
      when w.enabled
      and v_reason is not null then v_now
      when p_results <> '[]'
      and (w.failing_since is null) <> (p_results @? '$[*].attempt ? (@.error == null)') then v_now
      else w.updated_at
    end
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = p_endpoint
  returning *
  into v;
  if v_reason is not null then
    perform emit_webhook_event(p_tenant, p_live, '{}', 'webhook_endpoint.disabled', v);
  end if;
  return v_reason;
end;
$$;

-- Why an enabled endpoint has to be disabled after these attempts; null when it has not.
create or replace function endpoint_fault(p_endpoint webhook_endpoint, p_results jsonb, p_now bigint)
returns text
language plpgsql
immutable
as $$
begin
  return case
    when not p_endpoint.enabled then null
    when p_results @? '$[*].attempt ? (@.status == 410)' then 'gone'
    when p_results @? '$[*].attempt ? (@.error == null)' then null
    when p_endpoint.failing_since < p_now - 5 * 86400 then 'failing'
  end;
end;
$$;

-- Deletes deliveries that are older than 30 days and not pending, at most `p_limit`; returns how many.
-- Without an event: it deletes deliveries after their time.
create or replace function forget_old_deliveries(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  n int;
  v_now bigint := wall_clock();
begin
  delete from webhook_delivery d
  where
    d.tenant_id = p_tenant
    and d.livemode = p_live
    and d.id = any (
      array(
        select x.id
        from webhook_delivery x
        where
          x.tenant_id = p_tenant
          and x.livemode = p_live
          and x.created < v_now - 30 * 86400
          and x.status <> 'pending'
        order by x.created
        limit p_limit
      )
    );
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  return n;
end;
$$;
