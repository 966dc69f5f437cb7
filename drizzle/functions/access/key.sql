-- API keys: creation, rotation with a grace period, revocation. Only the digest of a secret reaches the database.
-- Keys expire by the wall clock: a test clock moved forward must not expire them.
--
-- Longer than 60 lines: insert_api_key (one insert with its columns); rotate_api_key (the ends of both keys follow from
-- one time).

-- Stores a key that is created at a time, once per secret.
create or replace function insert_api_key(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_account text,
  p_permission text,
  p_expires_in bigint,
  p_prefix text,
  p_digest text,
  p_pepper text,
  p_now bigint
)
returns api_key
language plpgsql
as $$
declare
  v api_key;
  o account;
  v_id text := new_id('key');
begin
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_account;
  insert into api_key
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      permission,
      prefix,
      digest,
      pepper_id,
      expires_at,
      context_id,
      on_root_list,
      updated_at
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      p_now,
      o.id,
      p_permission,
      p_prefix,
      p_digest,
      p_pepper,
      p_now + p_expires_in,
      o.context_id,
      o.on_root_list,
      p_now
    )
  on conflict (tenant_id, livemode, digest) do nothing
  returning *
  into v;
  -- Each secret is generated once: its digest exists only if this same call was committed before and its response was
  -- lost.
  if not found then
    perform refuse(409, 'idempotency_key_in_use', null);
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'api_key.created', 'api_key', to_jsonb(v));
  return v;
end;
$$;

-- When a key ends that makes another one; null if it does not end, or if the operator makes the key. The gateway found
-- it valid; one that has ended meanwhile makes no key.
create or replace function key_expiry(p_tenant text, p_live boolean, p_key text, p_now bigint)
returns bigint
language plpgsql
as $$
declare
  v_end bigint;
begin
  if p_key is null then
    return null;
  end if;
  select k.expires_at
  into v_end
  from api_key k
  where
    k.tenant_id = p_tenant
    and k.livemode = p_live
    and k.id = p_key
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > p_now);
  if not found then
    perform refuse(401, 'api_key_invalid', null);
  end if;
  return v_end;
end;
$$;

-- Creates a key, which ends at the latest with the key that creates it. Older gateways do not say which one that is.
create or replace function create_api_key(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof api_key
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'accountId text, permission text, expiresInSeconds int null, prefix text, digest text, pepperId text,
        byKeyId? text null'
    )
  );
  v api_key;
  v_now bigint := wall_clock();
  v_seconds bigint := v_args ->> 'expiresInSeconds';
  v_last bigint := key_expiry(p_tenant, p_live, v_args ->> 'byKeyId', v_now);
begin
  if coalesce(v_now + v_seconds, v_last + 1) > v_last then
    perform refuse(
      400,
      'parameter_invalid',
      'api_key.expires_in_seconds',
      format('must be from 1 to %s, because the key of the request ends then', v_last - v_now)
    );
  end if;
  v := insert_api_key(
    p_tenant,
    p_live,
    p_envelope,
    v_args ->> 'accountId',
    v_args ->> 'permission',
    v_seconds,
    v_args ->> 'prefix',
    v_args ->> 'digest',
    v_args ->> 'pepperId',
    v_now
  );
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Creates a key with the same permission and end. The old key stays valid for the grace period, but not beyond its own
-- expiry. A key that ends replaces none that ends later.
create or replace function rotate_api_key(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof api_key
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, graceSeconds int, prefix text, digest text, pepperId text, byKeyId? text null')
  );
  v_old api_key;
  v api_key;
  v_now bigint;
  v_end bigint;
  v_last bigint;
begin
  select k.expires_at
  into v_end
  from api_key k
  where k.tenant_id = p_tenant and k.livemode = p_live and k.id = v_args ->> 'id'
  for update;
  v_now := wall_clock();
  v_last := key_expiry(p_tenant, p_live, v_args ->> 'byKeyId', v_now);
  if coalesce(v_end, v_last + 1) > v_last then
    perform refuse(
      403,
      'permission_denied',
      'api_key.id',
      'A key cannot replace one that ends later than itself. Use a key that does not end earlier.'
    );
  end if;
  update api_key k
  set
    expires_at = least(k.expires_at, v_now + (v_args ->> 'graceSeconds')::bigint),
    updated_at = greatest(k.updated_at, v_now)
  where
    k.tenant_id = p_tenant
    and k.livemode = p_live
    and k.id = v_args ->> 'id'
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > v_now)
  returning *
  into v_old;
  if not found then
    perform refuse(400, 'status_invalid', 'api_key.id', 'is revoked or expired; create a new key');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'api_key.rotated', 'api_key', to_jsonb(v_old));
  v := insert_api_key(
    p_tenant,
    p_live,
    p_envelope,
    v_old.account_id,
    v_old.permission,
    v_end - v_now,
    v_args ->> 'prefix',
    v_args ->> 'digest',
    v_args ->> 'pepperId',
    v_now
  );
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Revokes a key. For a revoked key it returns the key unchanged, because the caller has what it wants.
create or replace function revoke_api_key(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof api_key
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
  v api_key;
  v_now bigint := wall_clock();
begin
  update api_key k
  set
    revoked_at = coalesce(k.revoked_at, v_now),
    updated_at = case
      when k.revoked_at is null then greatest(k.updated_at, v_now)
      else k.updated_at
    end
  where k.tenant_id = p_tenant and k.livemode = p_live and k.id = v_args ->> 'id'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'api_key.id');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'api_key.revoked', 'api_key', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Records when a key was last used, at most once a minute: this statistic is not worth a write per request.
-- Without an event: the time of the last use changes with each request.
create or replace function touch_api_key(p_tenant text, p_live boolean, p_id text)
returns void
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
begin
  update api_key k
  set last_used_at = v_now
  where k.tenant_id = p_tenant and k.livemode = p_live and k.id = p_id and coalesce(k.last_used_at, 0) < v_now - 60;
end;
$$;

-- Stores the digest of a key under another pepper. A digest that was changed meanwhile stays.
-- Without an event: the key itself does not change.
create or replace function rehash_api_key(
  p_tenant text,
  p_live boolean,
  p_id text,
  p_before text,
  p_digest text,
  p_pepper text
)
returns void
language plpgsql
as $$
begin
  update api_key k
  set
    digest = p_digest,
    pepper_id = p_pepper
  where k.tenant_id = p_tenant and k.livemode = p_live and k.id = p_id and k.digest = p_before;
end;
$$;
