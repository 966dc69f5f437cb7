-- The status of an account: the one function that changes it, with all effects of the change.
--
-- Longer than 60 lines: move_account (the status and all its effects).

-- Changes an account's status if it is one of `from` and, where a version is given, the account is unchanged since
-- then. All effects of any change are here: payouts, receiving addresses, the sandbox's verification.
create or replace function move_account(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof account
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text, from text[], to text, version? int'));
  v account;
  v_id text := v_args ->> 'id';
  v_to text := v_args ->> 'to';
  a_address address;
  a_setting account_setting;
  v_from text[] := array(select jsonb_array_elements_text(v_args -> 'from'));
  v_now bigint := clock(p_tenant, p_live);
begin
  update account a
  set
    status = v_to,
    status_since = v_now,
    version = a.version + 1,
    updated_at = greatest(a.updated_at, v_now),
    address = case
      when v_to = 'deactivated' then 'deactivated'
      else a.address
    end
  where
    a.tenant_id = p_tenant
    and a.livemode = p_live
    and a.id = v_id
    and a.status = any (v_from)
    and (v_args ->> 'version' is null or a.version = (v_args ->> 'version')::bigint)
  returning *
  into v;
  if not found then
    if
      exists (
        select
        from account a
        where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_id and a.status = any (v_from)
      )
    then
      perform refuse(409, 'state_conflict', 'account.status');
    end if;
    perform refuse(400, 'status_invalid', 'account.status');
  end if;
  update account_setting s
  set
    account_activated = (v_to = 'activated'),
    version = s.version + 1,
    updated_at = greatest(s.updated_at, v_now)
  where
    s.tenant_id = p_tenant
    and s.livemode = p_live
    and s.account_id = v_id
    and s.account_activated <> (v_to = 'activated')
  returning *
  into a_setting;
  if found then
    perform emit_event(p_tenant, p_live, p_envelope, 'account_setting.updated', 'account_setting', to_jsonb(a_setting));
  end if;
  if v_to = 'verifying' and not p_live then
    perform enqueue(p_tenant, p_live, 'verify_account', v_id, 1);
  elseif v_to = 'activated' then
    perform open_account_addresses(p_tenant, p_live, p_envelope, v_id);
    perform reschedule_payout(p_tenant, p_live, v_id);
    select a.* into v from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_id;
  elseif v_to = 'deactivated' then
    for a_address in update address d
    set
      status = 'deactivated',
      version = d.version + 1,
      updated_at = greatest(d.updated_at, v_now)
    where
      d.tenant_id = p_tenant
      and d.livemode = p_live
      and d.linked_id = v_id
      and d.category = 'service_receive'
      and d.status = 'activated'
    returning * loop
      perform emit_event(p_tenant, p_live, p_envelope, 'address.deactivated', 'address', to_jsonb(a_address));
    end loop;
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'account.' || v_to, 'account', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- The sandbox verifies an account. A test helper may have done it first; then there is nothing left to do.
create or replace function job_verify_account(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
begin
  perform
  from account
  where tenant_id = p_tenant and livemode = p_live and id = p_job.subject_id and status = 'verifying'
  for no key update;
  if found then
    perform move_account(
      p_tenant,
      p_live,
      '{}',
      jsonb_build_object('id', p_job.subject_id, 'from', jsonb_build_array('verifying'), 'to', 'activated')
    );
  end if;
end;
$$;
