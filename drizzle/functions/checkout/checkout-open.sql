-- What the script of a payment page tells.

-- Notes that a browser has the page of a checkout open, at most once a minute whatever the number of pages.
-- Without an event: nothing that the checkout does depends on it.
create or replace function open_checkout(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb)
returns setof checkout
language plpgsql
as $$
declare
  v_args jsonb := check_args(p_args, args_of('id text'));
  v_now bigint := clock(p_tenant, p_live);
begin
  update checkout c
  set
    opened_at = v_now,
    version = c.version + 1,
    updated_at = greatest(c.updated_at, v_now)
  where
    c.tenant_id = p_tenant
    and c.livemode = p_live
    and c.id = v_args ->> 'id'
    and c.status = 'initialized'
    and c.expires_at > v_now
    and (c.opened_at is null or c.opened_at <= v_now - 60);
  return query select * from checkout c where c.tenant_id = p_tenant and c.livemode = p_live and c.id = v_args ->> 'id';
end;
$$;
