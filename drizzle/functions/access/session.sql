-- Sessions: creation and revocation. Only the digest of a token reaches the database. Sessions expire by the wall
-- clock: a test clock moved forward must not expire them.
--
-- Longer than 60 lines: create_session (two checks of the key, and one insert with its columns).

-- The most sessions of one API key that have not ended.
create or replace function sessions_max()
returns int
language plpgsql
immutable
as $$
begin
  return 1000;
end;
$$;

-- Creates a session, which ends with its key at the latest. The caller's key was valid when the gateway read it; a key
-- that has ended meanwhile makes no session.
create or replace function create_session(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof session
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('accountId text, apiKeyId text, role text, allowedOrigins text[], expiresIn int, digest text')
  );
  v session;
  o account;
  v_now bigint := wall_clock();
  v_end bigint;
  v_origins text[];
begin
  select least(v_now + (v_args ->> 'expiresIn')::bigint, k.expires_at)
  into v_end
  from api_key k
  where
    k.tenant_id = p_tenant
    and k.livemode = p_live
    and k.id = v_args ->> 'apiKeyId'
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > v_now);
  if not found then
    perform refuse(401, 'api_key_invalid', null);
  end if;
  -- Calls at the same moment may exceed the bound by their number.
  if
    (
      select count(*)
      from
        (
          select
          from session s
          where
            s.tenant_id = p_tenant
            and s.livemode = p_live
            and s.api_key_id = v_args ->> 'apiKeyId'
            and s.revoked_at is null
            and s.expires_at > v_now
          limit sessions_max()
        ) x
    ) >= sessions_max()
  then
    perform refuse(
      429,
      'rate_limit_exceeded',
      null,
      format('The API key has %s sessions that have not ended. Revoke some, or wait until they expire.', sessions_max())
    );
  end if;
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId';
  v_origins := array(select jsonb_array_elements_text(v_args -> 'allowedOrigins'));
  insert into session
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      api_key_id,
      role,
      allowed_origins,
      digest,
      expires_at,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      new_id('session'),
      v_now,
      o.id,
      v_args ->> 'apiKeyId',
      v_args ->> 'role',
      v_origins,
      v_args ->> 'digest',
      v_end,
      o.context_id,
      o.on_root_list
    )
  on conflict (tenant_id, livemode, digest) do nothing
  returning *
  into v;
  -- Each token is generated once: its digest exists only if this same call was committed before and its response was
  -- lost.
  if not found then
    perform refuse(409, 'idempotency_key_in_use', null);
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'session.created', 'session', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Revokes a session. A revoked session is returned unchanged, because the caller has what it wants.
create or replace function revoke_session(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof session
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
  v session;
  v_now bigint := wall_clock();
begin
  update session s
  set revoked_at = coalesce(s.revoked_at, v_now)
  where s.tenant_id = p_tenant and s.livemode = p_live and s.id = v_args ->> 'id'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'session.id');
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'session.revoked', 'session', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Deletes the sessions that were created before a time, the oldest first and at most `p_limit`.
create or replace function delete_old_sessions(p_tenant text, p_live boolean, p_before bigint, p_limit int)
returns void
language plpgsql
as $$
declare
  v_ids text[];
begin
  -- Select the ids first, in a statement of their own: in a join with the delete, the limit could apply anew for each
  -- row.
  v_ids := array(
    select s.id
    from session s
    where s.tenant_id = p_tenant and s.livemode = p_live and s.created < p_before
    order by s.created
    limit p_limit
    for update skip locked
  );
  delete from session s
  where s.tenant_id = p_tenant and s.livemode = p_live and s.id = any (v_ids);
end;
$$;
