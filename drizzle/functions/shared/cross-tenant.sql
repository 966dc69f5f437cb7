-- Queries over the tables of all tenants of a node.

-- Runs a query for each of the shards that a node holds, in place of the tables that the query names in double quotes
-- behind `from` or `join`, and returns the rows of all. `p_tenant` belongs to one of these shards, so that the call
-- runs on that node: a query over all nodes would fail when one of them does not answer. A database that is not
-- distributed has one node. Each row is a JSON array of the columns.
create or replace function cross_tenant_query(p_tenant text, p_query text)
returns table (found jsonb)
language plpgsql
stable
as $$
declare
  s record;
  v_query text;
  v_all text;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    return query execute p_query;
    return;
  end if;
  for s in execute
    'select array_agg(t.relname::text) as tables, array_agg(t.relname || ''_'' || d.shardid) as shards
      from pg_dist_shard d
        join pg_dist_placement p on p.shardid = d.shardid and p.shardstate = 1
        join pg_dist_local_group l on l.groupid = p.groupid
        join pg_class t on t.oid = d.logicalrelid
      where $1 ~ (''(from|join) "'' || t.relname || ''"'')
      group by d.shardminvalue'
    using p_query loop
    v_query := p_query;
    for i in 1..cardinality(s.tables) loop
      -- A table without an alias keeps its name.
      v_query := regexp_replace(
        v_query,
        '(from|join) "' || s.tables[i] || '"(?=\s+(where|order|limit|group)\M)',
        format('\1 %I "%s"', s.shards[i], s.tables[i]),
        'g'
      );
      v_query := regexp_replace(v_query, '(from|join) "' || s.tables[i] || '"', format('\1 %I', s.shards[i]), 'g');
    end loop;
    v_all := concat_ws(' union all ', v_all, '(' || v_query || ')');
  end loop;
  if v_all is not null then
    return query execute v_all;
  end if;
end;
$$;
