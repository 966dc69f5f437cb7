-- The sandbox bank, which issues receiving addresses in test mode.

-- Invented account details of the sandbox bank: a random number, and routing codes that clearly belong to a sandbox.
create or replace function sandbox_bank_account(p_currency text)
returns jsonb
language plpgsql
volatile
as $$
declare
  v_number text := '9' || lpad(
    (('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint % 10000000000000)::text,
    13,
    '0'
  );
begin
  return jsonb_build_object(
    'bankName',
    'Tidegate Sandbox Bank',
    'number',
    v_number,
    'last4',
    right(v_number, 4),
    'type',
    'all'
  ) || case
    when p_currency = 'INR' then jsonb_build_object(
      'domesticCredit',
      'TGSB0000001',
      'domesticFastCredit',
      'TGSB0000001',
      'domesticWire',
      'TGSB0000001'
    )
    when p_currency = 'USD' then jsonb_build_object(
      'domesticCredit',
      '000000019',
      'domesticDebit',
      '000000019',
      'domesticWire',
      '000000019',
      'globalWire',
      'TGSBUS00'
    )
    else jsonb_build_object('globalWire', 'TGSBUS00')
  end;
end;
$$;

-- The sandbox bank issues one receiving address for each missing currency of an order, and the account's `address`
-- becomes activated. If the setting was switched off after the order, there may be no address to activate.
create or replace function issue_addresses(p_tenant text, p_live boolean, p_envelope jsonb, p_id text)
returns void
language plpgsql
as $$
declare
  v account;
  c text;
  v_state text;
  v_now bigint := clock(p_tenant, p_live);
begin
  select a.*
  into v
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id
  for no key update;
  if v.status <> 'activated' or v.address not in ('requested', 'processing') then
    return;
  end if;
  foreach c in array missing_currencies(p_tenant, p_live, v) loop
    perform insert_address(
      p_tenant,
      p_live,
      p_envelope,
      v,
      'service_receive',
      'bank_account',
      c,
      p_name => v.business_details ->> 'legalName',
      p_bank_account => sandbox_bank_account(c)
    );
  end loop;
  v_state := receiving_state(p_tenant, p_live, p_id);
  update account a
  set
    address = v_state,
    version = a.version + 1,
    updated_at = greatest(a.updated_at, v_now)
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_id
  returning *
  into v;
  perform emit_event(p_tenant, p_live, p_envelope, 'account.updated', 'account', to_jsonb(v));
end;
$$;

-- The sandbox bank begins to process the order for an account's addresses.
create or replace function job_process_addresses(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v account;
  v_now bigint := clock(p_tenant, p_live);
begin
  update account a
  set
    address = 'processing',
    version = a.version + 1,
    updated_at = greatest(a.updated_at, v_now)
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.id = p_job.subject_id
    and a.address = 'requested'
    and a.status = 'activated'
  returning *
  into v;
  if found then
    perform emit_event(p_tenant, p_live, '{}', 'account.updated', 'account', to_jsonb(v));
    perform enqueue(p_tenant, p_live, 'issue_addresses', p_job.subject_id, 1);
  end if;
end;
$$;

-- The sandbox bank issues the addresses.
create or replace function job_issue_addresses(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  perform issue_addresses(p_tenant, p_live, '{}', p_job.subject_id);
end;
$$;
