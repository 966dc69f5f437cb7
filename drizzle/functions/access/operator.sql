-- Operators, their keys and their sessions in browsers. Only keyed hashes of keys and tokens reach the database. These
-- rows are about the whole deployment, so no function here has a tenant.

-- Creates an operator. The name must be free among the operators that are not revoked. A repeated call with the same
-- key returns the operator that the first one has made.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function create_operator(
  p_name text,
  p_role text,
  p_prefix text,
  p_digest text,
  p_pepper text,
  p_by text
)
returns setof operator
language plpgsql
as $$
begin
  insert into operator (id, created, created_by, name, role, prefix, digest, pepper_id)
  values (new_id('operator'), wall_clock(), p_by, p_name, p_role, p_prefix, p_digest, p_pepper)
  on conflict do nothing;
  if not exists (select from operator o where o.digest = p_digest) then
    perform refuse(
      409,
      'state_conflict',
      'operator.name',
      'Another operator has this name. Revoke it, or choose another name.'
    );
  end if;
  return query select o.* from operator o where o.digest = p_digest;
end;
$$;

-- Revokes an operator, which ends all its sessions too. Revoking it again changes nothing.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function revoke_operator(p_id text)
returns setof operator
language plpgsql
as $$
begin
  update operator o set revoked_at = wall_clock() where o.id = p_id and o.revoked_at is null;
  delete from operator_session s where s.operator_id = p_id;
  return query select o.* from operator o where o.id = p_id;
end;
$$;

-- Records the use of an operator's key, at most once a minute, and hashes the key under the first pepper.
-- Without an event: it says that a key was used, and no object changes.
create or replace function touch_operator(p_id text, p_before text, p_digest text, p_pepper text)
returns void
language plpgsql
as $$
begin
  update operator o
  set last_used_at = wall_clock()
  where o.id = p_id and coalesce(o.last_used_at, 0) <= wall_clock() - 60;
  update operator o
  set
    digest = p_digest,
    pepper_id = p_pepper
  where o.id = p_id and o.digest = p_before and o.pepper_id <> p_pepper;
end;
$$;

-- Creates a session of an operator, or of the holder of the OPERATOR_KEY with this keyed hash. Returns when it ends. An
-- operator that has been revoked meanwhile gets none. Deletes sessions that have expired.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function create_operator_session(
  p_operator_id text,
  p_key_digest text,
  p_digest text,
  p_seconds bigint
)
returns bigint
language plpgsql
as $$
declare
  v_now bigint := wall_clock();
begin
  if p_operator_id is not null then
    perform from operator o where o.id = p_operator_id and o.revoked_at is null for share;
    if not found then
      perform refuse(401, 'api_key_invalid', null);
    end if;
  end if;
  delete from operator_session s where s.expires_at <= v_now;
  insert into operator_session (digest, created, expires_at, operator_id, key_digest)
  values (p_digest, v_now, v_now + p_seconds, p_operator_id, p_key_digest)
  on conflict (digest) do nothing;
  return (select s.expires_at from operator_session s where s.digest = p_digest);
end;
$$;

-- Ends a session. Returns the number of deleted rows.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function end_operator_session(p_digest text)
returns int
language plpgsql
as $$
declare
  n int;
begin
  delete from operator_session s where s.digest = p_digest;
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  return n;
end;
$$;
