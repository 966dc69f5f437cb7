import type postgres from 'postgres';
import { ofDeployment } from './tables.js';

/** A function of the schema as the cluster knows it. */
interface Unregistered {
  signature: string;
  /** Whether its first argument is a tenant, so that a call runs on the node of that tenant. */
  ofTenant: boolean;
}

/**
 * The functions that the workers do not have, and those with a tenant whose calls would not run on its node. Citus
 * sends a replaced function to all nodes, but a new one has to be registered. The functions about the whole deployment
 * use local tables of the coordinator and stay there.
 */
export async function unregistered(sql: postgres.ISql): Promise<Unregistered[]> {
  return sql<Unregistered[]>`
    select p.oid::regprocedure::text as signature, coalesce(p.proargnames[1] = 'p_tenant', false) as "ofTenant"
    from pg_proc p left join pg_dist_object d on d.classid = 'pg_proc'::regclass and d.objid = p.oid
    where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
      and not exists (
        select from pg_depend e where e.classid = 'pg_proc'::regclass and e.objid = p.oid and e.deptype = 'e')
      and p.proname <> 'tg_distribute' and p.prosrc !~ ${localTables}
      and p.oid::regprocedure::text !~ ${localTables}
      and (d.objid is null
        or coalesce(p.proargnames[1] = 'p_tenant', false) and d.distribution_argument_index is distinct from 0)
    order by 2, 1`;
}

/** Registers functions on all nodes; returns their number. */
export async function register(sql: postgres.ISql): Promise<number> {
  const found = await unregistered(sql);
  for (const { signature, ofTenant } of found)
    await (ofTenant
      ? sql`select create_distributed_function(${signature}::regprocedure, 'p_tenant', colocate_with => 'account')`
      : sql`select create_distributed_function(${signature}::regprocedure)`);
  return found.length;
}

/** Matches the name of a table that is on the coordinator alone. */
const localTables = `\\m(${Object.keys(ofDeployment).join('|')})\\M`;

/**
 * Explains a call of each function of a tenant: which of them go to one node, and which do not. A call for a tenant of
 * the coordinator runs there and is sent nowhere, so that another node's tenant is asked about.
 */
export async function placesOfCalls(sql: postgres.ISql): Promise<{ onOneNode: number; elsewhere: string[] }> {
  const [tenant] = await sql<{ key: string }[]>`
    select 'node ' || i as key from generate_series(1, 500) i
      join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('account', 'node ' || i)
    where p.groupid <> 0 limit 1`;
  const functions = await sql<{ name: string; call: string }[]>`
    select p.proname::text as name, format('%I(%L%s)', p.proname, ${tenant?.key ?? ''}::text, (
      select string_agg(', null::' || format_type(t.oid, null), '' order by t.n)
      from unnest(p.proargtypes[1:]) with ordinality t(oid, n))) as call
    from pg_proc p join pg_dist_object d on d.classid = 'pg_proc'::regclass and d.objid = p.oid
    where p.pronamespace = 'public'::regnamespace and d.distribution_argument_index = 0`;
  const elsewhere: string[] = [];
  for (const { name, call } of tenant ? functions : []) {
    const plan = await sql.unsafe(`explain select * from ${call}`);
    if (!plan.some((row) => String(row['QUERY PLAN']).endsWith('Task Count: 1'))) elsewhere.push(name);
  }
  return { onOneNode: functions.length - elsewhere.length, elsewhere };
}
