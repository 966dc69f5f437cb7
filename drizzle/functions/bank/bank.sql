-- Live mode: notices from banks, and the operator's decisions about them.
--
-- Longer than 60 lines: record_bank_notice (one decision per state of the reference).

-- Records a notice from a bank. The same notice again changes nothing. Other content under its reference is a conflict,
-- and so is a reversal of another transfer than the received one; keys of the content that the notice leaves open
-- (`open`) are not compared, and neither is what it does not say of the payer (`details`), which the deposit has. A
-- reversal that comes before its deposit waits, and is carried out when the deposit arrives.
create or replace function record_bank_notice(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof bank_notice
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'reference text, event text, content object {toAccountId text, toAddressId text, amount bigint, currency text,
        fromAccountId text null, paymentMethod text, statementDescriptor text null},
        open? text[], allowCurrency? boolean, details? object'
    )
  );
  n bank_notice;
  o bank_notice;
  v_now bigint := clock(p_tenant, p_live);
  v_content jsonb := v_args -> 'content';
  v_id text;
  v_receiver text;
  v_reference text;
  v_open text[] := array(select jsonb_array_elements_text(coalesce(v_args -> 'open', '[]')));
begin
  -- These locks make two notices about one transfer run one after the other, in either order: the second sees what the
  -- first has done.
  v_receiver := receiver_of(p_tenant, p_live, v_content ->> 'toAccountId');
  perform lock_balances(
    p_tenant,
    p_live,
    jsonb_build_array(
      jsonb_build_object('account', v_content ->> 'toAccountId', 'currency', v_content ->> 'currency'),
      jsonb_build_object('account', v_receiver, 'currency', v_content ->> 'currency'),
      jsonb_build_object('account', transfer_target(p_tenant, p_live, v_receiver), 'currency', v_content ->> 'currency')
    )
  );
  v_reference := stored_reference(p_tenant, p_live, v_args ->> 'reference', v_args ->> 'event', v_content);
  insert into bank_notice (tenant_id, livemode, reference, event, created, content)
  values (p_tenant, p_live, v_reference, v_args ->> 'event', v_now, v_content)
  on conflict (tenant_id, livemode, reference, event) do nothing
  returning *
  into n;
  if not found then
    select b.*
    into n
    from bank_notice b
    where b.tenant_id = p_tenant and b.livemode = p_live and b.reference = v_reference and b.event = v_args ->> 'event';
    if n.content - v_open <> v_content - v_open then
      perform refuse(409, 'state_conflict', 'deposit.reference', 'was already recorded with different content');
    end if;
    perform refuse_other_details(p_tenant, p_live, n.deposit_id, v_args -> 'details');
    if n.event = 'reversed' then
      perform refuse_other_deposit(p_tenant, p_live, v_reference);
    end if;
    perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(n));
    return next n;
    return;
  end if;
  select b.*
  into o
  from bank_notice b
  where b.tenant_id = p_tenant and b.livemode = p_live and b.reference = n.reference and b.event <> n.event
  for update;
  perform same_transfer(v_content, o.content);
  -- Once per reference: a repeated notice, or the reversal of an allowed transfer, needs no permission.
  if o.reference is null and not coalesce((v_args ->> 'allowCurrency')::boolean, false) then
    perform refuse_other_currency(p_tenant, p_live, v_content);
  end if;
  if n.event = 'received' then
    perform refuse_without_details(p_tenant, p_live, v_content);
    v_id := receive_transfer(
      p_tenant,
      p_live,
      p_envelope,
      v_content || jsonb_build_object(
        'bankDetails',
        jsonb_build_object('reference', n.reference) || coalesce(v_args -> 'details', '{}')
      ),
      v_now
    );
    update bank_notice b
    set deposit_id = v_id
    where b.tenant_id = p_tenant and b.livemode = p_live and b.reference = n.reference;
    if o.event = 'reversed' then
      perform reverse_transfer(p_tenant, p_live, p_envelope, v_id);
    end if;
  else
    if o.deposit_id is null then
      perform emit_root_event(p_tenant, p_live, p_envelope, 'bank_notice.waiting', 'bank_notice', to_jsonb(n));
    else
      update bank_notice b
      set deposit_id = o.deposit_id
      where b.tenant_id = p_tenant and b.livemode = p_live and b.reference = n.reference and b.event = 'reversed';
      perform reverse_transfer(p_tenant, p_live, p_envelope, o.deposit_id);
    end if;
  end if;
  select b.*
  into n
  from bank_notice b
  where b.tenant_id = p_tenant and b.livemode = p_live and b.reference = n.reference and b.event = n.event;
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(n));
  return next n;
