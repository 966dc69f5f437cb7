-- Events: their emission by the write that changes an object, their numbers, and their deletion.

-- Emits the event of a change, from the changed row.
create or replace function emit_event(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_type text,
  p_object text,
  p_row jsonb
)
returns void
language plpgsql
as $$
begin
  perform emit_event_at(p_tenant, p_live, p_envelope, p_type, p_object, p_row, clock(p_tenant, p_live));
end;
$$;

-- The same, with a time that the caller has already read: reading the clock costs a statement. Returns the event's id.
create or replace function emit_event_at(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_type text,
  p_object text,
  p_row jsonb,
  p_now bigint
)
returns text
language plpgsql
as $$
declare
  v_id text := new_id('event');
  v_data jsonb := event_data(p_row);
begin
  insert into event
    (tenant_id, livemode, id, created, type, object, object_id, data, request_id, context_id, on_root_list)
  values
    (
      p_tenant,
      p_live,
      v_id,
      p_now,
      p_type,
      p_object,
      p_row ->> 'id',
      v_data,
      p_envelope ->> 'requestId',
      p_row ->> 'context_id',
      (p_row ->> 'on_root_list')::boolean
    );
  return v_id;
end;
$$;

-- The part of a row that events contain. Secrets are removed, what the event has in columns of its own (the tenant, the
-- visibility and the time), and what a bank says of a payer, which no object of an event shows. Numbers become text,
-- because JSON numbers could not hold the largest amounts to the cent. The numbers that most rows have are listed by
-- name, which saves a statement; a query finds any others.
create or replace function event_data(p_row jsonb)
returns jsonb
language plpgsql
immutable
as $$
declare
  r jsonb := without_null_columns(
    p_row - array[
      'digest',
      'tenant_id',
      'context_id',
      'on_root_list',
      'updated_at',
      'bank_details'
    ] #- '{identification,taxCardSealed}'
  ) || jsonb_strip_nulls(
    jsonb_build_object(
      'created',
      p_row ->> 'created',
      'amount',
      p_row ->> 'amount',
      'pending_rest',
      p_row ->> 'pending_rest',
      'disputed',
      p_row ->> 'disputed',
      'version',
      p_row ->> 'version'
    )
  );
begin
  if jsonb_path_exists(r, '$.* ? (@.type() == "number")') then
    r := (
      select
        jsonb_object_agg(
          k,
          case
            when jsonb_typeof(v) = 'number' then to_jsonb(v #>> '{}')
            else v
          end
        )
      from jsonb_each(r) e (k, v)
    );
  end if;
  return r;
end;
$$;

-- Emits the event of an object that has no id of its own because a tenant has only one of it, such as its clock. The
-- event refers to the root account, and appears on its lists.
create or replace function emit_root_event(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_type text,
  p_object text,
  p_row jsonb
)
returns void
language plpgsql
as $$
declare
  v_root text := 'account_' || p_tenant;
begin
  perform emit_event(
    p_tenant,
    p_live,
    p_envelope,
    p_type,
    p_object,
    p_row || jsonb_build_object('id', v_root, 'context_id', v_root, 'on_root_list', true)
  );
end;
$$;

-- Numbers the events that have no number, densely and in the order in which they are found. Neither time nor a sequence
-- gives the order of commits, and readers see numbered events only, so a reader that follows the numbers misses none.
-- One process at a time numbers a tenant and mode; a process that finds the counter locked returns 0.
-- Without an event: it makes events visible.
create or replace function number_events(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  v_last bigint;
  v_ids text[];
  n int;
begin
  insert into event_counter (tenant_id, livemode, last)
  values (p_tenant, p_live, 0)
  on conflict (tenant_id, livemode) do nothing;
  select c.last
  into v_last
  from event_counter c
  where c.tenant_id = p_tenant and c.livemode = p_live
  for update skip locked;
  if not found then
    return 0;
  end if;
  v_ids := array(
    select e.id
    from event e
    where e.tenant_id = p_tenant and e.livemode = p_live and e.number is null
    order by e.created, e.id
    limit p_limit
  );
  n := cardinality(v_ids);
  -- One statement numbers all events and finds each by its key; PostgreSQL could plan a join as a scan of all events.
  update event e
  set number = v_last + array_position(v_ids, e.id)
  where e.tenant_id = p_tenant and e.livemode = p_live and e.id = any (v_ids);
  update event_counter c set last = v_last + n where c.tenant_id = p_tenant and c.livemode = p_live;
  perform queue_deliveries(p_tenant, p_live, v_ids);
  return n;
end;
$$;

-- Deletes the events with the lowest numbers that are older than `p_seconds`, at most `p_limit`; returns how many. It
-- stops before the first number that it keeps, so the remaining numbers are dense: a reader that knows a remaining
-- event misses none after it. Their age is that of their ids, whose time no test clock moves. An event is kept as long
-- as a webhook endpoint that is enabled has yet to get it.
-- Without an event: it deletes events after their time.
create or replace function delete_old_events(p_tenant text, p_live boolean, p_seconds bigint, p_limit int)
returns int
language plpgsql
as $$
declare
  n int;
  v_before text := 'event_' || lpad(to_hex((wall_clock() - p_seconds) * 1000000), 14, '0');
  v_last bigint;
begin
  select max(o.number)
  into v_last
  from
    (
      select
        x.number,
        bool_and(
          x.id < v_before
          and not exists (
            select
            from
              webhook_delivery d
              join webhook_endpoint w on w.tenant_id = p_tenant and w.livemode = p_live and w.id = d.endpoint_id
            where
              d.tenant_id = p_tenant
              and d.livemode = p_live
              and d.event_id = x.id
              and d.status = 'pending'
              and w.enabled
          )
        ) over (order by x.number) as old
      from
        (
          select e.number, e.id
          from event e
          where e.tenant_id = p_tenant and e.livemode = p_live and e.number is not null
          order by e.number
          limit p_limit
        ) x
    ) o
  where o.old;
  delete from event e where e.tenant_id = p_tenant and e.livemode = p_live and e.number <= v_last;
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  return n;
end;
$$;
