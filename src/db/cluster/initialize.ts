import { type Connection, single } from '../connect/driver/connection.js';
import { inTurn } from '../schema/advisory-lock.js';
import { grant } from '../schema/privileges.js';
import { databaseVersion, programVersion } from '../schema/schema-version.js';
import { ClusterError, type Guarded } from './cluster.js';
import type { Offence } from './function-lint.js';
import { placesOfCalls, register } from './functions.js';
import { breaches } from './node-privileges.js';
import { schemaOffences } from './schema-lint.js';
import { distribute, distributionOf, undistributed } from './tables.js';

/** How many shards a cluster gets: enough for eight nodes, since a node holds whole shards. */
export const shardsDefault = 32;

/** What `cluster init` has done. */
export interface Initialized extends Guarded {
  /** Tables that were distributed, and functions that were registered, by this call. */
  tables: number;
  functions: number;
  /** Functions whose calls for a tenant were seen to go to one node. */
  onOneNode: number;
}

/** Distributes all tables of tenants, registers the functions and withholds the privileges, in one transaction. */
export async function initialize(connection: Connection, shards = shardsDefault): Promise<Initialized> {
  const sql = single(connection, 'tidegate cluster init');
  try {
    if ((await distributionOf(sql)) === 'plain')
      throw new ClusterError(
        'This database has no Citus: run "create extension citus" in it, on each node, and add the nodes.',
      );
    if ((await databaseVersion(sql))?.sha256 !== programVersion().sha256)
      throw new ClusterError('The database is not at the version of this program. Run the command "tidegate migrate".');
    const offences = await schemaOffences(sql);
    if (offences.length > 0) throw new ClusterError(listed('This schema cannot be distributed', offences));
    const made = await inTurn(sql, 'migrate', 60, undefined, async (tx) => {
      // Functions are registered over the connection that has made the tables.
      await tx`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`;
      const tables = await undistributed(tx);
      for (const table of tables) await distribute(tx, table, shards);
      const functions = await register(tx);
      await grant(tx, undefined);
      return { tables: tables.length, functions };
    });
    const { onOneNode, elsewhere } = await placesOfCalls(sql);
    if (elsewhere.length > 0)
      throw new ClusterError(`Calls of these functions do not go to one node: ${elsewhere.join(', ')}.`);
    return { ...made, onOneNode, unprotected: await breaches(sql) };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

const listed = (what: string, offences: Offence[]) =>
  `${what}: ${offences.map((each) => `${each.rule} (${each.what})`).join('; ')}.`;
