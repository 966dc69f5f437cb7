-- Which events are sent to which webhook endpoints: their deliveries, before the first attempt.
--
-- Longer than 60 lines: queue_deliveries (one insert with its columns); redeliver_webhooks (two ways to name events).

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
create or replace function endpoint_gets(
  p_endpoint webhook_endpoint,
  p_type text,
  p_acting_account text,
  p_on_root boolean
)
returns boolean
language plpgsql
immutable
as $$
begin
  return p_endpoint.event_types && array['*', p_type, split_part(p_type, '.', 1) || '.*']
  and (
    p_acting_account = p_endpoint.account_id
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
  v_acting_accounts text[];
  v_roots boolean[];
  v webhook_endpoint;
  n int;
  v_count int := 0;
  v_id text;
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
  into v_ids, v_types, v_numbers, v_acting_accounts, v_roots
  from event e
  where e.tenant_id = p_tenant and e.livemode = p_live and e.id = any (p_events);
  for v in
    select x.*
    from webhook_endpoint x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.enabled and (p_endpoint is null or x.id = p_endpoint)
    order by x.id
  loop
    n := 0;
    -- Counted one by one: on a cluster the count of the statement contains those that met a conflict.
    for v_id in
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
      from unnest(v_ids, v_types, v_numbers, v_acting_accounts, v_roots) e (id, type, number, acting_account, on_root)
      where endpoint_gets(v, e.type, e.acting_account, e.on_root)
      order by e.number
      on conflict (tenant_id, livemode, endpoint_id, event_id) do nothing
      returning id
    loop
      n := n + 1;
    end loop;
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

-- Makes the first pending deliveries of an endpoint due now, at most `p_limit`. The endpoint is locked.
create or replace function make_deliveries_due(p_tenant text, p_live boolean, p_endpoint text, p_limit int)
returns void
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
begin
  update webhook_delivery d
  set
    next_attempt = v_now,
    updated_at = greatest(d.updated_at, v_now)
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
          and x.endpoint_id = p_endpoint
          and x.status = 'pending'
          and x.next_attempt > v_now
        order by x.next_attempt, x.event_number
        limit p_limit
      )
    );
end;
$$;

-- Sends one delivery again, or all events after a number that have not reached the endpoint.
-- Without an event: it sends events that exist, and deliveries are listed.
create or replace function redeliver_webhooks(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
    updated_at = greatest(d.updated_at, v_now)
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
  perform store_idempotent_response(p_tenant, p_live, p_envelope, without_secrets(v));
  return next v;
end;
$$;
