-- The worker's side. One call does due work of one tenant and mode; SKIP LOCKED keeps several workers apart,
-- and a job is deleted by the statement that did it, so it is done exactly once whatever dies.

create or replace function run_jobs(p_tenant text, p_live boolean, p_limit int) returns int language plpgsql as $$
declare j job; n int := 0; v_now bigint := wall_clock();
begin
  for j in
    select * from job where tenant_id = p_tenant and livemode = p_live and due <= v_now order by due, id limit p_limit for update skip locked
  loop
    begin
      perform run_job(p_tenant, p_live, j);
      delete from job where tenant_id = p_tenant and livemode = p_live and id = j.id;
    exception when others then
      -- One bad job must not stop the queue: it waits, longer each time, and keeps the reason for the operator.
      update job set attempts = attempts + 1, due = v_now + least(3600, 2 ^ least(attempts, 12))::bigint, error = sqlerrm
      where tenant_id = p_tenant and livemode = p_live and id = j.id;
    end;
    n := n + 1;
  end loop;
  return n;
end $$;

create or replace function run_job(p_tenant text, p_live boolean, j job) returns void language plpgsql as $$
declare v account; w account; d address; v_call jsonb := '{}'; n int := 0;
begin
  if j.kind = 'verify_account' then
    -- A test helper may have settled it first; then there is nothing left to do.
    if exists (select from account where tenant_id = p_tenant and livemode = p_live and id = j.subject_id and status = 'verifying') then
      perform move_account(p_tenant, p_live, v_call, jsonb_build_object('id', j.subject_id, 'from', jsonb_build_array('verifying'), 'to', 'activated'));
    end if;
  elsif j.kind = 'process_addresses' then
    update account a set address = 'processing', version = a.version + 1
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = j.subject_id and a.address = 'requested' and a.status = 'activated'
    returning * into v;
    if found then
      perform tell(p_tenant, p_live, v_call, 'account.updated', 'account', to_jsonb(v));
      perform enqueue(p_tenant, p_live, 'issue_addresses', j.subject_id, 1);
    end if;
  elsif j.kind = 'issue_addresses' then
    perform issue_addresses(p_tenant, p_live, v_call, j.subject_id);
  elsif j.kind = 'offer_addresses' then
    -- In batches by id, so that a large tenant never holds its rows for long.
    for v in
      select a.* from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.status = 'activated' and a.address_key is not null
        and a.id > coalesce(j.args ->> 'after', '') order by a.id limit 200
    loop
      perform open_account_addresses(p_tenant, p_live, v_call, v.id);
      select a.* into w from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v.id;
      if w.version <> v.version then perform tell(p_tenant, p_live, v_call, 'account.updated', 'account', to_jsonb(w)); end if;
      n := n + 1;
    end loop;
    if n = 200 then perform enqueue(p_tenant, p_live, j.kind, j.subject_id, 0, jsonb_build_object('after', v.id)); end if;
  elsif j.kind = 'retire_address' then
    update address a set status = 'deactivated', version = a.version + 1
    where a.tenant_id = p_tenant and a.livemode = p_live and a.id = j.subject_id and a.status = 'pending_deactivation'
      and not exists (select from payout y where y.tenant_id = p_tenant and y.livemode = p_live and y.address_id = a.id and y.status = 'processing')
    returning * into d;
    if found then perform tell(p_tenant, p_live, v_call, 'address.deactivated', 'address', to_jsonb(d)); end if;
  elsif j.kind = 'process_deposit' then
    if exists (select from deposit e where e.tenant_id = p_tenant and e.livemode = p_live and e.id = j.subject_id and e.status = 'initialized') then
      perform move_deposit(p_tenant, p_live, v_call, jsonb_build_object('id', j.subject_id, 'from', jsonb_build_array('initialized'), 'to', 'processing'));
      perform enqueue(p_tenant, p_live, 'complete_deposit', j.subject_id, 1);
    end if;
  elsif j.kind = 'complete_deposit' then
    if exists (select from deposit e where e.tenant_id = p_tenant and e.livemode = p_live and e.id = j.subject_id and e.status = 'processing') then
      perform move_deposit(p_tenant, p_live, v_call, jsonb_build_object('id', j.subject_id, 'from', jsonb_build_array('processing'), 'to', 'completed'));
    end if;
  elsif j.kind = 'pay_out' then
    perform pay_out(p_tenant, p_live, v_call, j.subject_id);
  elsif j.kind = 'settle_payout' then
    if exists (select from payout y where y.tenant_id = p_tenant and y.livemode = p_live and y.id = j.subject_id and y.status = 'processing') then
      perform move_payout(p_tenant, p_live, v_call, jsonb_build_object('id', j.subject_id, 'to', 'completed'));
    end if;
  elsif j.kind = 'expire_checkout' then
    if exists (select from checkout c where c.tenant_id = p_tenant and c.livemode = p_live and c.id = j.subject_id and c.status = 'initialized') then
      perform end_checkout(p_tenant, p_live, v_call, jsonb_build_object('id', j.subject_id, 'to', 'expired'));
    end if;
  elsif j.kind = 'expire_transaction' then
    perform settle_transaction(p_tenant, p_live, v_call, j.subject_id, 'failed', 'expired');
  elsif j.kind = 'settle_transaction' then
    perform settle_transaction(p_tenant, p_live, v_call, j.subject_id, j.args ->> 'status', j.args ->> 'reasonCode');
  else
    raise exception 'no such job: %', j.kind;
  end if;
end $$;
