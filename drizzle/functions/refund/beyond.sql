-- What a bank or an acquirer took back beyond what refunds had left of a deposit, once such a refund fails.
--
-- Longer than 60 lines: cover_beyond (one loop over what was taken beyond).

-- Takes what a refund that failed has given back, as far as more was taken back than was left of its deposit: by a
-- further deposit with a negative amount under the reference of the dispute or the recall. Where the deposit was
-- reversed, the reversal has taken it. So much of the unexplained money is covered, where it has not come back by the
-- dispute that was won. Of a deposit that was reversed before it does not: it is then a part of what the bank has.
create or replace function cover_beyond(p_tenant text, p_live boolean, p_envelope jsonb, p_refund refund)
returns void
language plpgsql
as $$
declare
  d deposit;
  v deposit;
  u unexplained;
  v_share bigint;
  v_rest bigint := p_refund.amount;
  v_now bigint := clock(p_tenant, p_live);
begin
  select x.* into d from deposit x where x.tenant_id = p_tenant and x.livemode = p_live and x.id = p_refund.deposit_id;
  for u in
    select x.*
    from
      unexplained x
      join deposit n on n.tenant_id = x.tenant_id and n.livemode = x.livemode and n.id = x.deposit_id
    where
      x.tenant_id = p_tenant
      and x.livemode = p_live
      and x.covered < -x.amount
      and x.decision is distinct from 'won'
      and x.currency = d.currency
      and d.id in (n.id, n.disputes_id)
    order by x.created, x.id
  loop
    exit when v_rest = 0;
    v_share := least(v_rest, -u.amount - u.covered);
    if d.status = 'completed' then
      select n.* into v from deposit n where n.tenant_id = p_tenant and n.livemode = p_live and n.id = u.deposit_id;
      v := dispute_deposit(
        p_tenant,
        p_live,
        p_envelope - 'key',
        jsonb_build_object(
          'id',
          d.id,
          'amount',
          v_share::text,
          'reasonCode',
          coalesce(v.reason_code, 'general'),
          'bankReference',
          coalesce(u.reference, v.bank_details ->> 'reference')
        )
      );
      perform post_outside(
        p_tenant,
        p_live,
        'unexplained',
        v.id,
        v.payment_id,
        'dispute',
        'unexplained',
        v_share,
        d.currency
      );
    end if;
    update unexplained x
    set
      covered = x.covered + v_share,
      status = case
        when x.covered + v_share = -x.amount then 'resolved'
        else x.status
      end,
      resolution = coalesce(
        x.resolution,
        case
          when x.covered + v_share = -x.amount then 'Taken from the account when its refund failed.'
        end
      ),
      resolved_by = coalesce(
        x.resolved_by,
        case
          when x.covered + v_share = -x.amount then 'tidegate'
        end
      ),
      resolved_at = coalesce(
        x.resolved_at,
        case
          when x.covered + v_share = -x.amount then greatest(v_now, x.created)
        end
      )
    where x.tenant_id = p_tenant and x.livemode = p_live and x.id = u.id;
    v_rest := v_rest - v_share;
  end loop;
  if d.status <> 'completed' and v_rest < p_refund.amount then
    perform post_outside(
      p_tenant,
      p_live,
      'unexplained',
      p_refund.id,
      p_refund.payment_id,
      'dispute',
      'unexplained',
      p_refund.amount - v_rest,
      d.currency
    );
  end if;
end;
$$;
