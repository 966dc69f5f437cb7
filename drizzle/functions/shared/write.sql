-- What every write uses: the clock, new ids, domain errors, and the response that a write stores last.

-- Whole seconds since 1970 in this tenant and mode: test mode adds the offset of the tenant's test clock. It is the
-- source of `created`, except where the wall clock applies.
create or replace function clock(p_tenant text, p_live boolean)
returns bigint
language plpgsql
volatile
as $$
declare
  v_offset bigint;
begin
  if not p_live then
    select c.offset_seconds into v_offset from test_clock c where c.tenant_id = p_tenant and c.livemode = p_live;
  end if;
  return floor(date_part('epoch', clock_timestamp()))::bigint + coalesce(v_offset, 0);
end;
$$;

-- Whole seconds since 1970 by real time, which no test clock changes: for keys and the retention of stored responses.
create or replace function wall_clock()
returns bigint
language plpgsql
volatile
as $$
begin
  return floor(date_part('epoch', clock_timestamp()))::bigint;
end;
$$;

-- Makes an identifier: the prefix, 14 hex digits of microseconds and 18 of randomness. Ids sort by their creation, also
-- within one statement.
create or replace function new_id(p_prefix text)
returns text
language plpgsql
volatile
as $$
declare
  r text := gen_random_uuid();
begin
  return p_prefix || '_' || lpad(to_hex((date_part('epoch', clock_timestamp()) * 1000000)::bigint), 14, '0') || left(
    r,
    8
  ) || right(r, 10);
end;
$$;

-- Raises a domain error with our own SQLSTATE (TG and the HTTP status), the code in MESSAGE and the problems in DETAIL:
-- constraint and column names do not survive distribution.
create or replace function refuse(p_status int, p_code text, p_field text, p_message text default null)
returns void
language plpgsql
immutable
as $$
begin
  raise exception
    using
      errcode = 'TG' || p_status,
      message = p_code,
      detail = jsonb_build_array(jsonb_build_object('code', p_code, 'field', p_field, 'message', p_message))::text;
end;
$$;

-- The part of a changed row that a stored response contains: no secrets, and no columns that are null.
create or replace function response_data(p_row jsonb)
returns jsonb
language plpgsql
immutable
as $$
begin
  return without_null_columns(p_row - 'digest' #- '{identification,taxCardSealed}');
end;
$$;

-- Stores the response of a write with an idempotency key, as its last step and from the changed row. If the key was
-- used before, this rolls back the whole call.
create or replace function store_idempotent_response(p_tenant text, p_live boolean, p_envelope jsonb, p_row jsonb)
returns void
language plpgsql
as $$
declare
  v_envelope jsonb := check_args(
    p_envelope,
    args_of('requestId? text, account? text, key? text, operation? text, request? object')
  );
  v_now bigint := wall_clock();
begin
  if v_envelope ->> 'key' is null then
    return;
  end if;
  insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, request_id, answer)
  values
    (
      p_tenant,
      p_live,
      v_envelope ->> 'account',
      v_envelope ->> 'key',
      v_now,
      v_envelope ->> 'operation',
      v_envelope -> 'request',
      v_envelope ->> 'requestId',
      response_data(p_row)
    )
  on conflict (tenant_id, livemode, account_id, key) do nothing;
  if not found then
    perform refuse(409, 'idempotency_key_in_use', null);
  end if;
end;
$$;

-- Deletes stored responses that are older than `p_seconds` by the database's clock, the oldest first and at most
-- `p_limit`; returns how many. Idempotency keys are promised for 24 hours, so a shorter time counts as 24 hours. Those
-- since the creation of an import that has not ended stay: without them, an import that goes on days after a crash
-- would create rows again that it has not recorded.
-- Also deletes as many sessions of that age: the creation of each stored a response at the same time, and a session
-- lasts 12 hours at most.
-- Without an event: it deletes stored responses after their time.
create or replace function delete_old_responses(p_tenant text, p_live boolean, p_seconds bigint, p_limit int)
returns int
language plpgsql
as $$
declare
  n int;
  v_before bigint := wall_clock() - greatest(p_seconds, 86400);
  v_answered bigint;
  v_accounts text[];
  v_keys text[];
begin
  select least(v_before, min(i.created))
  into v_answered
  from data_import i
  where i.tenant_id = p_tenant and i.livemode = p_live and i.status in ('pending', 'running');
  -- Select the keys first, in a statement of their own: in a join with the delete, the limit could apply anew for each
  -- row.
  select array_agg(x.account_id), array_agg(x.key)
  into v_accounts, v_keys
  from
    (
      select i.account_id, i.key
      from idempotency i
      where i.tenant_id = p_tenant and i.livemode = p_live and i.created < v_answered
      order by i.created
      limit p_limit
      for update skip locked
    ) x;
  delete from idempotency i
  using unnest(v_accounts, v_keys) o (account_id, key)
  where i.tenant_id = p_tenant and i.livemode = p_live and i.account_id = o.account_id and i.key = o.key;
  /* sql-parser-cst-disable */ get diagnostics n = row_count; /* sql-parser-cst-enable */
  perform delete_old_sessions(p_tenant, p_live, v_before, p_limit);
  return n;
end;
$$;
