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

-- Does several writes, each as a subtransaction that stores its own response. Returns the row of each, or the SQLSTATE
-- and the problems of its refusal. A write that is not returned was not done, and the caller does it alone: one that
-- met another error, such as a lock that was not free within `p_lock_milliseconds`, and those behind such a lock or
-- behind half a second of work. So no write waits long for its neighbours, and two calls that wait for each other end.
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
  v_until timestamptz := clock_timestamp() + interval '500 milliseconds';
  v_trace text := set_config('lock_timeout', p_lock_milliseconds::text, true);
begin
  if jsonb_path_exists(p_writes, '$[*] ? (@.fn != "create_deposit")') then
    begin
      perform lock_balances_of_writes(p_tenant, p_live, p_writes);
    exception when lock_not_available then
      return;
    end;
  end if;
  for i in 0..jsonb_array_length(p_writes) - 1 loop
    exit when v_locked or clock_timestamp() > v_until;
    w := p_writes -> i;
    v_fn := w ->> 'fn';
    -- Gateways of the previous release send it as `call`, which the next release no longer reads.
    v_envelope := coalesce(w -> 'envelope', w -> 'call');
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
      -- Amounts as text, because a JSON number could lose the cents of the largest.
      answer := to_jsonb(v) || jsonb_build_object(
        'amount',
        v.amount::text,
        'pending_rest',
        v.pending_rest::text,
        'disputed',
        v.disputed::text
      );
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