end;
$$;

-- Refuses other words about the payer than those that were recorded with the deposit.
create or replace function refuse_other_details(p_tenant text, p_live boolean, p_deposit text, p_details jsonb)
returns void
language plpgsql
stable
as $$
begin
  if
    exists (
      select
      from deposit d
      where
        d.tenant_id = p_tenant
        and d.livemode = p_live
        and d.id = p_deposit
        and coalesce(d.bank_details, '{}') || p_details <> coalesce(d.bank_details, '{}')
    )
  then
    perform refuse(409, 'state_conflict', 'deposit.reference', 'was already recorded with different content');
  end if;
end;
$$;

-- Refuses a transfer in another currency than its address, which needs the operator's permission.
create or replace function refuse_other_currency(p_tenant text, p_live boolean, p_content jsonb)
returns void
language plpgsql
stable
as $$
declare
  v_currency text := (
    select a.currency
    from address a
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_content ->> 'toAddressId'
  );
begin
  if v_currency <> p_content ->> 'currency' then
    perform refuse(
      400,
      'parameter_invalid',
      'deposit.currency',
      concat(
        'must be ',
        v_currency,
        ', the currency of the address; ',
        'the operator may allow another one (allowCurrency, --allow-currency)'
      )
    );
  end if;
end;
$$;

-- Refuses a transfer to the fee advance address of a platform whose details the operator has not recorded: no bank can
-- have sent money there. Earlier releases opened such addresses.
create or replace function refuse_without_details(p_tenant text, p_live boolean, p_content jsonb)
returns void
language plpgsql
stable
as $$
begin
  if
    exists (
      select
      from address a
      where
        a.tenant_id = p_tenant
        and a.livemode = p_live
        and a.id = p_content ->> 'toAddressId'
        and a.category = 'service_fee_advance'
        and a.bank_account is null
    )
  then
    perform refuse(
      402,
      'address_unusable',
      'deposit.address_id',
      'The address has no bank details, so it takes no money. Record its details first.'
    );
  end if;
end;
$$;

-- Refuses two notices under one reference that differ in the address, the currency or the amount.
create or replace function same_transfer(p_one jsonb, p_other jsonb)
returns void
language plpgsql
immutable
as $$
declare
  v_differs text := case
    when p_one ->> 'toAddressId' is distinct from p_other ->> 'toAddressId' then 'deposit.address_id'
    when p_one ->> 'currency' is distinct from p_other ->> 'currency' then 'deposit.currency'
    when p_one ->> 'amount' is distinct from p_other ->> 'amount' then 'deposit.amount'
  end;
begin
  if p_other is not null and v_differs is not null then
    perform refuse(
      409,
      'state_conflict',
      v_differs,
      'differs from what was recorded under this reference before. Send the same value, or another reference.'
    );
  end if;
end;
$$;

-- Removes a reversal that waits for its deposit; with a wrong reference it would wait for ever.
create or replace function withdraw_bank_notice(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof bank_notice
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('reference text, addressId text'));
  n bank_notice;
  v_reference text;
begin
  select w.reference
  into v_reference
  from bank_notices_under(p_tenant, p_live, btrim(v_args ->> 'reference', white_space())) w
  where w.event = 'reversed' and w.deposit_id is null and w.content ->> 'toAddressId' = v_args ->> 'addressId'
  order by w.reference = v_args ->> 'reference' desc, w.created, w.reference
  limit 1;
  delete from bank_notice b
  where
    b.tenant_id = p_tenant
    and b.livemode = p_live
    and b.reference = v_reference
    and b.event = 'reversed'
    and b.deposit_id is null
    and b.content ->> 'toAddressId' = v_args ->> 'addressId'
  returning *
  into n;
  if not found then
    perform refuse(404, 'resource_missing', 'deposit.reference', 'No pending reversal has this reference.');
  end if;
  perform emit_root_event(p_tenant, p_live, p_envelope, 'bank_notice.withdrawn', 'bank_notice', to_jsonb(n));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(n));
  return next n;
end;
$$;
