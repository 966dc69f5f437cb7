-- The seal: a hash chain over the postings of a tenant and mode. A worker extends it after the postings are committed,
-- so that no write waits for it. Changing or removing a sealed posting breaks the chain at its block.

-- Returns postings and their entries as text, in the order of the given ids. The format and the order of entries must
-- never change, because the hashes depend on them. One statement reads all postings and joins nothing: for a plan that
-- does not know the number of ids, or the tenant, PostgreSQL could compare each posting with all others.
create or replace function posting_texts(p_tenant text, p_live boolean, p_ids text[])
returns text[]
language plpgsql
stable
as $$
begin
  return array(
    select
      case
        when bool_or(x.part = 1) then ''
        else 'missing'
      end || string_agg(x.line, '' order by x.part)
    from
      (
        select i.id, i.n, 0 as part, '' as line
        from unnest(p_ids) with ordinality i (id, n)
        union all
        select p.id, null, 1, concat_ws('|', p.id, p.created, p.kind, p.cause, p.payment_id)
        from posting p
        where p.tenant_id = p_tenant and p.livemode = p_live and p.id = any (p_ids)
        union all
        select
          e.posting_id,
          null,
          2,
          string_agg(
            concat_ws(
              '|',
              e.id,
              e.created,
              e.account_id,
              e.payment_id,
              e.category,
              e.currency,
              e.amount,
              e.balance_after,
              e.version
            ),
            ';'
            order by e.id
          )
        from entry e
        where e.tenant_id = p_tenant and e.livemode = p_live and e.posting_id = any (p_ids)
        group by e.posting_id
        union all
        select
          c.posting_id,
          null,
          3,
          string_agg(concat_ws('|', c.id, c.created, c.contra, c.currency, c.amount), ';' order by c.id)
        from contra_entry c
        where c.tenant_id = p_tenant and c.livemode = p_live and c.posting_id = any (p_ids)
        group by c.posting_id
      ) x
    group by x.id
    order by max(x.n)
  );
end;
$$;

create or replace function block_hash(p_previous text, p_texts text[])
returns text
language plpgsql
immutable
as $$
begin
  return encode(sha256(convert_to(p_previous || chr(10) || array_to_string(p_texts, chr(10)), 'UTF8')), 'hex');
end;
$$;

-- Seals unsealed postings in one new block, and ranks the balances that they changed. Postings that another worker is
-- sealing are left to it.
-- Without an event: clients see no seals.
create or replace function seal_postings(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  v_ids text[];
  v_last seal_block;
  v_now bigint := wall_clock();
  v_texts text[];
  v_accounts text[];
begin
  v_ids := array(
    select u.posting_id
    from unsealed u
    where u.tenant_id = p_tenant and u.livemode = p_live
    order by u.posting_id
    limit p_limit
    for update skip locked
  );
  if cardinality(v_ids) = 0 then
    return 0;
  end if;
  select b.*
  into v_last
  from seal_block b
  where b.tenant_id = p_tenant and b.livemode = p_live
  order by b.number desc
  limit 1;
  v_texts := posting_texts(p_tenant, p_live, v_ids);
  -- Two workers at once would use the same number: the second stops here, and its postings wait for the next round.
  insert into seal_block (tenant_id, livemode, number, created, postings, previous, hash)
  values
    (
      p_tenant,
      p_live,
      coalesce(v_last.number, 0) + 1,
      v_now,
      cardinality(v_ids),
      coalesce(v_last.hash, ''),
      block_hash(coalesce(v_last.hash, ''), v_texts)
    )
  on conflict (tenant_id, livemode, number) do nothing;
  if not found then
    return 0;
  end if;
  insert into posting_seal (tenant_id, livemode, posting_id, block)
  select p_tenant, p_live, i, coalesce(v_last.number, 0) + 1 from unnest(v_ids) i;
  delete from unsealed u where u.tenant_id = p_tenant and u.livemode = p_live and u.posting_id = any (v_ids);
  -- Once for all postings of an account in the batch.
  v_accounts := array(
    select distinct e.account_id
    from entry e
    where e.tenant_id = p_tenant and e.livemode = p_live and e.posting_id = any (v_ids)
  );
  perform rank_balances(p_tenant, p_live, v_accounts);
  return cardinality(v_ids);
end;
$$;

-- Returns the number of the first block that does not match the stored postings, or null when all blocks match.
create or replace function first_broken_block(p_tenant text, p_live boolean)
returns bigint
language plpgsql
stable
as $$
declare
  b seal_block;
  v_ids text[];
  v_previous text := '';
  v_number bigint := 0;
  v_texts text[];
begin
  for b in select x.* from seal_block x where x.tenant_id = p_tenant and x.livemode = p_live order by x.number loop
    v_number := v_number + 1;
    v_ids := array(
      select s.posting_id
      from posting_seal s
      where s.tenant_id = p_tenant and s.livemode = p_live and s.block = b.number
      order by s.posting_id
    );
    v_texts := posting_texts(p_tenant, p_live, v_ids);
    if
      b.number <> v_number
      or b.previous <> v_previous
      or b.postings <> cardinality(v_texts)
      or b.hash <> block_hash(v_previous, v_texts)
    then
      return v_number;
    end if;
    v_previous := b.hash;
  end loop;
  if
    exists (select from posting_seal s where s.tenant_id = p_tenant and s.livemode = p_live and s.block > v_number)
  then
    return v_number + 1;
  end if;
  -- A posting that is neither sealed nor waiting has lost its seal.
  if
    exists (
      select
      from posting p
      where
        p.tenant_id = p_tenant
        and p.livemode = p_live
        and not exists (
          select from posting_seal s where s.tenant_id = p_tenant and s.livemode = p_live and s.posting_id = p.id
        )
        and not exists (
          select from unsealed u where u.tenant_id = p_tenant and u.livemode = p_live and u.posting_id = p.id
        )
    )
  then
    return v_number + 1;
  end if;
  return null;
end;
$$;
