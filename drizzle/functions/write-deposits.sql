-- Writes of deposits that wait for each other, in one call.
--
-- Longer than 60 lines: write_deposits (each write is a block of its own, with a branch per function).

-- Locks the balances that any of the writes may change, before the first write. Otherwise each would lock them in its
-- own order, and two calls would wait for each other. A balance that is missing is made by the write that needs it.
create or replace function lock_balances_of_writes(p_tenant text, p_live boolean, p_writes jsonb)
returns void
language plpgsql
as $$
declare
  k record;
  d deposit;
  v_receiver text;
  v_keys jsonb := '[]';
begin
  -- One row at a time: PostgreSQL could plan a join with the writes, or with an array of their keys, as a scan of all
  -- deposits or all balances, and a session keeps this plan while the tables grow.
  for k in
    select distinct w -> 'args' ->> 'id' as id
    from jsonb_array_elements(p_writes) w
    where w ->> 'fn' = 'reconcile_deposit' or w -> 'args' ->> 'to' in ('completed', 'reversed')
  loop
    select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = k.id;
    if found then
      v_receiver := receiver_of(p_tenant, p_live, d.to_account_id);
      v_keys := v_keys || balance_keys(
        array[d.to_account_id, v_receiver, transfer_target(p_tenant, p_live, v_receiver)],
        array[d.currency]
      );
    end if;
  end loop;
  for k in
    select distinct x ->> 'account' as account, x ->> 'currency' as currency
    from jsonb_array_elements(v_keys) x
    order by 1, 2
  loop
    perform
    from balance b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = k.account and b.currency = k.currency
    for update;
  end loop;
end;
$$;

-- The row of a deposit as an answer: amounts as text, because a JSON number could lose the cents of the largest.
create or replace function answer_of_deposit(p_row jsonb)
returns jsonb
language plpgsql
immutable
as $$
begin
  return p_row || jsonb_build_object(
    'amount',
    p_row ->> 'amount',
    'pending_rest',
    p_row ->> 'pending_rest',
    'disputed',
    p_row ->> 'disputed'
  );
end;
$$;

-- The write envelope of a write. Gateways of the previous release send it as `call`, which the next release no longer
-- reads.
create or replace function envelope_of_write(p_write jsonb)
returns jsonb
language plpgsql
immutable
as $$
begin
  return coalesce(p_write -> 'envelope', p_write -> 'call');
end;
$$;

-- Creates the deposits with which the writes of a call begin, together. Returns none when there is but one, or when
-- one of them met an error or a lock: then the caller does each of them alone, and each finds its error again. An error
-- that is none of a client or of a lock is in PostgreSQL's log. All their payers' locks together take no longer than
-- one alone may take.
create or replace function create_first_deposits(p_tenant text, p_live boolean, p_lock_milliseconds int, p_writes jsonb)
returns jsonb[]
language plpgsql
as $$
declare
  v_count int := 0;
begin
  while p_writes -> v_count ->> 'fn' = 'create_deposit' loop
    v_count := v_count + 1;
  end loop;
  if v_count < 2 then
    return '{}';
  end if;
  return array(
    select d
    from
      create_deposits(
        p_tenant,
        p_live,
        p_lock_milliseconds,
        array(
          select envelope_of_write(w)
          from jsonb_array_elements(p_writes) with ordinality x (w, n)
          where n <= v_count
          order by n
        ),
        array(
          select w -> 'args'
          from jsonb_array_elements(p_writes) with ordinality x (w, n)
          where n <= v_count
          order by n
        )
      ) d
  );
exception when others then
  if sqlstate !~ '^(TG|55P03|40)' then
    raise log 'create_deposits: % %', sqlstate, sqlerrm;
  end if;
  return '{}';
end;
$$;

-- Does several writes: creations together, and any other, or all when these were refused, each as a subtransaction that
-- stores its own response. Returns the row of each, or the SQLSTATE and the problems of its refusal. A write that is
-- not returned was not done, and the caller does it alone: one that met another error, such as a lock that was not free
-- within `p_lock_milliseconds`, and those behind such a lock or behind half a second of work. So no write waits long
-- for its neighbours, and two calls that wait for each other end.
create or replace function write_deposits(p_tenant text, p_live boolean, p_lock_milliseconds int, p_writes jsonb)
returns table (place int, refused text, problems text, answer jsonb)
language plpgsql
as $$
declare
  w jsonb;
  v deposit;
  v_fn text;
  v_envelope jsonb;
  v_locked boolean := false;
  v_until timestamptz;
  v_together jsonb[];
  v_trace text := set_config('lock_timeout', p_lock_milliseconds::text, true);
begin
  if jsonb_path_exists(p_writes, '$[*] ? (@.fn != "create_deposit")') then
    begin
      perform lock_balances_of_writes(p_tenant, p_live, p_writes);
    exception when lock_not_available then
      return;
    end;
  end if;
  v_together := create_first_deposits(p_tenant, p_live, p_lock_milliseconds, p_writes);
  for i in 1..cardinality(v_together) loop
    place := i - 1;
    answer := answer_of_deposit(v_together[i]);
    return next;
  end loop;
  -- From here, so that a call does at least one write, whatever its creations took together.
  v_until := clock_timestamp() + interval '500 milliseconds';
  for i in cardinality(v_together)..jsonb_array_length(p_writes) - 1 loop
    exit when v_locked or clock_timestamp() > v_until;
    w := p_writes -> i;
    v_fn := w ->> 'fn';
    v_envelope := envelope_of_write(w);
    place := i;
    refused := null;
    problems := null;
    answer := null;
    begin
      if v_fn = 'create_deposit' then
        select * into v from create_deposit(p_tenant, p_live, v_envelope, w -> 'args');
      elseif v_fn = 'move_deposit' then
        select * into v from move_deposit(p_tenant, p_live, v_envelope, w -> 'args');
      elseif v_fn = 'reconcile_deposit' then
        select * into v from reconcile_deposit(p_tenant, p_live, v_envelope, w -> 'args');
      else
        raise exception 'a call of several writes cannot include %', v_fn;
      end if;
      answer := answer_of_deposit(to_jsonb(v));
      return next;
    exception when others then
      v_locked := sqlstate = '55P03';
      if sqlstate ~ '^TG[45]' then
        refused := sqlstate;
        /* sql-parser-cst-disable */ get stacked diagnostics problems = pg_exception_detail; /* sql-parser-cst-enable */
        return next;
      end if;
    end;
  end loop;
end;
$$;
