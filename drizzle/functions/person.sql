-- Args: those of the call, and `alone`: the types of business that have one person and no more, in the account's edition.
create or replace function create_person(p_tenant text, p_live boolean, p_call jsonb, p_args jsonb) returns setof person language plpgsql as $$
declare v person; o account; v_now bigint := clock(p_tenant, p_live); v_id text := new_id('person');
begin
  select a.* into o from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_args ->> 'accountId' for no key update;
  -- No person can be taken back: one too many would keep the business from being activated for good.
  if p_args -> 'alone' ? (o.business_details ->> 'type')
    and exists (select from person x where x.tenant_id = p_tenant and x.livemode = p_live and x.account_id = o.id) then
    perform refuse(400, 'status_invalid', 'person.account_id', 'is of a sole proprietor or an individual, who has its one person already');
  end if;
  insert into person (tenant_id, livemode, id, created, account_id, full_name, relationship, identification, metadata, context_id, on_root_list)
  select p_tenant, p_live, v_id, v_now, a.id, p_args ->> 'fullName', coalesce(p_args -> 'relationship', '{}'), coalesce(p_args -> 'identification', '{}'),
         merge_metadata(null, p_args -> 'metadata', 'person.metadata'), a.context_id, a.on_root_list
  from account a where a.tenant_id = p_tenant and a.livemode = p_live and a.id = p_args ->> 'accountId'
  returning * into v;
  perform tell(p_tenant, p_live, p_call, 'person.created', 'person', to_jsonb(v));
  perform answer(p_tenant, p_live, p_call, to_jsonb(v));
  return next v;
end $$;
