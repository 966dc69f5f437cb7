-- Webhook endpoints.
--
-- Longer than 60 lines: create_webhook_endpoint (one insert with its columns); update_webhook_endpoint (one assignment
-- for each parameter).

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
  p_envelope jsonb,
  p_type text,
  p_row webhook_endpoint
)
returns text
language plpgsql
as $$
declare
  v_now bigint := clock(p_tenant, p_live);
begin
  return emit_event_at(p_tenant, p_live, p_envelope, p_type, 'webhook_endpoint', without_secrets(p_row), v_now);
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

create or replace function create_webhook_endpoint(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
  perform emit_webhook_event(p_tenant, p_live, p_envelope, 'webhook_endpoint.created', v);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, without_secrets(v));
  return next v;
end;
$$;

create or replace function update_webhook_endpoint(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
    perform make_deliveries_due(p_tenant, p_live, v_old.id, 5000);
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
    updated_at = greatest(w.updated_at, v_now)
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v_old.id
  returning *
  into v;
  perform emit_webhook_event(p_tenant, p_live, p_envelope, 'webhook_endpoint.updated', v);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, without_secrets(v));
  return next v;
end;
$$;

-- Gives an endpoint a new secret. The previous one signs as well for 24 hours.
create or replace function rotate_webhook_secret(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
    updated_at = greatest(w.updated_at, v_now)
  where w.tenant_id = p_tenant and w.livemode = p_live and w.id = v_args ->> 'id'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'webhook_endpoint.id');
  end if;
  perform emit_webhook_event(p_tenant, p_live, p_envelope, 'webhook_endpoint.secret_rotated', v);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, without_secrets(v));
  return next v;
end;
$$;

-- Emits a test event and queues it for this endpoint, whatever its types are.
create or replace function test_webhook_endpoint(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
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
    emit_webhook_event(p_tenant, p_live, p_envelope, 'webhook_endpoint.tested', v),
    'webhook_endpoint.tested'
  );
  perform store_idempotent_response(p_tenant, p_live, p_envelope, without_secrets(v));
  return next v;
end;
$$;
