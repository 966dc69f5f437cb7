-- Files: their bytes and their descriptions.
--
-- Longer than 60 lines: store_file (one insert with its columns).

-- Stores a file. Its bytes arrive as base64 text beside the arguments: as JSON, PostgreSQL takes three to four times as
-- long for 10 MB. They are not part of the event or of the stored response.
create or replace function store_file(p_tenant text, p_live boolean, p_envelope jsonb, p_args jsonb, p_content text)
returns setof file
language plpgsql
as $$
declare
  v_args jsonb := check_args(
    p_args,
    args_of(
      'accountId text, purpose text, filename text, contentType text, size int, sha256 text, metadata? object null'
    )
  );
  v file;
  o account;
  v_now bigint := clock(p_tenant, p_live);
  v_id text := new_id('file');
begin
  select a.*
  into o
  from account a
  where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_args ->> 'accountId';
  insert into file
    (
      tenant_id,
      livemode,
      id,
      created,
      account_id,
      purpose,
      filename,
      content_type,
      size,
      sha256,
      metadata,
      context_id,
      on_root_list
    )
  values
    (
      p_tenant,
      p_live,
      v_id,
      v_now,
      o.id,
      v_args ->> 'purpose',
      v_args ->> 'filename',
      v_args ->> 'contentType',
      (v_args ->> 'size')::int,
      v_args ->> 'sha256',
      merge_metadata(null, v_args -> 'metadata', 'file.metadata'),
      o.context_id,
      o.on_root_list
    )
  returning *
  into v;
  insert into file_content (tenant_id, livemode, id, content)
  values (p_tenant, p_live, v_id, decode(p_content, 'base64'));
  perform emit_event(p_tenant, p_live, p_envelope, 'file.created', 'file', to_jsonb(v));
  perform store_idempotent_response(p_tenant, p_live, p_envelope, to_jsonb(v));
  return next v;
end;
$$;
