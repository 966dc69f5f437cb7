-- The attempts to deliver events to webhook endpoints. Their times are wall-clock times.
--
-- Longer than 60 lines: claim_webhook_deliveries (a row with all that an attempt needs); finish_deliveries (the states
-- of deliveries and of the endpoint in one place).

-- Claims an endpoint for a worker and returns its deliveries that are due, the first ones first, with their events, and
-- the account whose events they are. No other worker claims the endpoint until the claim ends: by `finish_deliveries`,
-- or after `p_seconds`. A claim that is further ahead than an endpoint may ask to wait, an hour, has ended: the clock
-- was ahead when it was made.
-- Without an event: deliveries are listed; an event about each would cause further deliveries.
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
    and coalesce(w.claimed_until, 0) not between v_now + 1 and v_now + greatest(p_seconds, 3600)
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
-- answers 410, or fails for five days, is disabled. `p_results` has an object for each attempt. What the service could
-- not sign was not sent, which is not the receiver's failure: it is tried again until it can be signed.
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
  v_sent boolean := p_results @? '$[*] ? (!exists (@.unsigned))';
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
    v_next := v_now + case
      when r.result ? 'unsigned' then (r.result ->> 'retryAfter')::bigint
      else greatest(webhook_pause(r.attempt_count + 1), (r.result ->> 'retryAfter')::bigint)
    end;
    v_status := case
      when r.result ? 'unsigned' then 'pending'
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
      updated_at = greatest(d.updated_at, v_now)
    where d.tenant_id = p_tenant and d.livemode = p_live and d.id = r.id and d.status = 'pending';
  end loop;
  -- The claim may have ended by its time, and another worker may have the endpoint now.
  v_reason := endpoint_fault(v, p_results, v_now);
  v_due := next_delivery(p_tenant, p_live, p_endpoint);
  update webhook_endpoint w
  set
    failing_since = case
      when p_results @? '$[*].attempt ? (@.error == null)' then null
      when not v_sent then w.failing_since
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
      and v_reason is not null then greatest(w.updated_at, v_now)
      when v_sent
      and (w.failing_since is null) <> (p_results @? '$[*].attempt ? (@.error == null)') then greatest(
        w.updated_at,
        v_now
      )
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
    when p_results @? '$[*].attempt ? (@.error == null)'
    or not p_results @? '$[*] ? (!exists (@.unsigned))' then null
    when p_endpoint.failing_since < p_now - 5 * 86400 then 'failing'
  end;
end;
$$;

-- Deletes deliveries that are older than 30 days and not pending, at most `p_limit`; returns how many.
-- Without an event: it deletes deliveries after their time.
create or replace function delete_old_deliveries(p_tenant text, p_live boolean, p_limit int)
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
