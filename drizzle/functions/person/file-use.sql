-- Where files are used. Each view has a row per object and file, also where an object names a file twice. Each of its
-- parts has an index of the objects by that file.
-- Statements name the tenant, the mode and the file, so each part reads only the entries of the file.

create or replace view account_file as
  select t.tenant_id, t.livemode, t.id, t.created, t.logo_id as file_id
  from account t
  where (t.logo_id) is not null
  union all
  select t.tenant_id, t.livemode, t.id, t.created, t.supporting_documentation ->> 'idDocument' as file_id
  from account t
  where
    (t.supporting_documentation ->> 'idDocument') is not null
    and (t.supporting_documentation ->> 'idDocument') is distinct from (t.logo_id)
  union all
  select
    t.tenant_id,
    t.livemode,
    t.id,
    t.created,
    t.supporting_documentation ->> 'ownershipStructureDocument' as file_id
  from account t
  where
    (t.supporting_documentation ->> 'ownershipStructureDocument') is not null
    and (t.supporting_documentation ->> 'ownershipStructureDocument') is distinct from (t.logo_id)
    and (t.supporting_documentation ->> 'ownershipStructureDocument') is distinct from (
      t.supporting_documentation ->> 'idDocument'
    )
  union all
  select t.tenant_id, t.livemode, t.id, t.created, t.supporting_documentation ->> 'physicalAddressDocument' as file_id
  from account t
  where
    (t.supporting_documentation ->> 'physicalAddressDocument') is not null
    and (t.supporting_documentation ->> 'physicalAddressDocument') is distinct from (t.logo_id)
    and (t.supporting_documentation ->> 'physicalAddressDocument') is distinct from (
      t.supporting_documentation ->> 'idDocument'
    )
    and (t.supporting_documentation ->> 'physicalAddressDocument') is distinct from (
      t.supporting_documentation ->> 'ownershipStructureDocument'
    );

create or replace view address_file as
  select t.tenant_id, t.livemode, t.id, t.created, t.supporting_documentation ->> 'idDocument' as file_id
  from address t
  where (t.supporting_documentation ->> 'idDocument') is not null;

create or replace view person_file as
  select t.tenant_id, t.livemode, t.id, t.created, t.identification ->> 'taxCardImage' as file_id
  from person t
  where (t.identification ->> 'taxCardImage') is not null
  union all
  select t.tenant_id, t.livemode, t.id, t.created, t.identification ->> 'passportImage' as file_id
  from person t
  where
    (t.identification ->> 'passportImage') is not null
    and (t.identification ->> 'passportImage') is distinct from (t.identification ->> 'taxCardImage');

create or replace view receivable_file as
  select t.tenant_id, t.livemode, t.id, t.created, t.invoice ->> 'document' as file_id
  from receivable t
  where (t.invoice ->> 'document') is not null;
