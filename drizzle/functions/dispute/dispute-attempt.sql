-- Disputes of attempts that were taken in another currency.

-- Keeps what a chargeback has taken back of an attempt that the acquirer took in another currency, once under its
-- reference. Nothing of it was credited, so no balance has the money, and it has no deposit: all of it is unexplained,
-- as what was taken is. By default it is all that the attempt took. The same again changes nothing; another attempt,
-- amount or currency under the reference is a conflict, and so is an attempt that took nothing.
-- Without an event: no account sees it.
create or replace function dispute_attempt(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof unexplained
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of('id text, reference text, reasonCode text, amount? bigint, currency? text, acquirerReason? text null')
  );
  v_reference text := checked_reference(v_args ->> 'reference', 'deposit.reference');
  t transaction;
  u unexplained;
  v_amount bigint;
  v_currency text;
begin
  select x.* into t from transaction x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id';
  if (t.taken_currency <> t.currency and t.deposit_id is null) is not true then
    perform refuse(
      409,
      'state_conflict',
      'attempt.status',
      'is not that of an attempt that took another currency. If it has credited a deposit, dispute the deposit.'
    );
  end if;
  v_amount := coalesce((v_args ->> 'amount')::bigint, t.taken_amount);
  v_currency := coalesce(v_args ->> 'currency', t.taken_currency);
  if v_amount <= 0 then
    perform refuse(402, 'amount_exceeds_deposit', 'attempt.amount');
  end if;
  u := insert_taken_back(
    p_tenant,
    p_live,
    t.id,
    null,
    v_amount,
    v_currency,
    v_reference,
    concat_ws(': ', 'Chargeback, ' || (v_args ->> 'reasonCode'), v_args ->> 'acquirerReason')
  );
  if u.id is null then
    select x.*
    into u
    from unexplained x
    where x.tenant_id = p_tenant and x.livemode = p_live and x.reference = v_reference;
    if (u.transaction_id, u.amount, u.currency) is distinct from (t.id, -v_amount, v_currency) then
      perform refuse(409, 'state_conflict', 'deposit.reference', 'was already recorded with different content');
    end if;
  elseif v_currency = t.taken_currency and v_amount > t.taken_amount then
    perform refuse(402, 'amount_exceeds_deposit', 'attempt.amount', 'is more than the attempt took');
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(u));
  return next u;
end;
$$;
