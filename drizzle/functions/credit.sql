-- Credits: several postings of one kind, each of which adds money from the outside world to one balance.
--
-- Longer than 60 lines: post_credits (its inserts and its update with their columns).

-- Inserts several postings with one statement for each table, and one for each balance: what a statement costs is most
-- of a row's cost. It stores what as many calls of `post` would store, and raises an error for all when one of them
-- is not a credit or has posted before. `p_legs` has the legs of each: the leg of its balance, then those of the
-- outside world. The caller has locked the balances.
create or replace function post_credits(
  p_tenant text,
  p_live boolean,
  p_kind text,
  p_causes text[],
  p_payments text[],
  p_legs jsonb[]
)
returns void
language plpgsql
as $$
declare
  e entry;
  c contra_entry;
  b balance;
  k record;
  v_legs jsonb;
  v_rest bigint;
  v_after jsonb;
  v_postings text[] := '{}';
  v_entries entry[] := '{}';
  v_contras contra_entry[] := '{}';
  v_late balance[] := '{}';
  v_now bigint := clock(p_tenant, p_live);
begin
  for i in 1..cardinality(p_causes) loop
    v_legs := p_legs[i];
    e.id := new_id('bt');
    e.posting_id := new_id('posting');
    e.account_id := v_legs -> 0 ->> 'account';
    e.category := v_legs -> 0 ->> 'category';
    e.currency := v_legs -> 0 ->> 'currency';
    e.amount := v_legs -> 0 ->> 'amount';
    e.payment_id := p_payments[i];
    v_rest := e.amount;
    c.posting_id := e.posting_id;
    c.currency := e.currency;
    for j in 1..jsonb_array_length(v_legs) - 1 loop
      c.contra := v_legs -> j ->> 'contra';
      c.amount := v_legs -> j ->> 'amount';
      if c.amount <> 0 then
        c.id := new_id('contra');
        v_contras := v_contras || c;
        v_rest := v_rest + c.amount;
      end if;
      if c.contra is null or c.currency is distinct from v_legs -> j ->> 'currency' then
        raise exception 'posting % of % is no credit', p_kind, p_causes[i];
      end if;
    end loop;
    if e.account_id is null or e.amount is null or e.amount <= 0 or v_rest <> 0 then
      raise exception 'posting % of % is no credit', p_kind, p_causes[i];
    end if;
    v_postings := v_postings || e.posting_id;
    v_entries := v_entries || e;
  end loop;
  insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
  select p_tenant, p_live, x.id, v_now, p_kind, x.cause, x.paid
  from unnest(v_postings, p_causes, p_payments) x (id, cause, paid);
  insert into unsealed (tenant_id, livemode, posting_id)
  select p_tenant, p_live, x
  from unnest(v_postings) x;
  insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
  select p_tenant, p_live, x.id, v_now, x.posting_id, x.contra, x.amount, x.currency
  from unnest(v_contras) x;
  for k in
    select
      x.account_id,
      x.currency,
      coalesce(sum(x.amount) filter (where x.category = 'available'), 0) as available,
      coalesce(sum(x.amount) filter (where x.category = 'fee_advance'), 0) as fee_advance,
      coalesce(sum(x.amount) filter (where x.category = 'payout_processing'), 0) as payout_processing,
      coalesce(sum(x.amount) filter (where x.category = 'pending'), 0) as pending,
      coalesce(sum(x.amount) filter (where x.category = 'processing'), 0) as processing,
      array_agg(x.ordinality order by x.ordinality) as places
    from unnest(v_entries) with ordinality x
    group by 1, 2
    order by 1, 2
  loop
    update balance
    set
      available = available + k.available,
      fee_advance = fee_advance + k.fee_advance,
      payout_processing = payout_processing + k.payout_processing,
      pending = pending + k.pending,
      processing = processing + k.processing,
      version = version + cardinality(k.places),
      latest = greatest(latest, v_now),
      late = late or coalesce(latest > v_now, false)
    where tenant_id = p_tenant and livemode = p_live and account_id = k.account_id and currency = k.currency
    returning *
    into strict b;
    if b.latest > v_now then
      v_late := v_late || b;
    end if;
    -- The amounts and versions between, from the last entry to the first.
    v_after := to_jsonb(b);
    for i in reverse cardinality(k.places)..1 loop
      e := v_entries[k.places[i]];
      e.balance_after := v_after ->> e.category;
      e.version := b.version - cardinality(k.places) + i;
      e.context_id := b.context_id;
      e.on_root_list := b.on_root_list;
      v_entries[k.places[i]] := e;
      v_after := v_after || jsonb_build_object(e.category, e.balance_after - e.amount);
    end loop;
  end loop;
  insert into entry
    (
      tenant_id,
      livemode,
      id,
      created,
      posting_id,
      account_id,
      amount,
      currency,
      category,
      payment_id,
      balance_after,
      version,
      context_id,
      on_root_list
    )
  select
    p_tenant,
    p_live,
    x.id,
    v_now,
    x.posting_id,
    x.account_id,
    x.amount,
    x.currency,
    x.category,
    x.payment_id,
    x.balance_after,
    x.version,
    x.context_id,
    x.on_root_list
  from unnest(v_entries) x;
  foreach b in array v_late loop
    for e in select x.* from unnest(v_entries) x where x.account_id = b.account_id and x.currency = b.currency loop
      perform insert_late_entry(p_tenant, p_live, b.account_id, b.currency, e.version, b.latest);
    end loop;
  end loop;
end;
$$;
