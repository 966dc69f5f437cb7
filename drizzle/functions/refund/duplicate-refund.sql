-- Refunds of duplicates: money that an acquirer took for a checkout that was paid already.

-- Refunds all that a duplicate took, once. Its deposit has failed, so the money is in no balance: no account is
-- debited, and the acquirer sends back what it took, the fee included.
create or replace function refund_duplicate(p_tenant text, p_live boolean, p_transaction text)
returns refund
language plpgsql
as $$
declare
  d deposit;
  r refund;
  t transaction;
  v_to account;
begin
  select x.*
  into t
  from transaction x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_transaction;
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = t.deposit_id;
  select a.* into v_to from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = d.to_account_id;
  r.tenant_id := p_tenant;
  r.livemode := p_live;
  r.id := new_id('refund');
  r.created := clock(p_tenant, p_live);
  r.account_id := d.to_account_id;
  r.deposit_id := d.id;
  r.checkout_id := t.checkout_id;
  r.amount := coalesce(t.taken_amount, t.amount);
  r.currency := t.currency;
  r.status := 'pending';
  r.reason := 'The checkout was paid twice.';
  r.from_pending := 0;
  r.context_id := d.context_id;
  r.on_root_list := d.on_root_list;
  r.version := 0;
  r.payment_id := insert_payment(p_tenant, p_live, v_to, 'refund', -r.amount, r.currency, 'processing', null);
  insert into refund select x.* from unnest(array[r]) x;
  perform emit_event(p_tenant, p_live, '{}', 'refund.created', 'refund', to_jsonb(r) - 'freed_locks');
  return r;
end;
$$;

-- Ends the refund of a duplicate. What the acquirer could not send back is unexplained, for the operator.
create or replace function end_duplicate_refund(p_tenant text, p_live boolean, p_refund refund)
returns void
language plpgsql
as $$
declare
  r refund := p_refund;
  t transaction;
begin
  if r.status = 'succeeded' then
    perform post_outside(
      p_tenant,
      p_live,
      'refund_end',
      r.id,
      r.payment_id,
      'acquirer',
      'refund',
      r.amount,
      r.currency
    );
    return;
  end if;
  select x.*
  into t
  from transaction x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.deposit_id = r.deposit_id;
  perform insert_unexplained(p_tenant, p_live, t.id, null, r.payment_id, r.amount, r.currency, 'duplicate');
end;
$$;
