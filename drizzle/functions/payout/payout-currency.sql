-- The currencies of a payout: those whose balances it may change, and the conversion of available money between them.

-- The currencies whose balances a payout of an account may change: those that the account has, and those into which its
-- available money would be converted. The caller locks all of them before anything else, in key order.
create or replace function payout_currencies(p_tenant text, p_live boolean, p_account text)
returns text[]
language plpgsql
stable
as $$
begin
  return array(
    select b.currency from balance b where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account
    union
    select d.currency
    from
      balance b
      cross join lateral (
        select a.currency
        from address a
        where
          a.tenant_id = p_tenant
          and a.livemode = p_live
          and a.linked_id = p_account
          and a.category = 'user_payout'
          and a.status = 'activated'
        order by (a.currency = b.currency) desc, a.created desc, a.id desc
        limit 1
      ) d
    where b.tenant_id = p_tenant and b.livemode = p_live and b.account_id = p_account and b.available > 0
  );
end;
$$;

-- Converts available money of an account for a payout, in three postings: out of the funds, at the exchange, and back
-- in.
create or replace function convert_available(
  p_tenant text,
  p_live boolean,
  p_cause text,
  p_payment text,
  p_account text,
  p_source text,
  p_amount bigint,
  p_target text,
  p_converted bigint
)
returns void
language plpgsql
as $$
begin
  perform post(
    p_tenant,
    p_live,
    'conversion_out',
    p_cause,
    p_payment,
    jsonb_build_array(
      leg(p_account, 'available', p_source, -p_amount),
      leg(p_account, 'processing', p_source, p_amount)
    )
  );
  perform post(
    p_tenant,
    p_live,
    'conversion',
    p_cause,
    p_payment,
    jsonb_build_array(
      leg(p_account, 'processing', p_source, -p_amount),
      contra_leg('fx', p_source, p_amount),
      contra_leg('fx', p_target, -p_converted),
      leg(p_account, 'processing', p_target, p_converted)
    )
  );
  perform post(
    p_tenant,
    p_live,
    'conversion_in',
    p_cause,
    p_payment,
    jsonb_build_array(
      leg(p_account, 'processing', p_target, -p_converted),
      leg(p_account, 'available', p_target, p_converted)
    )
  );
end;
$$;
