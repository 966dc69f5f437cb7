import type postgres from 'postgres';
import { breaches } from './node-privileges.js';
import { unregistered } from './functions.js';
import { distributionOf, type Distribution, undistributed } from './tables.js';

/** A node of a cluster, and what it holds. */
interface NodeStatus {
  node: string;
  coordinator: boolean;
  answers: boolean;
  /** The groups of shards that it holds: a tenant is in one of them. */
  shards: number;
  /** Groups with a single tenant. */
  isolated: number;
  bytes: string;
}

export interface ClusterStatus {
  distribution: Distribution;
  version?: string;
  nodes: NodeStatus[];
  /** The privileges that do not protect the append-only tables, and nodes that could not be asked. */
  unprotected: string[];
  /** Nodes on which a write would wait for a lock without a limit: the limits of a session end at the coordinator. */
  unlimited: string[];
  /** Tables of tenants that are not distributed, and functions that the nodes do not have. */
  undistributed: string[];
  unregistered: string[];
}

/** Says what a cluster consists of, and what is wrong with it. A node that does not answer is part of the answer. */
export async function clusterStatus(sql: postgres.Sql): Promise<ClusterStatus> {
  const distribution = await distributionOf(sql);
  const none = { nodes: [], unprotected: [], unlimited: [], undistributed: [], unregistered: [] };
  if (distribution === 'plain') return { distribution, ...none };
  const [{ version } = { version: '' }] =
    await sql`select extversion as version from pg_extension where extname = 'citus'`;
  const nodes = await sql<NodeStatus[]>`
    with answer as (
      select * from run_command_on_all_nodes($$select coalesce(sum(pg_total_relation_size(c.oid)), 0)
        from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'$$))
    select n.nodename || ':' || n.nodeport as node, n.groupid = 0 as coordinator, a.success as answers,
      count(s.shardid)::int as shards,
      (count(s.shardid) filter (where s.shardminvalue = s.shardmaxvalue))::int as isolated,
      case when a.success then a.result else '0' end as bytes
    from pg_dist_node n join answer a on a.nodeid = n.nodeid
      left join pg_dist_placement p on p.groupid = n.groupid
        and p.shardid in (select shardid from pg_dist_shard where logicalrelid = to_regclass('public.account'))
      left join pg_dist_shard s on s.shardid = p.shardid
    group by 1, 2, 3, 6 order by 2 desc, 1`;
  return {
    distribution,
    version: String(version),
    nodes: [...nodes],
    ...(distribution === 'local'
      ? { ...none, nodes: [...nodes] }
      : {
          unprotected: await breaches(sql),
          unlimited: await unlimited(sql),
          undistributed: await undistributed(sql),
          unregistered: (await unregistered(sql)).map(({ signature }) => signature),
        }),
  };
}

async function unlimited(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ node: string }[]>`
    select nodename || ':' || nodeport as node from run_command_on_workers('show lock_timeout')
    where result = '0' order by 1`;
  return rows.map(({ node }) => node);
}
