-- The secrets of webhook endpoints, encrypted in rows.

-- Replaces secrets that were read with ones that are encrypted under another key: [{id, was, sealed}, …]. A secret
-- that was rotated meanwhile is found as the previous one, and one that is gone stays so.
-- Without an event: the same secrets sign the deliveries.
create or replace function seal_webhook_secrets(p_tenant text, p_live boolean, p_secrets jsonb)
returns void
language plpgsql
as $$
declare
  c jsonb;
begin
  for c in select jsonb_array_elements(p_secrets) loop
    update webhook_endpoint w
    set
      secret_sealed = case
        when w.secret_sealed = c ->> 'was' then c ->> 'sealed'
        else w.secret_sealed
      end,
      previous_secret_sealed = case
        when w.previous_secret_sealed = c ->> 'was' then c ->> 'sealed'
        else w.previous_secret_sealed
      end
    where
      w.tenant_id = p_tenant
      and w.livemode = p_live
      and w.id = c ->> 'id'
      and c ->> 'was' in (w.secret_sealed, w.previous_secret_sealed);
  end loop;
end;
$$;
