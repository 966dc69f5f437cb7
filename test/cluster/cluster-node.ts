import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import postgres from 'postgres';

/** A node of the cluster of CITUS_URL that runs on this machine. */
export interface ClusterNode {
  /** Its host and port, as the coordinator knows it. */
  name: string;
  /** Stops its server at once, as a crash would, and returns when it has ended. */
  stop(): void;
  start(): void;
}

/**
 * The nodes that hold tenants. Their servers are of this machine, and the role `postgres` reaches them without a
 * password: it says where their programs and data are.
 */
export async function clusterNodes(coordinator: postgres.Sql): Promise<ClusterNode[]> {
  const rows = await coordinator<{ host: string; port: number }[]>`
    select nodename as host, nodeport as port from pg_dist_node where groupid > 0 order by 2`;
  return Promise.all(rows.map(nodeAt));
}

async function nodeAt({ host, port }: { host: string; port: number }): Promise<ClusterNode> {
  const sql = postgres({ host, port, username: 'postgres', database: 'postgres', max: 1, onnotice: () => {} });
  const [row] = await sql<{ programs: string; data: string }[]>`
    select (select setting from pg_config where name = 'BINDIR') as programs,
      current_setting('data_directory') as data`;
  await sql.end();
  const { programs, data } = row!;
  // PostgreSQL refuses to run as root, so the owner of the data starts it.
  const { uid, gid } = fs.statSync(data);
  const control = (...args: string[]): void => {
    const options = { cwd: data, stdio: 'ignore', ...(process.getuid!() === 0 && { uid, gid }) } as const;
    const { status, error } = spawnSync(`${programs}/pg_ctl`, ['-D', data, '-w', ...args], options);
    if (status !== 0) throw error ?? new Error(`pg_ctl ${args[0]} of ${host}:${port} ended with ${status}.`);
  };
  return {
    name: `${host}:${port}`,
    stop: () => control('stop', '-m', 'immediate'),
    start: () => control('start', '-l', `${data}/restarted.log`),
  };
}
