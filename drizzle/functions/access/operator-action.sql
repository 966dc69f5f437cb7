-- The audit log of the operators: numbered entries without gaps, linked by a hash chain.

-- The hash of an entry, over the hash of the entry before it and all its columns. The columns and their order must
-- never change, because the hashes depend on them.
create or replace function operator_action_hash(p_previous text, p_entry operator_action)
returns text
language plpgsql
stable
as $$
begin
  return encode(
    sha256(
      convert_to(
        p_previous || chr(10) || jsonb_build_array(
          p_entry.number,
          p_entry.id,
          p_entry.created,
          p_entry.action,
          p_entry.outcome,
          p_entry.operator,
          p_entry.operator_id,
          p_entry.operation,
          p_entry.object_id,
          p_entry.tenant,
          p_entry.mode,
          p_entry.request_id,
          p_entry.code,
          p_entry.details
        )::text,
        'UTF8'
      )
    ),
    'hex'
  );
end;
$$;

-- Appends an entry, and returns its number. An entry with `action` is the outcome of the action that began with that
-- number. A repeated call with the same id appends nothing, and returns the number of the entry with this id.
--
-- Two gateways that append at once read the same last entry. The one that comes second waits for the first one's
-- commit, finds its number taken, and goes on after it. So there is no lock that a statement could forget to take.
create or replace function append_operator_action(p_operator text, p_entry jsonb)
returns bigint
language plpgsql
as $$
declare
  v operator_action;
  v_last operator_action;
  v_number bigint;
begin
  loop
    v_number := (select a.number from operator_action a where a.id = p_entry ->> 'id');
    if v_number is not null then
      return v_number;
    end if;
    select a.* into v_last from operator_action a order by a.number desc limit 1;
    v_number := coalesce(v_last.number, 0) + 1;
    v := jsonb_populate_record(
      null::operator_action,
      jsonb_build_object('action', v_number) || p_entry || jsonb_build_object(
        'number',
        v_number,
        'operator',
        p_operator,
        'created',
        greatest(wall_clock(), v_last.created)
      )
    );
    insert into operator_action
    select r.*
    from jsonb_populate_record(v, jsonb_build_object('hash', operator_action_hash(coalesce(v_last.hash, ''), v))) r
    on conflict do nothing;
    if found then
      return v_number;
    end if;
  end loop;
end;
$$;

-- Counts refused sign-ins in the log, at most once in `p_seconds` of the whole deployment, so that strangers cannot
-- fill it. Returns the number of the entry, or null if there was one just before: then the caller adds its count to the
-- next.
-- Without an event: events are for tenants; the audit log is the record.
create or replace function append_refused_sign_ins(p_operator text, p_entry jsonb, p_seconds bigint)
returns bigint
language plpgsql
as $$
begin
  if
    exists (
      select
      from
        (
          select a.created
          from operator_action a
          where a.operator = p_operator and a.number = a.action
          order by -a.number
          limit 1
        ) l
      where l.created > wall_clock() - p_seconds
    )
  then
    return null;
  end if;
  return append_operator_action(p_operator, p_entry);
end;
$$;

-- Appends the refusal of a change, unless the operator has `p_most` of them in the last `p_seconds`: an operator that
-- may only look can ask any number of times, and every entry is kept. Returns null then, and the caller counts it.
-- Without an event: events are for tenants; the audit log is the record.
create or replace function append_refused_change(p_operator text, p_entry jsonb, p_seconds bigint, p_most int)
returns bigint
language plpgsql
as $$
begin
  if
    (
      select count(*)
      from
        (
          select a.created, a.outcome
          from operator_action a
          where a.operator = p_operator and a.number = a.action
          order by -a.number
          limit 10 * p_most
        ) l
      where l.outcome = 'refused' and l.created > wall_clock() - p_seconds
    ) >= p_most
  then
    return null;
  end if;
  return append_operator_action(p_operator, p_entry);
end;
$$;

-- Checks the entries after `p_after`, at most `p_limit` of them, where `p_hash` is the hash of the entry `p_after`.
-- Returns the number and the hash of the last entry that was read, and the first number whose entry is missing or does
-- not match. With no more entries, the last number is `p_after`.
create or replace function check_operator_actions(p_after bigint, p_hash text, p_limit int)
returns table (last_number bigint, last_hash text, first_broken bigint)
language plpgsql
stable
as $$
begin
  return query select
      coalesce(max(c.number), p_after),
      coalesce((array_agg(c.hash order by c.number desc))[1], p_hash),
      min(c.expected) filter (where c.number <> c.expected or c.hash <> c.computed)
    from
      (
        select
          a.number,
          a.hash,
          p_after + row_number() over w as expected,
          operator_action_hash(lag(a.hash, 1, p_hash) over w, a) as computed
        from (select x.* from operator_action x where x.number > p_after order by x.number limit p_limit) a
        window w as (order by a.number)
      ) c;
end;
$$;
