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
-- (a JSON number) and bigint (a string of digits, which stays exact in every JSON parser). `retired` follows a key that
-- only older gateways send and that nothing else needs.
create or replace function declared_parts(p_declaration text)
returns table (key text, optional boolean, json_type text, nullable boolean)
language plpgsql
immutable
as $$
declare
  v_part text;
  w text[];
begin
  foreach v_part in array regexp_split_to_array(trim(p_declaration), '\s*,\s*') loop
    w := regexp_match(v_part, '^(\w+)(\?)? (text|bigint|int|boolean|object|text\[\]|object\[\])( null)?( retired)?$');
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
    nullable := w[4] is not null;
    return next;
  end loop;
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
  p record;
  v_misfit text := '';
begin
  r.declaration := p_declaration;
  for p in select * from declared_parts(p_declaration) loop
    r.keys := r.keys || p.key;
    v_misfit := concat(
      v_misfit,
      case
        when v_misfit <> '' then ' || '
      end,
      case
        when not p.optional then format('!exists($."%s") || ', p.key)
      end,
      format('$."%s".type() != "%s"', p.key, p.json_type),
      case
        when p.nullable then format(' && $."%s" != null', p.key)
      end
    );
  end loop;
  r.misfit := format('$ ? (%s)', v_misfit)::jsonpath;
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
  v_faults := (
    select
      string_agg(
        case
          when p.key is null then format('"%s" is not declared', a.key)
          when a.key is null then format('"%s" is missing', p.key)
          else format('"%s" is of type %s instead of %s', p.key, jsonb_typeof(a.value), p.json_type)
        end,
        ', '
        order by coalesce(p.key, a.key)
      )
    from
      jsonb_each(p_args) a (key, value)
      full join declared_parts(p_declared.declaration) p on p.key = a.key
    where
      p.key is null
      or (a.key is null and not p.optional)
      or (jsonb_typeof(a.value) <> p.json_type and not (p.nullable and a.value = 'null'))
  );
  raise exception using errcode = 'invalid_parameter_value', message = format('%s: %s', v_function, v_faults);
end;
$$;
