-- What takes money of one deposit back in live mode: a bank's recall, and a chargeback that opens a dispute. Each is
-- recorded once under its reference.
--
-- Longer than 60 lines: dispute_once (what was recorded before, the dispute, and its record).

-- The notice of received money that a recall names. Of several from before that differ in white space around their
-- references, the one with the exact reference comes first, and then one whose money is still there. Refuses a
-- reference under which nothing was received, and one of another address or currency.
create or replace function recalled_transfer(p_tenant text, p_live boolean, p_reference text, p_content jsonb)
returns bank_notice
language plpgsql
stable
as $$
declare
  x bank_notice;
  n bank_notice;
begin
  for x in
    select b.*
    from bank_notices_under(p_tenant, p_live, btrim(p_reference, white_space())) b
    where b.event = 'received'
    order by b.reference = p_reference desc, b.created, b.reference
  loop
    if
      x.reference = p_reference
      or exists (
        select
        from deposit d
        where d.tenant_id = p_tenant and d.livemode = p_live and d.id = x.deposit_id and d.status = 'completed'
      )
    then
      n := x;
      exit;
    elseif n.reference is null then
      n := x;
    end if;
  end loop;
  if n.reference is null then
    perform refuse(
      404,
      'resource_missing',
      'deposit.original_reference',
      'No received transfer has this reference. Record its receipt first, and then the recall.'
    );
  end if;
  -- The amount of a recall is its own.
  perform same_transfer(p_content || jsonb_build_object('amount', n.content ->> 'amount'), n.content);
  return n;
end;
$$;

-- Disputes a deposit once under a reference, and returns the deposit with the negative amount. The same again changes
-- nothing, whatever has become of the deposit; another deposit, amount or reason under the reference is a conflict.
-- What is NULL is not compared: the amount is then all that is left, and the reason `general`. What is reported beyond
-- what refunds and disputes have left of the deposit is in no balance: it is unexplained. So is a fee that an acquirer
-- takes back beside the deposit of its attempt. The caller has locked the balances of the deposit, so that two that
-- record the same run one after the other, and has called keep_taken_back for a deposit that has nothing left. Without
-- an event: the dispute has its own events.
create or replace function dispute_once(
  p_tenant text,
  p_live boolean,
  p_envelope jsonb,
  p_kind text,
  p_reference text,
  p_deposit text,
  p_amount bigint,
  p_reason text
)
returns deposit
language plpgsql
as $$
declare
  c clawback;
  v deposit;
  v_left bigint;
  v_most bigint;
  v_beyond bigint;
begin
  select x.*
  into c
  from clawback x
  where x.tenant_id = p_tenant and x.livemode = p_live and x.kind = p_kind and x.reference = p_reference;
  if found then
    if
      c.disputes_id <> p_deposit
      or c.amount + coalesce(c.beyond, 0) <> coalesce(p_amount, c.amount + coalesce(c.beyond, 0))
      or c.reason_code <> coalesce(p_reason, c.reason_code)
    then
      perform refuse(409, 'state_conflict', 'deposit.reference', 'was already recorded with different content');
    end if;
    select d.* into v from deposit d where d.tenant_id = p_tenant and d.livemode = p_live and d.id = c.deposit_id;
    return v;
  end if;
  select d.amount - d.disputed, greatest(d.amount, coalesce(t.taken_amount, t.amount))
  into v_left, v_most
  from
    deposit d
    left join transaction t on t.tenant_id = p_tenant and t.livemode = p_live and t.deposit_id = d.id
  where d.tenant_id = p_tenant and d.livemode = p_live and d.id = p_deposit;
  v := dispute_deposit(
    p_tenant,
    p_live,
    p_envelope - 'key',
    jsonb_build_object(
      'id',
      p_deposit,
      'amount',
      case
        when p_amount > v_left
        and p_amount <= v_most then v_left
        else p_amount
      end::text,
      'reasonCode',
      p_reason,
      'bankReference',
      p_reference
    )
  );
  v_beyond := nullif(p_amount + v.amount, 0);
  insert into clawback
    (tenant_id, livemode, kind, reference, created, disputes_id, deposit_id, amount, reason_code, beyond)
  values
    (p_tenant, p_live, p_kind, p_reference, v.created, p_deposit, v.id, -v.amount, v.reason_code, v_beyond)
  on conflict (tenant_id, livemode, kind, reference) do nothing;
  -- Another deposit was disputed under the reference meanwhile. The refusal undoes this dispute.
  if not found then
    perform refuse(409, 'state_conflict', 'deposit.reference', 'was already recorded with different content');
  end if;
  if v_beyond is not null then
    perform insert_unexplained(p_tenant, p_live, null, v.id, v.payment_id, -v_beyond, v.currency, 'beyond_deposit');
  end if;
  return v;
end;
$$;

-- Records that a bank has taken a part of a received transfer back, or all of it, under a reference of its own. Returns
-- the deposit with the negative amount, or none where refunds and disputes have left nothing of the transfer: what was
-- taken is then unexplained, under the same reference.
create or replace function record_bank_recall(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof deposit
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'reference text, originalReference text, reasonCode? text,
        content object {toAccountId text, toAddressId text, amount bigint, currency text}'
    )
  );
  v_content jsonb := v_args -> 'content';
  v_reference text := checked_reference(v_args ->> 'reference', 'deposit.reference');
  v_amount bigint := (v_content ->> 'amount')::bigint;
  v_recalled text;
  v deposit;
begin
  -- The notices about one transfer run one after the other, as in record_bank_notice.
  v.to_account_id := v_content ->> 'toAccountId';
  v.currency := v_content ->> 'currency';
  perform lock_money_of(p_tenant, p_live, v);
  -- A second recall under the reference of the transfer could not be told from the first one sent again.
  if exists (select from bank_notices_under(p_tenant, p_live, v_reference) b where b.event = 'received') then
    perform refuse(
      409,
      'state_conflict',
      'deposit.reference',
      'is that of a received transfer. Send the reference that the bank has given to the recall.'
    );
  end if;
  v_recalled := (recalled_transfer(p_tenant, p_live, v_args ->> 'originalReference', v_content)).deposit_id;
  if
    keep_taken_back(
      p_tenant,
      p_live,
      'recall',
      v_reference,
      v_recalled,
      v_amount,
      null,
      concat_ws(', ', 'Recall', v_args ->> 'reasonCode')
    )
  then
    return;
  end if;
  v := dispute_once(p_tenant, p_live, p_envelope, 'recall', v_reference, v_recalled, v_amount, v_args ->> 'reasonCode');
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
