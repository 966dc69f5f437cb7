import type postgres from 'postgres';

/**
 * The tables about the whole deployment, which have no tenant and stay local tables of the coordinator, with the
 * reason. No function of a tenant reads or writes them, so no shard needs them.
 */
export const ofDeployment: Record<string, string> = {
  operator: 'operators see all tenants',
  operator_session: 'a session belongs to an operator',
  operator_action: 'one chain of hashes has all actions, also those about no tenant or several',
  bank_mapping: 'a bank has one form of files for all tenants',
  bank_file: 'a file of a bank has money of several tenants',
  bank_statement: 'an account of the operator receives for several tenants',
  bank_line: 'whose money a line is may be open until an operator decides',
  own_account: 'an account of the operator pays for several tenants',
  payment_order: 'a bank is told to pay payouts of several tenants in one file',
  gateway_process: 'a process serves all tenants',
};

/** What a database is: without Citus, with Citus but with local tables only, or distributed by tenant. */
export type Distribution = 'plain' | 'local' | 'distributed';

/** Finds out whether a database is distributed: from its catalogue, without a setting. Asks no other node. */
export async function distributionOf(sql: postgres.ISql): Promise<Distribution> {
  const [found] = await sql`select to_regclass('pg_catalog.pg_dist_partition') is not null as citus`;
  if (!found!.citus) return 'plain';
  const [row] = await sql`
    select exists (select from pg_dist_partition where logicalrelid = to_regclass('public.account')) as yes`;
  return row!.yes ? 'distributed' : 'local';
}

/** The tables of tenants that no server has distributed yet, each behind those that its foreign keys refer to. */
export async function undistributed(sql: postgres.ISql): Promise<string[]> {
  const rows = await sql<{ name: string; parents: string[] }[]>`
    select c.relname::text as name,
      array(select r.relname::text from pg_constraint o join pg_class r on r.oid = o.confrelid
            where o.conrelid = c.oid and o.contype = 'f' and r.oid <> c.oid) as parents
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')
      and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
    order by c.relname <> 'account', c.relname`;
  const ordered: string[] = [];
  while (ordered.length < rows.length) {
    const waiting = rows.filter(({ name }) => !ordered.includes(name));
    const next = waiting.filter(({ parents }) => !waiting.some(({ name }) => parents.includes(name)));
    if (next.length === 0)
      throw new Error(`The foreign keys of ${waiting.map(({ name }) => name).join(', ')} form a circle.`);
    ordered.push(...next.map(({ name }) => name));
  }
  return ordered;
}

/** Distributes a table by tenant, together with all others: the rows of a tenant are on one node. */
export async function distribute(sql: postgres.ISql, table: string, shards: number): Promise<void> {
  if (table === 'account')
    await sql`select create_distributed_table(
      'account', 'tenant_id', shard_count => ${shards}::int, colocate_with => 'none')`;
  else await sql`select create_distributed_table(${table}::regclass, 'tenant_id', colocate_with => 'account')`;
}
