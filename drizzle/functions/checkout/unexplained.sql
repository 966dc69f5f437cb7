-- Money that an acquirer took with an attempt, and that the attempt does not explain.

-- Stores such money, and posts it from the acquirer to its contra account: it is in no balance. The posting belongs to
-- the attempt's payment, or to the row itself where the attempt has none.
create or replace function insert_unexplained(
  p_tenant text,
  p_live boolean,
  p_transaction transaction,
  p_amount bigint,
  p_currency text,
  p_reason text
)
returns text
language plpgsql
as $$
declare
  v_id text := new_id('unexplained');
  v_posting text := new_id('posting');
  v_contra text := new_id('contra');
  v_other text := new_id('contra');
  v_now bigint := clock(p_tenant, p_live);
begin
  insert into unexplained (tenant_id, livemode, id, created, transaction_id, amount, currency, reason, status)
  values (p_tenant, p_live, v_id, v_now, p_transaction.id, p_amount, p_currency, p_reason, 'open');
  insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
  values (p_tenant, p_live, v_posting, v_now, 'unexplained', v_id, coalesce(p_transaction.payment_id, v_id));
  insert into unsealed (tenant_id, livemode, posting_id) values (p_tenant, p_live, v_posting);
  insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
  values
    (p_tenant, p_live, v_contra, v_now, v_posting, 'acquirer', -p_amount, p_currency),
    (p_tenant, p_live, v_other, v_now, v_posting, 'unexplained', p_amount, p_currency);
  return v_id;
end;
$$;

-- Stores what an attempt's success took beyond the attempt, or in another currency, if it did.
create or replace function keep_unexplained(p_tenant text, p_live boolean, p_transaction transaction)
returns void
language plpgsql
as $$
declare
  v transaction := p_transaction;
begin
  if v.taken_currency <> v.currency then
    perform insert_unexplained(p_tenant, p_live, v, v.taken_amount, v.taken_currency, 'other_currency');
  elseif v.taken_amount > v.amount then
    perform insert_unexplained(p_tenant, p_live, v, v.taken_amount - v.amount, v.currency, 'beyond_attempt');
  end if;
end;
$$;

-- Records what became of it, once. It moves nothing.
-- Without an event: no account sees it.
create or replace function resolve_unexplained(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof unexplained
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, resolution text, resolvedBy text'));
  v unexplained;
  v_now bigint := clock(p_tenant, p_live);
begin
  update unexplained x
  set
    status = 'resolved',
    resolution = v_args ->> 'resolution',
    resolved_by = v_args ->> 'resolvedBy',
    resolved_at = greatest(v_now, x.created)
  where x.tenant_id = p_tenant and x.livemode = p_live and x.id = v_args ->> 'id' and x.status = 'open'
  returning *
  into v;
  if not found then
    perform refuse(400, 'status_invalid', 'unexplained.status');
  end if;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
