-- Settings: the owner's changes, and the order of receiving addresses that follows when a kind or a currency is
-- switched on.
--
-- Longer than 60 lines: update_account_setting (one update with its rules).

create or replace function update_account_setting(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof account_setting
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'id text, address? object null, addressCurrency? object null, metadata? object null,
        payouts? object {enabled? boolean null, interval? text null, weeklyAnchor? int null,
        monthlyAnchor? int null} null, autoReconcile? boolean null'
    )
  );
  v account_setting;
  p jsonb := coalesce(nullif(v_args -> 'payouts', 'null'), '{}');
  v_interval text;
  v_problems jsonb;
  v_offers jsonb := coalesce(v_args -> 'address', '{}');
  v_currencies jsonb := coalesce(v_args -> 'addressCurrency', '{}');
  v_matches boolean;
  v_now bigint := clock(p_tenant, p_live);
begin
  -- Lock the row first: the anchors must fit the interval that the row will have.
  select s.*
  into v
  from account_setting s
  where s.tenant_id = p_tenant and s.livemode = p_live and s.id = v_args ->> 'id'
  for update;
  if not found then
    perform refuse(404, 'resource_missing', 'account_setting.id');
  end if;
  v_matches := not v.auto_reconcile and coalesce((v_args ->> 'autoReconcile')::boolean, false);
  v_interval := coalesce(p ->> 'interval', v.payouts_interval);
  if p ->> 'weeklyAnchor' is not null and v_interval <> 'weekly' then
    perform refuse(
      400,
      'parameter_invalid',
      'account_setting.payouts.weekly_anchor',
      'is possible with a weekly interval only. Choose that interval, or leave this out.'
    );
  end if;
  if p ->> 'monthlyAnchor' is not null and v_interval <> 'monthly' then
    perform refuse(
      400,
      'parameter_invalid',
      'account_setting.payouts.monthly_anchor',
      'is possible with a monthly interval only. Choose that interval, or leave this out.'
    );
  end if;
  update account_setting s
  set
    address = case
      when v_args ? 'address' then merge_object(s.address, v_args -> 'address')
      else s.address
    end,
    address_currency = case
      when v_args ? 'addressCurrency' then merge_object(s.address_currency, v_args -> 'addressCurrency')
      else s.address_currency
    end,
    metadata = case
      when v_args ? 'metadata' then merge_metadata(s.metadata, v_args -> 'metadata', 'account_setting.metadata')
      else s.metadata
    end,
    platform_hold = case
      when p ->> 'enabled' is null then s.platform_hold
      else not (p ->> 'enabled')::boolean
    end,
    auto_reconcile = coalesce((v_args ->> 'autoReconcile')::boolean, s.auto_reconcile),
    payouts_interval = v_interval,
    payouts_weekly_anchor = case
      when v_interval = 'weekly' then coalesce((p ->> 'weeklyAnchor')::smallint, s.payouts_weekly_anchor, 1)
    end,
    payouts_monthly_anchor = case
      when v_interval = 'monthly' then coalesce((p ->> 'monthlyAnchor')::smallint, s.payouts_monthly_anchor, 1)
    end,
    version = s.version + 1,
    updated_at = greatest(s.updated_at, v_now)
  where s.tenant_id = p_tenant and s.livemode = p_live and s.id = v.id
  returning *
  into v;
  -- A kind of address that is switched on needs at least one currency. The check reads the merged row, because the call
  -- may set one half of a contradiction while the row has the other; it covers only the kinds that this call names.
  v_problems := (
    select
      jsonb_agg(
        jsonb_build_object(
          'code',
          'parameter_invalid',
          'field',
          'account_setting.' || case
            when v_currencies ? k.kind then 'address_currency.'
            else 'address.'
          end || k.name,
          'message',
          case
            when v_currencies ? k.kind then 'must have at least one currency while address.' || k.name || ' is true'
            else 'needs at least one currency in address_currency.' || k.name
          end
        )
        order by k.kind
      )
    from
      (
        select x as kind, lower(regexp_replace(x, '([A-Z])', '_\1', 'g')) as name
        from jsonb_object_keys(v_offers || v_currencies) x
      ) k
    where (v.address ->> k.kind)::boolean and v.address_currency -> k.kind = '[]'
  );
  if v_problems is not null then
    raise exception using errcode = 'TG400', message = 'parameter_invalid', detail = v_problems::text;
  end if;
  if (v_args ? 'address' or v_args ? 'addressCurrency') and v.account_id = 'account_' || p_tenant then
    perform enqueue(p_tenant, p_live, 'offer_addresses', v.account_id, 0);
  end if;
  if v_args ? 'payouts' then
    perform reschedule_payout(p_tenant, p_live, v.account_id);
  end if;
  if v_matches then
    perform enqueue(p_tenant, p_live, 'match_deposits', v.account_id, 0);
  end if;
  perform emit_event(p_tenant, p_live, p_envelope, 'account_setting.updated', 'account_setting', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;

-- Only the operator places and lifts a service hold.
create or replace function set_service_hold(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof account_setting
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('accountId text, hold boolean'));
  v account_setting;
  v_now bigint := clock(p_tenant, p_live);
begin
  update account_setting s
  set
    service_hold = (v_args ->> 'hold')::boolean,
    version = s.version + 1,
    updated_at = greatest(s.updated_at, v_now)
  where s.tenant_id = p_tenant and s.livemode = p_live and s.account_id = v_args ->> 'accountId'
  returning *
  into v;
  if not found then
    perform refuse(404, 'resource_missing', 'account_setting.account_id');
  end if;
  if v.service_hold and not v.payouts_applicable then
    perform refuse(
      400,
      'account_type_invalid',
      'account_setting.account_id',
      'The account has no payouts that could be held. Name an account whose settings have payouts.'
    );
  end if;
  perform reschedule_payout(p_tenant, p_live, v.account_id);
  perform emit_event(p_tenant, p_live, p_envelope, 'account_setting.updated', 'account_setting', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
