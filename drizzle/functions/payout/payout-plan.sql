-- What the next payouts of accounts would be, and what is in their way.
--
-- Longer than 60 lines: payout_facts (its columns, and a query for each).

-- What decides about the payouts of the accounts at this moment, by the rules of `pay_out` and `schedule_payout`: a row
-- for each currency of available money, and at least one for each account. The address of a payout is chosen as
-- `payout_address` chooses it, without its lock. Of an account's money two rows are read for each currency.
create or replace function payout_facts(p_tenant text, p_live boolean, p_ids text[])
returns table (
  account_id text,
  applicable boolean,
  reason text,
  at_once boolean,
  owes boolean,
  has_address boolean,
  now bigint,
  next_interval bigint,
  scheduled bigint,
  currency text,
  available bigint,
  target text,
  rate numeric,
  rate_set_at bigint,
  amount bigint
)
language plpgsql
stable
as $$
declare
  s account_setting;
  b balance;
  v_amount bigint;
  v_rate numeric;
  v_ahead bigint := coalesce(
    (select c.offset_seconds from test_clock c where c.tenant_id = p_tenant and c.livemode = p_live),
    0
  );
  v_live_fx boolean := exists (
    select
    from account_setting g
    where g.tenant_id = p_tenant and g.livemode = p_live and g.account_id = 'account_' || p_tenant and g.live_fx
  );
begin
  now := wall_clock() + v_ahead;
  for s in
    select x.*
    from account_setting x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = any (p_ids)
    order by x.account_id
  loop
    account_id := s.account_id;
    applicable := s.payouts_applicable;
    reason := s.payouts_reason;
    at_once := s.of_connected_user and v_live_fx;
    next_interval := now + seconds_to_payout(s, now);
    owes := exists (
      select
      from balance x
      where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = s.account_id and x.available < 0
    );
    has_address := exists (
      select
      from address a
      where
        a.tenant_id = p_tenant
        and a.livemode = p_live
        and a.linked_id = s.account_id
        and a.category = 'user_payout'
        and a.status = 'activated'
    );
    scheduled := (
      select j.due + v_ahead
      from job j
      where j.tenant_id = p_tenant and j.livemode = p_live and j.kind = 'pay_out' and j.subject_id = s.account_id
      order by j.due
      limit 1
    );
    currency := null;
    available := null;
    target := null;
    amount := null;
    rate := null;
    rate_set_at := null;
    for b in
      select x.*
      from balance x
      where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = s.account_id and x.available > 0
      order by x.currency
    loop
      currency := b.currency;
      available := b.available;
      target := (
        select a.currency
        from address a
        where
          a.tenant_id = p_tenant
          and a.livemode = p_live
          and a.linked_id = s.account_id
          and a.category = 'user_payout'
          and a.status = 'activated'
        order by (a.currency = b.currency) desc, a.created desc, a.id desc
        limit 1
      );
      select e.amount, e.rate into v_amount, v_rate from exchanged(p_tenant, p_live, available, currency, target) e;
      amount := v_amount;
      rate := v_rate;
      rate_set_at := (
        select r.created
        from rate r
        where
          r.tenant_id = p_tenant
          and r.livemode = p_live
          and r.source = b.currency
          and r.target = payout_facts.target
      );
      return next;
    end loop;
    if not found then
      return next;
    end if;
  end loop;
end;
$$;
