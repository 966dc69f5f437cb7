import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { type Connection, single } from '../connect/driver/connection.js';
import { LocksInUse } from './migration-steps.js';
import { MigrationError } from './schema-version.js';

/**
 * How long to wait for the lock. Other processes wait for the seeding of a demo, which takes longer than a migration.
 */
const advisoryLockSeconds = 600;
const saidAfterMilliseconds = 1_500;
const triedEveryMilliseconds = 250;
/** The longest pause between two attempts that were undone. */
const pauseMillisecondsMax = 5_000;
const deadlock = '40P01';

/**
 * Runs a piece of work while no other process on this database runs the same work. The lock ends with its connection,
 * even if this process is killed.
 */
export async function withAdvisoryLock<T>(
  connection: Connection,
  work: string,
  run: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = single(connection, `tidegate ${work}`);
  try {
    await waitFor(sql, work, advisoryLockSeconds, undefined, async () => {
      const [{ got } = { got: false }] = await sql`select pg_try_advisory_lock(${keyOf(sql, work)}) as got`;
      return got ? true : undefined;
    });
    return await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

const keyOf = (sql: postgres.ISql, work: string) => sql`hashtextextended(${`tidegate:${work}`}, 0)`;

/**
 * Runs work in a transaction that has the lock. Each attempt is a separate transaction, so that waiting holds no locks.
 * Locks of requests that are served meanwhile may roll the transaction back; it is then repeated until the limit.
 */
export async function inTurn<T>(
  sql: postgres.Sql,
  work: string,
  seconds: number,
  say: ((line: string) => void) | undefined,
  run: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  /** Why the last attempt, which had the lock, was undone. */
  let undone: string | undefined;
  const attempt = async (tx: postgres.TransactionSql) => {
    const [{ got } = { got: false }] = await tx`select pg_try_advisory_xact_lock(${keyOf(tx, work)}) as got`;
    undone = undefined;
    return got ? { result: await run(tx) } : undefined;
  };
  const until = performance.now() + seconds * 1000;
  let attempts = 0;
  const tried = () =>
    (sql.begin(attempt) as Promise<{ result: T } | undefined>).catch(async (error: unknown) => {
      const reason =
        error instanceof LocksInUse
          ? error.message
          : (error as { code?: string }).code === deadlock
            ? 'There was a deadlock with other statements.'
            : undefined;
      if (reason === undefined) throw error;
      attempts++;
      undone =
        `Other statements undid "${work}" ${attempts} times in ${seconds} s. ${reason} Nothing was changed. Run it ` +
        'when less is written, end what keeps the lock, or raise MIGRATION_LOCK_SECONDS.';
      if (performance.now() > until) throw new MigrationError(undone);
      say?.(`"${work}" was undone (attempt ${attempts}), and is tried again for up to ${seconds} s. ${reason}`);
      // Requests that waited for its locks go on meanwhile.
      await sleep(Math.min(1_000 * attempts, pauseMillisecondsMax));
      return undefined;
    });
  const done = await waitFor(sql, work, seconds, say, tried, () => undone);
  return done.result;
}

/**
 * Repeats an attempt until it has a result. After `saidAfterMilliseconds` it reports which connection holds the lock,
 * and at the limit it throws a MigrationError. `otherwise` says why an attempt that had the lock
 * has no result.
 */
async function waitFor<T>(
  sql: postgres.Sql,
  work: string,
  seconds: number,
  say: ((line: string) => void) | undefined,
  attempt: () => Promise<T | undefined>,
  otherwise: () => string | undefined = () => undefined,
): Promise<T> {
  const since = performance.now();
  for (let said = false; ; await sleep(triedEveryMilliseconds)) {
    const result = await attempt();
    if (result !== undefined) return result;
    const waited = performance.now() - since;
    const reason = otherwise();
    if (waited > seconds * 1000) {
      if (reason !== undefined) throw new MigrationError(reason);
      throw new MigrationError(
        `The lock for "${work}" was not free within ${seconds} s: ${await holderOf(sql, work)}. If that ` +
          'connection is an idle one of a pooler, end it with pg_terminate_backend, and set MIGRATION_URL to the ' +
          'address of PostgreSQL itself.',
      );
    }
    if (!said && reason === undefined && waited > saidAfterMilliseconds && say) {
      say(`Waiting up to ${seconds} s for the lock for "${work}": ${await holderOf(sql, work)}.`);
      said = true;
    }
  }
}

/** Which connection holds the lock, as far as this role may see it. */
async function holderOf(sql: postgres.Sql, work: string): Promise<string> {
  const [holder] = await sql`
    select a.pid, a.usename, a.application_name, a.client_addr::text, a.state, a.xact_start is not null as working,
           to_char(coalesce(a.xact_start, a.state_change, a.backend_start) at time zone 'UTC',
             'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
    from pg_locks l left join pg_stat_activity a on a.pid = l.pid, (select ${keyOf(sql, work)} as key) k
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.classid::bigint = ((k.key >> 32) & 4294967295) and l.objid::bigint = (k.key & 4294967295)`;
  if (!holder) return 'its holder has just released it';
  const { pid, usename, application_name, client_addr, state, since } = holder;
  const name = application_name ? `"${application_name}"` : 'without an application name';
  return (
    `it is held by the connection with pid ${pid} of role "${usename ?? 'unknown'}", application ${name}, from ` +
    `${client_addr ?? 'the local socket'}, ${state ?? 'in an unknown state'} since ${since ?? 'an unknown time'}`
  );
}
