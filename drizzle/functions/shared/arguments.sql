-- The arguments of writes. The first line of each function declares the arguments that it takes, and the function
-- refuses a call with others.

-- A parsed declaration: its text, the keys, and a path that matches arguments that do not fit the declaration.
do $$
begin
  if to_regtype('declared_args') is null then
    create type declared_args as (declaration text, keys text[], misfit jsonpath);
  end if;
end;
$$;

-- The parts of a declaration such as 'id text, from text[], reasonCode? text null': the key as it is sent, `?` if it
-- may be absent, its type, and `null` if its value may be null. Types are text, boolean, object, text[], object[], int
-- (a JSON number) and bigint (a string of digits, which stays exact in every JSON parser). The members of an object, or
-- of each object of a list, follow in braces where the functions read them: 'shares object[] {id text, amount bigint}'.
-- `retired` follows a key that only older gateways send and that nothing else needs.
create or replace function declared_parts(p_declaration text)
returns table (key text, optional boolean, json_type text, nullable boolean, members text)
language plpgsql
immutable
as $$
declare
  v_part text;
  w text[];
begin
  -- A comma that a closing brace follows before any opening one separates members.
  foreach v_part in array regexp_split_to_array(trim(p_declaration), '\s*,\s*(?![^{]*\})') loop
    w := regexp_match(
      v_part,
      '^(\w+)(\?)? (text|bigint|int|boolean|object|text\[\]|object\[\])(?: \{([^{}]+)\})?( null)?( retired)?$'
    );
    if w is null then
      raise exception 'an argument cannot be declared by "%"', v_part;
    end if;
    key := w[1];
    optional := w[2] is not null;
    json_type := case
      when w[3] in ('text', 'bigint') then 'string'
      when w[3] = 'int' then 'number'
      when w[3] like '%[]' then 'array'
      else w[3]
    end;
    members := w[4];
    nullable := w[5] is not null;
    return next;
  end loop;
end;
$$;

-- The condition, in the language of JSON paths, that the object at a path does not fit a declaration. Unknown keys of
-- the object itself are not part of it.
create or replace function mismatch_path(p_path text, p_declaration text)
returns text
language plpgsql
immutable
as $$
declare
  r text[];
  p record;
  v_path text;
begin
  for p in select * from declared_parts(p_declaration) loop
    v_path := format('%s."%s"', p_path, p.key);
    if not p.optional then
      r := r || format('!exists(%s)', v_path);
    end if;
    r := r || concat(
      format('%s.type() != "%s"', v_path, p.json_type),
      case
        when p.nullable then format(' && %s != null', v_path)
      end
    );
    if p.members is not null then
      if p.json_type = 'array' then
        v_path := v_path || '[*]';
        r := r || format('%s.type() != "object"', v_path);
      end if;
      v_path := v_path || ' ? (@.type() == "object")';
      r := r || format('exists(%s ? (%s))', v_path, mismatch_path('@', p.members));
      r := r || format(
        'exists(%s.keyvalue() ? (%s))',
        v_path,
        (select string_agg(format('@.key != "%s"', m.key), ' && ') from declared_parts(p.members) m)
      );
    end if;
  end loop;
  return array_to_string(r, ' || ');
end;
$$;

-- Parses a declaration for `check_args`. The function is immutable and its argument is a constant, so PostgreSQL
-- computes it once per session, when it plans the line of the call.
create or replace function args_of(p_declaration text)
returns declared_args
language plpgsql
immutable
as $$
declare
  r declared_args;
begin
  r.declaration := p_declaration;
  r.keys := array(select p.key from declared_parts(p_declaration) p);
  r.misfit := format('$ ? (%s)', mismatch_path('$', p_declaration))::jsonpath;
  return r;
end;
$$;

-- The faults of arguments that do not fit their declaration, and of the members of their objects. `p_prefix` is the
-- place of the object in the arguments.
create or replace function argument_faults(p_args jsonb, p_declaration text, p_prefix text)
returns text[]
language plpgsql
immutable
as $$
declare
  r text[];
  v_object record;
begin
  r := array(
    select
      case
        when p.key is null then format('"%s%s" is not declared', p_prefix, a.key)
        when a.key is null then format('"%s%s" is missing', p_prefix, p.key)
        else format('"%s%s" is of type %s instead of %s', p_prefix, p.key, jsonb_typeof(a.value), p.json_type)
      end
    from
      jsonb_each(p_args) a (key, value)
      full join declared_parts(p_declaration) p on p.key = a.key
    where
      p.key is null
      or (a.key is null and not p.optional)
      or (jsonb_typeof(a.value) <> p.json_type and not (p.nullable and a.value = 'null'))
    order by coalesce(p.key, a.key)
  );
  for v_object in
    select
      d.members,
      e.value,
      p_prefix || d.key || case d.json_type
        when 'array' then format('[%s]', e.n - 1)
        else ''
      end as place
    from
      declared_parts(p_declaration) d
      cross join lateral jsonb_array_elements(
        case jsonb_typeof(p_args -> d.key)
          when 'array' then p_args -> d.key
          when 'object' then jsonb_build_array(p_args -> d.key)
          else '[]'
        end
      ) with ordinality e (value, n)
    where d.members is not null
    order by d.key, e.n
  loop
    r := r || case jsonb_typeof(v_object.value)
      when 'object' then argument_faults(v_object.value, v_object.members, v_object.place || '.')
      else array[format('"%s" is of type %s instead of object', v_object.place, jsonb_typeof(v_object.value))]
    end;
  end loop;
  return r;
end;
$$;

-- Returns the arguments if they fit their declaration. An unknown key, a missing key and a wrong JSON type are bugs of
-- the calling program and not domain errors: the message, which is for the log, names the function and the keys.
create or replace function check_args(p_args jsonb, p_declared declared_args)
returns jsonb
language plpgsql
immutable
as $$
declare
  v_context text;
  v_function text;
  v_faults text;
begin
  if p_args - p_declared.keys = '{}' and not jsonb_path_exists(p_args, p_declared.misfit) then
    return p_args;
  end if;
  /* sql-parser-cst-disable */ get diagnostics v_context = pg_context; /* sql-parser-cst-enable */
  v_function := (regexp_match(v_context, 'function check_args.*?function (\w+)\('))[1];
  v_faults := array_to_string(argument_faults(p_args, p_declared.declaration, ''), ', ');
  raise exception using errcode = 'invalid_parameter_value', message = format('%s: %s', v_function, v_faults);
end;
$$;
