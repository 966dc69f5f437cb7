-- Search. Each object has entries: for each of its words the text from that word on, and one for each pair of its
-- metadata. A search reads one range of the entries of one list, so it costs the same for rare, absent and frequent
-- texts. The functions that write an object write its entries.

-- A text as search compares it: in lower case, without accents, with one space in place of what is no letter or digit.
-- The separators are listed by their codes, because classes of characters depend on the locale of the database.
create or replace function search_text(p_text text)
returns text
language plpgsql
immutable
as $$
declare
  v_text text := p_text;
  v_ascii constant text := '\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7';
  v_other constant text := '\u2000-\u206f\u3000-\u3004\u3008-\u3020\ufe50-\ufe6b';
begin
  if octet_length(v_text) > length(v_text) then
    v_text := regexp_replace(normalize(v_text, NFKD), '[\u0300-\u036f]+', '', 'g');
  end if;
  return btrim(regexp_replace(lower(v_text), '[' || v_ascii || v_other || ']+', ' ', 'g'));
end;
$$;

-- The start of an entry for a pair of metadata, or without a value the start of the entries of all pairs with a key.
-- It begins with a character that no searched text has. Of a long value it has a hash.
create or replace function metadata_start(p_key text, p_value text)
returns text
language plpgsql
immutable
as $$
begin
  return '=' || p_key || '=' || case
    when p_value is null then ''
    when length(p_value) <= 48 then p_value
    else left(p_value, 16) || md5(p_value)
  end;
end;
$$;

-- What an object is found by: at most 12 texts of at most 32 characters. They are each text from each of its first four
-- words on, and each value of metadata from its beginning.
create or replace function search_starts(p_texts text[], p_metadata jsonb)
returns text[]
language plpgsql
immutable
as $$
declare
  v_texts text[] := p_texts;
  v_starts text[] := '{}';
  v_rest text;
  v_start text;
  v_index int := 0;
  v_words int;
  v_at int;
begin
  -- Without metadata there is no query, which would take longer than the rest.
  if p_metadata is not null then
    v_texts := v_texts || array(select m.value from jsonb_each_text(p_metadata) m order by m.key collate "C");
  end if;
  foreach v_rest in array v_texts loop
    v_index := v_index + 1;
    v_words := case
      when v_index <= cardinality(p_texts) then 4
      else 1
    end;
    v_rest := search_text(left(v_rest, 500));
    while v_rest <> ''
    and v_words > 0
    and cardinality(v_starts) < 12 loop
      v_start := left(v_rest, 32);
      if v_start <> all (v_starts) then
        v_starts := v_starts || v_start;
      end if;
      v_words := v_words - 1;
      v_at := strpos(v_rest, ' ');
      v_rest := case
        when v_at > 0 then substr(v_rest, v_at + 1)
        else ''
      end;
    end loop;
  end loop;
  return v_starts;
end;
$$;

-- The first of an object's texts that begins with the searched text: its position among the objects that match. NULL
-- for an object that does not match.
create or replace function search_position(p_texts text[], p_metadata jsonb, p_search text)
returns text
language plpgsql
immutable
as $$
declare
  v_search text := left(search_text(p_search), 32);
begin
  return (
    select min(s collate "C")
    from unnest(search_starts(p_texts, p_metadata)) s
    where v_search <> '' and starts_with(s, v_search)
  );
end;
$$;

-- The list of a kind of object: of one account, or the root list without an account.
create or replace function search_list(p_object text, p_account text)
returns bigint
language plpgsql
immutable
as $$
begin
  return hashtextextended(p_object || ' ' || coalesce(p_account, ''), 0);
end;
$$;

-- The starts of all entries of an object, from its row. A deposit is found by what its bank says of it, which all see
-- who see the deposit, and by the names of its payer, if the account whose list the deposit is on sees the payer: a
-- search must not reveal the name of another account.
create or replace function entry_starts(p_tenant text, p_live boolean, p_object text, p_row jsonb)
returns text[]
language plpgsql
stable
as $$
declare
  v_metadata jsonb := nullif(p_row -> 'metadata', 'null');
  v_texts text[] := case p_object
    when 'account' then array[
      p_row ->> 'nickname',
      p_row -> 'business_details' ->> 'legalName',
      p_row -> 'business_details' ->> 'email'
    ]
    when 'receivable' then array[p_row -> 'invoice' ->> 'referenceNumber']
    else array[
      p_row ->> 'statement_descriptor',
      p_row -> 'bank_details' ->> 'reference',
      p_row -> 'bank_details' ->> 'payerName'
    ]
  end;
  v_payer text := p_row ->> 'from_account_id';
begin
  if v_payer is not null then
    v_texts := v_texts || (
      select array[a.nickname, a.business_details ->> 'legalName']
      from account a
      where a.tenant_id = p_tenant and a.livemode = p_live and a.id = v_payer and a.context_id = p_row ->> 'context_id'
    );
  end if;
  if v_metadata is null then
    return search_starts(v_texts, null);
  end if;
  return search_starts(v_texts, v_metadata) || array(
    select metadata_start(m.key, m.value) from jsonb_each_text(v_metadata) m
  );
end;
$$;

-- Writes the entries of an object for its new row, in place of those for its old row, which is NULL for a new object.
-- Returns the object's id.
create or replace function index_object(p_tenant text, p_live boolean, p_object text, p_old jsonb, p_new jsonb)
returns text
language plpgsql
as $$
declare
  v_id text := p_new ->> 'id';
  v_age bigint := -(p_new ->> 'created')::bigint;
  v_list bigint := search_list(p_object, p_new ->> 'context_id');
  v_root bigint := case
    when (p_new ->> 'on_root_list')::boolean then search_list(p_object, null)
  end;
  v_new text[] := entry_starts(p_tenant, p_live, p_object, p_new);
  v_old text[];
begin
  -- A new object has no entries: without `on conflict` the insert takes less time.
  if p_old is null then
    insert into search_entry
      (tenant_id, livemode, list, root_list, start, age, id)
    select p_tenant, p_live, v_list, v_root, s, v_age, v_id
    from unnest(v_new) s;
    return v_id;
  end if;
  v_old := entry_starts(p_tenant, p_live, p_object, p_old);
  delete from search_entry e
  where
    e.tenant_id = p_tenant
    and e.livemode = p_live
    and e.list = v_list
    and e.start = any (v_old)
    and e.start <> all (v_new)
    and e.age = v_age
    and e.id = v_id;
  insert into search_entry
    (tenant_id, livemode, list, root_list, start, age, id)
  select p_tenant, p_live, v_list, v_root, s, v_age, v_id
  from unnest(v_new) s
  where s <> all (v_old)
  on conflict do nothing;
  return v_id;
end;
$$;
