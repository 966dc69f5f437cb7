-- Rows of imports that were seen before: an object like theirs exists.

-- Refuses the row of an import whose object was seen before, with the id of that object; does nothing without an id.
create or replace function refuse_seen(p_field text, p_id text)
returns void
language plpgsql
immutable
as $$
begin
  if p_id is not null then
    raise exception
      using
        errcode = 'TG409',
        message = 'seen_before',
        detail = jsonb_build_array(
          jsonb_build_object('code', 'seen_before', 'field', p_field, 'metadata', jsonb_build_object('object_id', p_id))
        )::text;
  end if;
end;
$$;

-- Refuses the row of an import whose account, customer and reference number are those of a receivable that is not void.
-- Until their end, rows of one account wait here for each other, so that each sees what the others have stored.
create or replace function refuse_seen_receivable(p_tenant text, p_live boolean, p_args jsonb)
returns void
language plpgsql
as $$
declare
  v_account text := p_args ->> 'accountId';
  v_customer text := p_args ->> 'customerId';
  v_reference text := p_args -> 'invoice' ->> 'referenceNumber';
  v_seen text;
begin
  perform
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_account
  for no key update;
  select r.id
  into v_seen
  from receivable r
  where
    r.tenant_id = p_tenant
    and r.livemode = p_live
    and not r.voided
    and r.customer_id is not null
    and hashtextextended(r.customer_id || ' ' || (r.invoice ->> 'referenceNumber'), 0) = hashtextextended(
      v_customer || ' ' || v_reference,
      0
    )
    -- In a form for which no index of the customer or the account alone is used.
    and nullif(
      (r.account_id, r.customer_id, r.invoice ->> 'referenceNumber') = (v_account, v_customer, v_reference),
      false
    ) is not null
  limit 1;
  perform refuse_seen('receivable.invoice.reference_number', v_seen);
end;
$$;

-- Refuses the row of an import whose legal name and address are those of a partner of the same owner that is not
-- deactivated. Until their end, rows of one owner wait here for each other, so that each sees what the others have
-- stored.
create or replace function refuse_seen_partner(p_tenant text, p_live boolean, p_args jsonb)
returns void
language plpgsql
as $$
declare
  v_owner text := p_args ->> 'ownerId';
  v_name text := p_args -> 'businessDetails' ->> 'legalName';
  v_address jsonb := nullif(nullif(jsonb_strip_nulls(p_args -> 'businessDetails' -> 'physicalAddress'), 'null'), '{}');
  v_seen text;
begin
  perform
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_owner
  for no key update;
  select a.id
  into v_seen
  from account a
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.kind = 'partner'
    and hashtextextended(
      a.owner_id || ' ' || (a.business_details ->> 'legalName') || jsonb_strip_nulls(
        a.business_details -> 'physicalAddress'
      )::text,
      0
    ) = hashtextextended(v_owner || ' ' || v_name || v_address::text, 0)
    -- In a form for which no index of the owner or the status alone is used.
    and nullif(
      (a.owner_id, a.business_details ->> 'legalName', jsonb_strip_nulls(a.business_details -> 'physicalAddress')) = (
        v_owner,
        v_name,
        v_address
      )
      and a.status <> 'deactivated',
      false
    ) is not null
  limit 1;
  perform refuse_seen('account.business_details.legal_name', v_seen);
end;
$$;
