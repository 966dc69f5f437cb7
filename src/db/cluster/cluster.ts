import type postgres from 'postgres';
import { inTurn } from '../schema/advisory-lock.js';
import { type Connection, single } from '../connect/driver/connection.js';
import { grant } from '../schema/privileges.js';
import { MigrationError } from '../schema/schema-version.js';
import { breaches } from './node-privileges.js';
import { distributionOf } from './tables.js';

/** A cluster that cannot do what was asked. The message is one or more sentences for the operator. */
export class ClusterError extends MigrationError {}

/** The address of a node. */
export interface NodeAddress {
  host: string;
  port: number;
}

/** How shards are moved: writes to them wait for its end. Moves without waiting did not end when they were tried. */
const mode = 'block_writes';

/** What every change of a cluster ends with. */
export interface Guarded {
  /** The privileges that do not protect the append-only tables, on any node; empty after a change that succeeded. */
  unprotected: string[];
}

/**
 * Runs a change of the cluster, one at a time, and then withholds the privileges on append-only tables again and looks
 * for them on all nodes: Citus gives a shard that it has moved or split the owner's privileges again.
 */
export async function changed<T extends object>(
  connection: Connection,
  change: (sql: postgres.Sql) => Promise<T>,
): Promise<T & Guarded> {
  const sql = single(connection, 'tidegate cluster');
  try {
    if ((await distributionOf(sql)) !== 'distributed')
      throw new ClusterError('This database is not distributed. Run the command "tidegate cluster init".');
    let result: T | undefined;
    try {
      result = await change(sql);
    } finally {
      // Also when the change has failed half way.
      await protect(sql);
    }
    return { ...result, unprotected: await breaches(sql) };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

const protect = (sql: postgres.Sql) => inTurn(sql, 'migrate', 60, undefined, (tx) => grant(tx, undefined));

/** Adds a node, which gets no shard before a rebalancing. Citus leaves this to a superuser. */
export async function addNode(sql: postgres.Sql, { host, port }: NodeAddress): Promise<{ node: string }> {
  await sql`select citus_add_node(${host}, ${port}::int)`.catch((error: { code?: string; message: string }) => {
    if (error.code !== '42501') throw new ClusterError(`The node ${host}:${port} could not be added: ${error.message}`);
    throw new ClusterError('Citus lets only a superuser add a node: set MIGRATION_URL to the address of one.');
  });
  return { node: `${host}:${port}` };
}

/** Spreads the shards over the nodes again; resolves when all have been moved. `moved` learns of how many. */
export async function rebalance(
  sql: postgres.Sql,
  moved: (done: number, of: number) => void = () => {},
): Promise<{ shards: number }> {
  const [planned] = await sql`select count(*)::int as shards from get_rebalance_table_shards_plan()`;
  if (planned!.shards === 0) return { shards: 0 };
  const [before] = await sql`select coalesce(max(job_id), 0) as job from citus_rebalance_status()`;
  await sql`select citus_rebalance_start(shard_transfer_mode => ${mode})`;
  for (;;) {
    // A task moves the shards of all tables that belong together.
    const [job] = await sql`select j.job_id, j.state::text, t.done, t.of from citus_rebalance_status() j,
      lateral (select coalesce(sum(n::int) filter (where state = 'done'), 0)::int as done, coalesce(sum(n::int), 0)::int
        as of from jsonb_each_text(j.details -> 'task_state_counts') c (state, n)) t
      order by j.job_id desc limit 1`;
    if (job && job.job_id > before!.job) {
      if (job.of > 0) moved(job.done as number, job.of as number);
      if (job.state === 'finished') return { shards: planned!.shards };
    }
    if (job && /^(failed|cancelled)$/.test(job.state as string))
      throw new ClusterError(`The rebalancing has ${job.state}: select * from citus_rebalance_status() says why.`);
    await new Promise((resume) => setTimeout(resume, 500));
  }
}

/** Gives a tenant a shard of its own, on the node where it is. */
export async function isolate(sql: postgres.Sql, tenantId: string): Promise<{ shard: string; node: string }> {
  await known(sql, tenantId);
  const alone = await sql`
    select from pg_dist_shard where logicalrelid = 'account'::regclass and shardminvalue = shardmaxvalue
      and shardid = get_shard_id_for_distribution_column('account', ${tenantId}::text)`;
  if (alone.length === 0)
    await sql`select isolate_tenant_to_new_shard('account', ${tenantId}::text, 'CASCADE', ${mode})`;
  return placeOf(sql, tenantId);
}

/** Moves the shard of a tenant, with all others in it, to another node. */
export async function move(
  sql: postgres.Sql,
  tenantId: string,
  to: NodeAddress,
): Promise<{ shard: string; node: string }> {
  await known(sql, tenantId);
  const { shard, node } = await placeOf(sql, tenantId);
  if (node === `${to.host}:${to.port}`) return { shard, node };
  const cut = node.lastIndexOf(':');
  await sql`select citus_move_shard_placement(${shard}::bigint, ${node.slice(0, cut)}, ${node.slice(cut + 1)}::int,
    ${to.host}, ${to.port}::int, ${mode})`.catch((error: Error) => {
    throw new ClusterError(`The shard ${shard} could not be moved to ${to.host}:${to.port}: ${error.message}`);
  });
  return placeOf(sql, tenantId);
}

async function placeOf(sql: postgres.Sql, tenantId: string): Promise<{ shard: string; node: string }> {
  const [row] = await sql`
    select p.shardid::text as shard, n.nodename || ':' || n.nodeport as node
    from pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
    where p.shardid = get_shard_id_for_distribution_column('account', ${tenantId}::text)`;
  return { shard: String(row!.shard), node: String(row!.node) };
}

async function known(sql: postgres.Sql, tenantId: string): Promise<void> {
  const found = await sql`select from account where tenant_id = ${tenantId} and id = ${`account_${tenantId}`} limit 1`;
  if (found.length === 0) throw new ClusterError(`There is no root account account_${tenantId}.`);
}
