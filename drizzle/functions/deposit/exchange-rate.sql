-- Exchange rates, and the conversion of amounts.
--
-- Longer than 60 lines: exchanged (the table of rates).

-- Converts an amount into another currency, and returns the rate too: the operator's rate, or in test mode, without
-- one, that of a fixed table. The amount is truncated to what can be paid in the target currency. It is computed
-- exactly from what one dollar buys of each currency, and not from their rounded ratio, which is for display only.
-- `rate` is null when it is not known; `amount` is null when it is greater than the largest amount of money.
create or replace function exchanged(
  p_tenant text,
  p_live boolean,
  p_amount bigint,
  p_source text,
  p_target text,
  out amount bigint,
  out rate numeric
)
language plpgsql
stable
as $$
declare
  v_bought numeric;
  v_sold numeric;
  v_amount numeric;
begin
  if p_source = p_target then
    amount := p_amount;
    rate := 1;
    return;
  end if;
  select r.rate, 1
  into v_bought, v_sold
  from rate r
  where r.tenant_id = p_tenant and r.livemode = p_live and r.source = p_source and r.target = p_target;
  if v_bought is null and not p_live then
    select t.per_dollar, s.per_dollar
    into v_bought, v_sold
    from
      (
        values
          ('USD', 1),
          ('EUR', 0.92),
          ('GBP', 0.79),
          ('INR', 83),
          ('SGD', 1.35),
          ('AUD', 1.52),
          ('CAD', 1.37),
          ('AED', 3.6725),
          ('JPY', 150)
      ) s (currency, per_dollar),
      (
        values
          ('USD', 1),
          ('EUR', 0.92),
          ('GBP', 0.79),
          ('INR', 83),
          ('SGD', 1.35),
          ('AUD', 1.52),
          ('CAD', 1.37),
          ('AED', 3.6725),
          ('JPY', 150)
      ) t (currency, per_dollar)
    where s.currency = p_source and t.currency = p_target;
  end if;
  rate := trim_scale(round(v_bought / v_sold, 16));
  v_amount := div(p_amount * v_bought, v_sold);
  v_amount := v_amount - v_amount % least_amount(p_target);
  if v_amount <= 1e17 then
    amount := v_amount;
  end if;
end;
$$;

-- Sets how much of another currency one unit of a currency buys in a tenant from now on.
create or replace function set_rate(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof rate
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('source text, target text, rate text'));
  v rate;
  v_now bigint := clock(p_tenant, p_live);
begin
  -- PostgreSQL sorts NaN above every number, and money cannot be multiplied by infinity.
  if not coalesce((v_args ->> 'rate')::numeric > 0 and (v_args ->> 'rate')::numeric < 'Infinity'::numeric, false) then
    perform refuse(400, 'parameter_invalid', 'rate.rate', 'must be a positive decimal');
  end if;
  insert into rate (tenant_id, livemode, source, target, rate, created)
  values (p_tenant, p_live, v_args ->> 'source', v_args ->> 'target', (v_args ->> 'rate')::numeric, v_now)
  on conflict (tenant_id, livemode, source, target) do update
    set
      rate = excluded.rate,
      created = excluded.created
  returning *
  into v;
  perform enqueue(p_tenant, p_live, 'offer_payouts', v.source, 0);
  perform emit_root_event(p_tenant, p_live, p_envelope, 'rate.set', 'rate', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
