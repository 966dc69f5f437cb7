import { type Connection, single } from '../connection.js';
import { inTurn } from '../advisory-lock.js';
import { grant } from '../privileges.js';
import { register } from './functions.js';
import { distribute, undistributed } from './tables.js';

/** How many shards a cluster gets: enough for eight nodes, since a node holds whole shards. */
export const shardsDefault = 32;

/** What `cluster init` has done. */
export interface Initialized {
  tables: number;
  functions: number;
}

/** Distributes all tables of tenants, registers the functions and withholds the privileges, in one transaction. */
export async function initialize(connection: Connection, shards = shardsDefault): Promise<Initialized> {
  const sql = single(connection, 'tidegate cluster init');
  try {
    return await inTurn(sql, 'migrate', 60, undefined, async (tx) => {
      // Functions are registered over the connection that has made the tables.
      await tx`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`;
      const tables = await undistributed(tx);
      for (const table of tables) await distribute(tx, table, shards);
      const functions = await register(tx);
      await grant(tx, undefined);
      return { tables: tables.length, functions };
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}
