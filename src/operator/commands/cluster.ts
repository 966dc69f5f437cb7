import { type Command, InvalidArgumentError } from 'commander';
import { asOwner, type Config, type Opening, withDatabase } from '../../db/connect/open.js';
import { type Client, single } from '../../db/connect/driver/connection.js';
import {
  addNode,
  changed,
  ClusterError,
  type Guarded,
  isolate,
  move,
  type NodeAddress,
  rebalance,
} from '../../db/cluster/cluster.js';
import { initialize, shardsDefault } from '../../db/cluster/initialize.js';
import { clusterStatus } from '../../db/cluster/status.js';
import { during } from '../../db/connect/start.js';
import { logged } from '../action/actions.js';
import { operatorWithoutGraph } from './backup.js';
import { wholeNumber } from './arguments.js';
import { commandUser, type Options, type Result } from './command.js';
import type { Progress } from './progress.js';

type Output = Pick<Opening, 'progress' | 'say'> & { progressOf: Progress };

/** Adds a command that runs with the settings, its arguments and its options. */
type Add = (
  name: string,
  description: string,
  run: (settings: Config, argument: string, options: Options, second: string) => Promise<Result>,
) => Command;

/**
 * Adds the commands of a cluster, which run as the owner of the tables. `settingsOf` reads the settings, and `print`
 * prints a result.
 */
export function clusterCommands(
  program: Command,
  settingsOf: () => Config,
  output: Output,
  print: (result: Result, options: Options) => Promise<void>,
) {
  const cluster = program
    .command('cluster')
    .description('Several servers with Citus, among which the tenants are spread');
  const command: Add = (name, description, run) =>
    cluster
      .command(name)
      .description(description)
      .option('--json', 'print one JSON document')
      .action(async (...given: unknown[]) => {
        const options = given.at(-2) as Options;
        const [argument, second] = given.slice(0, -2).map(String);
        await print(await run(settingsOf(), argument ?? '', options, second ?? ''), options);
      });

  command(
    'init',
    'Distribute the tables of tenants and the functions; run it again to complete what is missing',
    (settings, _, { shards }) =>
      acted(settings, output, 'cluster init', {}, (connection) => initialize(connection, Number(shards))),
  ).option('--shards <count>', 'how many groups of shards', wholeNumber, shardsDefault);

  command(
    'status',
    'Show the nodes, their shards, privileges, and tables and functions that are ' +
      'missing there; exit code 1 when something is wrong',
    (settings) => statusOf(settings, output),
  );

  changes(command, output);
}

/** Adds the commands that change a cluster. */
function changes(command: Add, output: Output): void {
  const changing = (
    name: string,
    description: string,
    change: (sql: Client, argument: string, second: string) => Promise<object>,
    step?: string,
  ) =>
    command(name, description, (settings, argument, _, second) => {
      const operation = `cluster ${name.split(' ', 1)[0]}`;
      const details = argument ? { of: argument, ...(second && { to: second }) } : {};
      return acted(settings, output, operation, details, (connection) => {
        if (step) output.progress(step);
        return changed(connection, (sql) => change(sql, argument, second));
      });
    });
  changing(
    'add-node <host:port>',
    'Add a server with Citus, which gets no tenants before a rebalancing; as a superuser',
    (sql, node) => addNode(sql, addressOf(node)),
  );
  changing('rebalance', 'Spread the shards over all nodes; writes of a tenant wait while it is moved', (sql) =>
    rebalance(sql, (done, of) => output.progressOf('Moving the shards', done, of, 'shards')),
  );
  changing(
    'isolate <account>',
    'Give the tenant of a root account a shard of its own',
    (sql, account) => isolate(sql, tenantOf(account)),
    'Splitting the shard of the tenant',
  );
  changing(
    'move <account> <host:port>',
    "Move the shard of a root account's tenant, with all tenants in it, to a node",
    (sql, account, node) => move(sql, tenantOf(account), addressOf(node)),
    'Moving the shard of the tenant',
  );
}

/** The state of the cluster; the exit code is 1 when something is wrong with it. */
function statusOf(settings: Config, { progress }: Output): Promise<Result> {
  return asOwner(settings, progress, async (connection) => {
    const sql = single(connection, 'tidegate cluster');
    try {
      const status = await during('reading the cluster', () => clusterStatus(sql));
      const { nodes, unprotected, unlimited, undistributed, unregistered } = status;
      if (
        [...unprotected, ...unlimited, ...undistributed, ...unregistered].length > 0 ||
        nodes.some(({ answers }) => !answers)
      )
        process.exitCode = 1;
      return status;
    } finally {
      await sql.end({ timeout: 5 });
    }
  });
}

/** Runs a change with its entries in the audit log; the exit code is 1 when a node is not protected afterwards. */
function acted<T extends object>(
  settings: Config,
  { progress }: Output,
  operation: string,
  details: Record<string, unknown>,
  run: (connection: Parameters<Parameters<typeof asOwner>[2]>[0]) => Promise<T>,
): Promise<T> {
  return asOwner(settings, progress, (connection) =>
    withDatabase(connection, (database) => {
      const actor = { name: commandUser(), id: null };
      return logged(operatorWithoutGraph(database), actor, { operation, details }, async () => {
        const result = await during(`changing the cluster`, () => run(connection));
        if (((result as Partial<Guarded>).unprotected ?? []).length > 0) process.exitCode = 1;
        return result;
      });
    }),
  );
}

function addressOf(text: string): NodeAddress {
  const [, host, port] = /^\[?([^\s\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined)
    throw new InvalidArgumentError('The node must be a host and a port, such as db3.internal:5432.');
  return { host, port: Number(port) };
}

function tenantOf(account: string): string {
  const [, tenantId] = /^account_([0-9a-f]+)$/.exec(account) ?? [];
  if (tenantId === undefined)
    throw new ClusterError('The account must be the id of a root account, such as account_….');
  return tenantId;
}
