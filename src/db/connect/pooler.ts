import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../config/config-error.js';
import { type Connection, openClient, single } from './driver/connection.js';
import { during } from './start.js';

/** How long the second client holds its connection, and after what time the first one asks. */
const [heldMilliseconds, askedMilliseconds] = [100, 20];
const rounds = 3;

/**
 * Whether named statements are lost between two transactions of one client, as behind a PgBouncer in transaction mode
 * that does not keep them (before 1.21, or with `max_prepared_statements = 0`). A client prepares a statement; another
 * one takes the server's connection for a transaction, so that the first one gets a different connection, which has the
 * statement only if the pooler prepares it there too. Other clients of the pooler may take that connection first, and a
 * new one may open late, so it is tried three times. Without a pooler this costs two statements.
 *
 * The driver survives the loss by preparing anew, which costs a round trip and leaves a statement behind each time,
 * until PostgreSQL has no memory for more.
 */
async function losesStatements(connection: Connection): Promise<boolean> {
  const options = { ...connection, max: 1, fetch_types: false, connect_timeout: 2, onnotice: () => {} };
  const preparing = openClient({ ...options, prepare: true, connection: { application_name: 'tidegate start' } });
  const holding = single(connection, 'tidegate start');
  // The driver prepares a text only where it has values.
  const named = () => preparing.unsafe('select pg_backend_pid() as pid, $1::text', ['kept'], { prepare: true });
  try {
    const first = named();
    const [row] = await first;
    // A pooler gives its clients other numbers than those of PostgreSQL.
    if (driverStateOf(first).state?.pid === row?.pid) return false;
    await holding.unsafe('select 1');
    for (let round = 0; round < rounds; round++) {
      // One message with several statements is one transaction, which keeps the server's connection while it sleeps.
      const held = holding.unsafe(`select 1; select pg_sleep(${heldMilliseconds / 1_000})`).execute();
      await sleep(askedMilliseconds);
      const again = named();
      await again;
      await held;
      // The driver prepares a lost statement again and says so.
      if (driverStateOf(again).retried) return true;
    }
    return false;
  } finally {
    await Promise.all([preparing.end({ timeout: 1 }), holding.end({ timeout: 1 })]);
  }
}

/** Statements would be prepared again and again, and fill the memory of PostgreSQL. */
export async function refuseForgetfulPooler(connection: Connection): Promise<void> {
  if (await during('connecting to PostgreSQL', () => losesStatements(connection)))
    throw new ConfigError(
      'PREPARED_STATEMENTS: the PgBouncer of DATABASE_URL does not keep prepared statements. Set ' +
        'max_prepared_statements there, which PgBouncer has since 1.21, or PREPARED_STATEMENTS=false.',
    );
}

/** What the driver stores in properties of a query that its types do not declare. */
const driverStateOf = (query: unknown) => query as { state?: { pid: number }; retried?: unknown };
