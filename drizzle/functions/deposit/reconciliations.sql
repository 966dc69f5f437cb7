-- Several reconciliations in one call, each of which is refused or done by itself.

-- Counts deposits towards receivables, one after the other: each is done as reconcile_deposit does it, or refused and
-- changes nothing. Returns a row whose `answer` has a result for each, in the order of the arguments: the deposit as it
-- became, or as it is, and the problems why it was refused. Arguments: deposits [{id, receivables [{id, amount}, …],
-- problems}, …]; one with problems was refused before, and its id is null where the caller does not see it.
create or replace function reconcile_deposits(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof idempotency
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('deposits object[] {id text null, receivables object[], problems object[]}')
  );
  v idempotency;
  v_results jsonb[] := '{}';
  r jsonb;
begin
  perform lock_reconciled(p_tenant, p_live, v_args -> 'deposits');
  for r in select x from jsonb_array_elements(v_args -> 'deposits') x loop
    v_results := v_results || reconciliation_result(p_tenant, p_live, p_envelope, r);
  end loop;
  v.answer := to_jsonb(v_results);
  perform store_idempotent_response(p_tenant, p_live, p_envelope, jsonb_build_object('answer', v.answer));
  return next v;
end;
$$;

-- Locks all that several reconciliations change, in the one order of locks: a reconciliation after another must not
-- wait for a balance while it holds a receivable.
create or replace function lock_reconciled(p_tenant text, p_live boolean, p_deposits jsonb)
returns void
language plpgsql
as $$
declare
  v_ids text[] := array(select x ->> 'id' from jsonb_array_elements(p_deposits) x);
  v_keys jsonb := '[]';
  d deposit;
begin
  for d in
    select *
    from deposit x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = any (v_ids)
  loop
    v_keys := v_keys || money_keys_of(p_tenant, p_live, d);
  end loop;
  perform lock_balances(p_tenant, p_live, v_keys);
  perform
  from deposit x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = any (v_ids)
  order by x.id
  for update;
  perform lock_receivables(
    p_tenant,
    p_live,
    array(
      select s ->> 'id'
      from
        jsonb_array_elements(p_deposits) x
        cross join lateral jsonb_array_elements(x -> 'receivables') s
    )
  );
end;
$$;

-- Reconciles one of several deposits, and returns its result. What a refused one has changed is undone.
create or replace function reconciliation_result(p_tenant text, p_live boolean, p_envelope jsonb, p_row jsonb)
returns jsonb
language plpgsql
as $$
declare
  v_row jsonb := check_args(
    p_row,
    args_of('id text null, receivables object[] {id text, amount bigint}, problems object[], matchReasons? text[]')
  );
  v_problems jsonb := v_row -> 'problems';
  v_detail text;
  d deposit;
begin
  if v_problems = '[]' then
    begin
      d := reconcile_shares(
        p_tenant,
        p_live,
        p_envelope,
        v_row ->> 'id',
        v_row -> 'receivables',
        v_row -> 'matchReasons'
      );
      return jsonb_build_object('deposit', deposit_result(d), 'problems', v_problems);
    exception when others then
      if sqlstate !~ '^TG[45]' then
        raise;
      end if;
      /* sql-parser-cst-disable */ get stacked diagnostics v_detail = pg_exception_detail; /* sql-parser-cst-enable */
      v_problems := v_detail;
    end;
  end if;
  select y.* into d from deposit y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = v_row ->> 'id';
  return jsonb_build_object('deposit', deposit_result(d), 'problems', v_problems);
end;
$$;

-- A deposit within a stored response; null where there is none. Numbers become text, because JSON numbers could not
-- hold the largest amounts to the cent.
create or replace function deposit_result(p_deposit deposit)
returns jsonb
language plpgsql
immutable
as $$
begin
  if p_deposit.id is null then
    return null;
  end if;
  return (
    select
      jsonb_object_agg(
        c.key,
        case jsonb_typeof(c.value)
          when 'number' then to_jsonb(c.value #>> '{}')
          else c.value
        end
      )
    from jsonb_each(response_data(to_jsonb(p_deposit))) c
  );
end;
$$;
