import { sql } from 'drizzle-orm';
import type postgres from 'postgres';

/**
 * What a node runs: its own tables and shards that are append-only, and the roles that may change them all the same. A
 * shard has the name of its table and a number.
 */
const ofNode = `
  select coalesce(string_agg(distinct
    c.relname || '': '' || coalesce(g.rolname::text, ''PUBLIC'') || '' has '' || a.privilege_type, E''\\n''), '''')
  from pg_class c
    cross join lateral aclexplode(coalesce(c.relacl, acldefault(''r'', c.relowner))) a
    left join pg_roles g on g.oid = a.grantee
  where c.relnamespace = ''public''::regnamespace and c.relkind = ''r''
    and c.relname ~ %L and a.privilege_type in (''UPDATE'', ''DELETE'', ''TRUNCATE'')
    and not coalesce(g.rolsuper, false)`;

/**
 * The privileges on append-only tables that any node grants, and the nodes that do not answer, as the source `v` with a
 * column `what`. Citus gives a shard that it has moved or split the owner's privileges again, so that the tables of the
 * coordinator alone say nothing.
 */
const ofAllNodes = `(
  select n.nodename || ':' || n.nodeport || ' ' ||
    case when r.success then b.what else 'does not answer: ' || r.result end as what
  from run_command_on_all_nodes(
    format('${ofNode}', '^(' || array_to_string(append_only_tables(), '|') || ')(_[0-9]+)?$')) r
    join pg_dist_node n on n.nodeid = r.nodeid
    cross join lateral regexp_split_to_table(r.result, E'\\n') b(what)
  where b.what <> '') v`;

/** The same for Drizzle. */
export const nodeBreaches = sql.raw(ofAllNodes);

/** The same as a list. */
export async function breaches(sql: postgres.ISql): Promise<string[]> {
  return (await sql.unsafe(`select what from ${ofAllNodes} order by 1`)).map(({ what }) => String(what));
}
