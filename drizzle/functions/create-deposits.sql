-- Creations of several deposits with one statement for each table.
--
-- Longer than 60 lines: create_deposits (its inserts with their columns).

-- Creates several deposits, one statement for each table: what a statement costs is most of a row's cost. It stores
-- what as many calls of `create_deposit` would store, and refuses all for one refusal. `p_args` has the arguments of
-- each, and `p_envelopes` its write envelope. Returns the rows of the deposits in the same order. It takes
-- `p_milliseconds` at most until all are checked and their payers locked; otherwise it stores none, as behind a lock
-- that is not free.
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
  v_left int;
  v_trace text;
  v_until timestamptz := clock_timestamp() + p_milliseconds * interval '1 millisecond';
begin
  for i in 1..cardinality(p_args) loop
    v_args := check_args(p_args[i], deposit_args());
    v_left := date_part('epoch', v_until - clock_timestamp()) * 1000;
    if v_left <= 0 then
      raise exception using errcode = 'lock_not_available', message = 'the deposits took too long to check';
    end if;
    -- What one payer's lock took is not left for the next.
    if v_args ->> 'fromAccountId' is not null then
      v_trace := set_config('lock_timeout', v_left::text, true);
    end if;
    -- Neighbours often have the same account.
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
