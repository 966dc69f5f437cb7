-- Creations of several deposits with one statement for each table.
--
-- Longer than 60 lines: create_deposits (its inserts with their columns).

-- Locks a payer, and waits for it no longer than `p_milliseconds`. Returns how many of them are left.
create or replace function lock_payer(p_tenant text, p_live boolean, p_id text, p_milliseconds int)
returns int
language plpgsql
as $$
declare
  v_began timestamptz;
  v_limit text := current_setting('lock_timeout');
  v_trace text;
begin
  perform
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id
  for no key update skip locked;
  if found then
    return p_milliseconds;
  end if;
  if p_milliseconds <= 0 then
    raise exception using errcode = 'lock_not_available', message = 'no time is left to wait for a payer';
  end if;
  v_began := clock_timestamp();
  v_trace := set_config('lock_timeout', p_milliseconds::text, true);
  perform from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id for no key update;
  v_trace := set_config('lock_timeout', v_limit, true);
  return p_milliseconds - ceil(date_part('epoch', clock_timestamp() - v_began) * 1000);
end;
$$;

-- Creates several deposits, one statement for each table: what a statement costs is most of a row's cost. It stores
-- what as many calls of `create_deposit` would store, and refuses all for one refusal. `p_args` has the arguments of
-- each, and `p_envelopes` its write envelope. Returns the rows of the deposits in the same order. It waits for the
-- locks of all payers `p_milliseconds` together at most; otherwise it stores none. The checks have no limit of their
-- own: on a busy machine, where creations wait for each other, they would be over it together and then be done again
-- one by one.
create or replace function create_deposits(
  p_tenant text,
  p_live boolean,
  p_milliseconds int,
  p_envelopes jsonb[],
  p_args jsonb[]
)
returns setof jsonb
language plpgsql
as $$
declare
  v deposit;
  v_to account;
  v_args jsonb;
  v_new deposit[] := '{}';
  v_on_root boolean[] := '{}';
  v_ids text[] := '{}';
  v_rows jsonb[] := '{}';
  v_now bigint;
  v_payer text;
  v_left int := p_milliseconds;
begin
  for i in 1..cardinality(p_args) loop
    v_args := check_args(p_args[i], deposit_args());
    -- Neighbours often have the same accounts.
    if v_args ->> 'fromAccountId' <> coalesce(v_payer, '') then
      v_payer := v_args ->> 'fromAccountId';
      v_left := lock_payer(p_tenant, p_live, v_payer, v_left);
    end if;
    if i = 1 or v_to.id is distinct from v_args ->> 'toAccountId' then
      select a.*
      into v_to
      from account a
      where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'toAccountId';
    end if;
    v := deposit_of_args(p_tenant, p_live, p_envelopes[i], v_to, v_args);
    v.payment_id := new_id('payment');
    v_new := v_new || v;
    v_on_root := v_on_root || v_to.on_root_list;
  end loop;
  v_now := clock(p_tenant, p_live);
  insert into payment
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      type,
      amount,
      currency,
      status,
      deposit_id,
      context_id,
      on_root_list,
      updated_at
    )
  select
    p_tenant,
    p_live,
    d.payment_id,
    v_now,
    d.to_account_id,
    'deposit',
    d.amount,
    d.currency,
    'processing',
    d.id,
    d.context_id,
    v_on_root[d.ordinality],
    v_now
  from unnest(v_new) with ordinality d;
  for v in
    insert into deposit
      (
        tenant_id,
        livemode,
        id,
        created,
        amount,
        currency,
        from_account_id,
        from_address_id,
        to_account_id,
        to_address_id,
        payment_method,
        statement_descriptor,
        status,
        metadata,
        payment_id,
        context_id,
        on_root_list
      )
    select
      p_tenant,
      p_live,
      d.id,
      v_now,
      d.amount,
      d.currency,
      d.from_account_id,
      d.from_address_id,
      d.to_account_id,
      d.to_address_id,
      d.payment_method,
      d.statement_descriptor,
      d.status,
      d.metadata,
      d.payment_id,
      d.context_id,
      d.on_root_list
    from unnest(v_new) d
    returning *
  loop
    -- The envelopes belong to the rows by their order.
    if v.id is distinct from v_new[cardinality(v_ids) + 1].id then
      raise exception 'the deposits were not stored in the order of their envelopes';
    end if;
    v_ids := v_ids || v.id;
    v_rows := v_rows || to_jsonb(v);
    return next v_rows[cardinality(v_rows)];
  end loop;
  if cardinality(v_ids) <> cardinality(v_new) then
    raise exception 'not all deposits were stored';
  end if;
  perform index_new_objects(p_tenant, p_live, 'deposit', v_rows);
  perform enqueue_for_each(p_tenant, p_live, 'process_deposit', v_ids, 0, v_now);
  perform emit_events_at(p_tenant, p_live, p_envelopes, 'deposit.initialized', 'deposit', v_rows, v_now);
  perform store_idempotent_responses(p_tenant, p_live, p_envelopes, v_rows);
end;
$$;
