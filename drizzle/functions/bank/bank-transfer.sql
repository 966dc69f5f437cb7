-- What a bank's notice about a transfer does: it makes a deposit, or reverses one.
--
-- Longer than 60 lines: receive_transfer (the parties, the payment and the deposit, in the order of their locks).

-- Creates the deposit of a transfer, and completes it. Returns its id.
create or replace function receive_transfer(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_content jsonb,
  p_now bigint
)
returns text
language plpgsql
as $$
declare
  v deposit;
  v_from account;
  v_to account;
  v_id text := new_id('deposit');
  v_payment text;
  v_address text;
begin
  select a.*
  into v_to
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_content ->> 'toAccountId';
  select a.*
  into v_from
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_content ->> 'fromAccountId'
  for no key update;
  if v_from.kind = 'partner' then
    v_address := payment_address(
      p_tenant,
      p_live,
      p_envelope,
      v_from,
      p_content ->> 'paymentMethod',
      p_content ->> 'currency'
    );
  end if;
  v_payment := insert_payment(
    p_tenant,
    p_live,
    v_to,
    'deposit',
    (p_content ->> 'amount')::bigint,
    p_content ->> 'currency',
    'processing',
    v_id
  );
  v.id := v_id;
  v.created := p_now;
  v.amount := (p_content ->> 'amount')::bigint;
  v.currency := p_content ->> 'currency';
  v.from_account_id := v_from.id;
  v.from_address_id := v_address;
  v.to_account_id := v_to.id;
  v.to_address_id := p_content ->> 'toAddressId';
  v.payment_method := p_content ->> 'paymentMethod';
  v.statement_descriptor := coalesce(p_content ->> 'statementDescriptor', '');
  v.status := 'processing';
  v.payment_id := v_payment;
  v.bank_details := p_content -> 'bankDetails';
  v.context_id := v_to.context_id;
  v.on_root_list := v_to.on_root_list or coalesce(v_from.on_root_list, false);
  perform insert_deposit(p_tenant, p_live, v);
  perform move_deposit(
    p_tenant,
    p_live,
    p_envelope - 'key',
    jsonb_build_object('id', v_id, 'from', jsonb_build_array('processing'), 'to', 'completed')
  );
  return v_id;
end;
$$;

-- Reverses the deposit of a transfer.
create or replace function reverse_transfer(p_tenant text, p_live boolean, p_envelope jsonb, p_deposit text)
returns void
language plpgsql
as $$
declare
  d deposit;
  v_beyond bigint;
begin
  perform move_deposit(
    p_tenant,
    p_live,
    p_envelope - 'key',
    jsonb_build_object(
      'id',
      p_deposit,
      'from',
      jsonb_build_array('completed'),
      'to',
      'reversed',
      'reasonCode',
      'general'
    )
  );
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_deposit;
  -- What a recall or a dispute took beyond the deposit is of the same refunds.
  select coalesce(sum(x.amount + x.covered), 0)
  into v_beyond
  from
    unexplained x
    join deposit n on n.tenant_id = x.tenant_id and n.livemode = x.livemode and n.id = x.deposit_id
  where
    x.tenant_id = p_tenant
    and x.livemode = p_live
    and x.decision is distinct from 'won'
    and x.currency = d.currency
    and d.id in (n.id, n.disputes_id);
  v_beyond := v_beyond + refunded_of(p_tenant, p_live, d.id);
  if v_beyond > 0 then
    perform insert_unexplained(p_tenant, p_live, null, d.id, d.payment_id, -v_beyond, d.currency, 'beyond_deposit');
  end if;
end;
$$;
