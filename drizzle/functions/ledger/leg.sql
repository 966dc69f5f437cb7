-- Legs: the parts of a posting, before it is written.

-- Builds a leg for a balance; `contra_leg` builds one for the outside world.
create or replace function leg(p_account text, p_category text, p_currency text, p_amount bigint)
returns jsonb
language plpgsql
immutable
as $$
begin
  return jsonb_build_object('account', p_account, 'category', p_category, 'currency', p_currency, 'amount', p_amount);
end;
$$;

create or replace function contra_leg(p_contra text, p_currency text, p_amount bigint)
returns jsonb
language plpgsql
immutable
as $$
begin
  return jsonb_build_object('contra', p_contra, 'currency', p_currency, 'amount', p_amount);
end;
$$;

-- The legs of a posting in the order of their balances, each compartment once, then those of the outside world. Raises
-- an error if they do not sum to zero per currency, or move nothing.
create or replace function sorted_legs(p_kind text, p_cause text, p_legs jsonb)
returns jsonb
language plpgsql
immutable
as $$
declare
  a jsonb := p_legs -> 0;
  b jsonb := p_legs -> 1;
  v_account text := a ->> 'account';
  v_other text := b ->> 'account';
  v_legs jsonb;
begin
  -- Two legs that cancel out need no query.
  if
    jsonb_array_length(p_legs) = 2
    and a ->> 'currency' = b ->> 'currency'
    and (a ->> 'amount')::bigint = -(b ->> 'amount')::bigint
    and (a ->> 'amount')::bigint <> 0
  then
    v_legs := case
      when v_account = v_other then case
        when a ->> 'category' < b ->> 'category' then p_legs
        when a ->> 'category' > b ->> 'category' then jsonb_build_array(b, a)
      end
      when v_account < v_other
      or (v_account is not null and v_other is null) then p_legs
      when v_other is not null then jsonb_build_array(b, a)
    end;
    if v_legs is not null then
      return v_legs;
    end if;
  end if;
  if
    exists (
      select from jsonb_array_elements(p_legs) x group by x ->> 'currency' having sum((x ->> 'amount')::bigint) <> 0
    )
  then
    raise exception 'posting % of % does not sum to zero', p_kind, p_cause;
  end if;
  v_legs := (
    select jsonb_agg(to_jsonb(m) order by m.account, m.currency, m.category, m.contra)
    from
      (
        select
          x ->> 'account' as account,
          x ->> 'category' as category,
          x ->> 'contra' as contra,
          x ->> 'currency' as currency,
          sum((x ->> 'amount')::bigint)::bigint as amount
        from jsonb_array_elements(p_legs) x
        group by 1, 2, 3, 4
        having sum((x ->> 'amount')::bigint) <> 0
      ) m
  );
  if (v_legs -> 0 ->> 'account') is null then
    raise exception 'posting % of % moves nothing', p_kind, p_cause;
  end if;
  return v_legs;
end;
$$;

-- Writes a posting between two places in the outside world, which is in no balance.
create or replace function post_outside(
  p_tenant text,
  p_live boolean,
  p_kind text,
  p_cause text,
  p_payment text,
  p_from text,
  p_to text,
  p_amount bigint,
  p_currency text
)
returns void
language plpgsql
as $$
declare
  v_posting text := new_id('posting');
  v_contra text := new_id('contra');
  v_other text := new_id('contra');
  v_now bigint := clock(p_tenant, p_live);
begin
  insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
  values (p_tenant, p_live, v_posting, v_now, p_kind, p_cause, p_payment);
  insert into unsealed (tenant_id, livemode, posting_id) values (p_tenant, p_live, v_posting);
  insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
  values
    (p_tenant, p_live, v_contra, v_now, v_posting, p_from, -p_amount, p_currency),
    (p_tenant, p_live, v_other, v_now, v_posting, p_to, p_amount, p_currency);
end;
$$;
