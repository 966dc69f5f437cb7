-- JSON objects that writes merge and store, and the names of their keys.

-- Merges two objects: absent children stay, null clears a child, and nested objects merge in the same way.
create or replace function merge_object(p_old jsonb, p_new jsonb)
returns jsonb
language plpgsql
immutable
as $$
declare
  r jsonb := case
    when jsonb_typeof(p_old) = 'object' then p_old
    else '{}'
  end;
  e record;
begin
  if jsonb_typeof(p_new) is distinct from 'object' then
    return '{}';
  end if;
  for e in select * from jsonb_each(p_new) loop
    r := r || jsonb_build_object(
      e.key,
      case
        when jsonb_typeof(e.value) = 'object' then merge_object(r -> e.key, e.value)
        else e.value
      end
    );
  end loop;
  return r;
end;
$$;

-- Merges metadata key by key. "" or null unsets a key; in place of the whole map it unsets all keys. Empty metadata
-- becomes SQL null. The number of keys is checked on the merged result, so concurrent updates cannot exceed it.
create or replace function merge_metadata(p_old jsonb, p_new jsonb, p_field text)
returns jsonb
language plpgsql
immutable
as $$
declare
  r jsonb := coalesce(p_old, '{}');
  e record;
begin
  if jsonb_typeof(p_new) is distinct from 'object' then
    return null;
  end if;
  for e in select * from jsonb_each_text(p_new) loop
    if coalesce(e.value, '') = '' then
      r := r - e.key;
    else
      r := r || jsonb_build_object(e.key, e.value);
    end if;
  end loop;
  if (select count(*) from jsonb_object_keys(r)) > metadata_keys_max() then
    perform refuse(
      400,
      'parameter_invalid',
      p_field,
      format('must have at most %s keys; unset some first', metadata_keys_max())
    );
  end if;
  return nullif(r, '{}');
end;
$$;

-- A stored row without its columns that are null, as readers of stored rows expect an absent column to be null. Nulls
-- inside a column remain, because they are part of its value. Most rows have none of these, and then need no query.
create or replace function without_null_columns(p_row jsonb)
returns jsonb
language plpgsql
immutable
as $$
begin
  if jsonb_path_exists(p_row, '$.*.**{1 to last} ? (@ == null)') then
    return (
      select coalesce(jsonb_object_agg(k, v), '{}')
      from jsonb_each(p_row) e (k, v)
      where v <> 'null'
    );
  end if;
  return jsonb_strip_nulls(p_row);
end;
$$;

create or replace function camel(p_snake text)
returns text
language plpgsql
immutable
as $$
declare
  w text;
  r text := '';
begin
  foreach w in array string_to_array(p_snake, '_') loop
    r := r || case
      when r = '' then w
      else upper(left(w, 1)) || substr(w, 2)
    end;
  end loop;
  return r;
end;
$$;
