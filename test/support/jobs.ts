import type postgres from 'postgres';
import { must, type Speaker, tenantOf, type World } from './world.js';

/** Advances the test clock of a tenant; returns its time. */
export async function advanceClock(root: Speaker, seconds: number): Promise<number> {
  return (await must(root.post('/v1/test_helpers/clock', { advance_seconds: seconds }))).now;
}

/**
 * Runs the jobs of a tenant and mode that are due now, each once, with calls of the worker's function of at most so
 * many; returns how many there were. One call begins none after its first second, in which a busy machine does few.
 */
export async function runDueJobs(
  { sql, database }: Pick<World, 'sql' | 'database'>,
  tenantId: string,
  live = false,
  most = 50,
): Promise<number> {
  const due = await sql<{ id: string }[]>`select id from job where tenant_id = ${tenantId} and livemode = ${live}
    and due <= wall_clock() and not is_for_acquirer(kind)`;
  const left = new Set(due.map(({ id }) => id));
  for (let all = 0; ; ) {
    const done = await database.call('run_due_jobs', [tenantId, live, most]);
    all += done.length;
    for (const { job_id: id } of done) left.delete(String(id));
    // None where the balances are locked by others.
    if (left.size === 0 || done.length === 0) return all;
  }
}

/**
 * Does something in a session whose clock stands still while a statement runs: there a call of the worker's function
 * begins each job that it is asked for, on any machine.
 */
export async function withStillClock<T>(
  sql: postgres.Sql,
  run: (session: postgres.ReservedSql) => PromiseLike<T>,
): Promise<T> {
  const session = await sql.reserve();
  try {
    await session.unsafe(`create schema if not exists still;
      create or replace function still.clock_timestamp() returns timestamptz stable return statement_timestamp();
      set search_path = still, pg_catalog, public`);
    return await run(session);
  } finally {
    await session`reset search_path`;
    session.release();
  }
}

/** The jobs that one call of the worker's function tries, of test mode, in a session whose clock stands still. */
export const jobsTried = ({ sql }: Pick<World, 'sql'>, tenantId: string) =>
  withStillClock(sql, (session) => session<postgres.Row[]>`select * from run_due_jobs(${tenantId}, false, 10)`);

/** The same of the tenant of an account, of test mode unless `live` says otherwise. */
export const runJobs = (root: Speaker, live = false): Promise<number> => runDueJobs(root.world, tenantOf(root), live);

/** Runs due jobs, and those that they make due, until there are none; returns how many there were. */
export async function runAllJobs(root: Speaker, live = false): Promise<number> {
  for (let all = 0; ; ) {
    const done = await runJobs(root, live);
    if (done === 0) return all;
    all += done;
  }
}

/** Advances the test clock by some seconds and runs what is then due, until nothing is. */
export async function advanceAndRun(root: Speaker, seconds: number): Promise<void> {
  do await advanceClock(root, seconds);
  while ((await runJobs(root)) > 0);
}

/** Advances the test clock to noon of the next day, so that what is daily is not due within hours; returns its time. */
export async function noon(root: Speaker): Promise<number> {
  const now = await advanceClock(root, 1);
  const day = 86_400;
  return advanceClock(root, day + day / 2 - (now % day));
}

/** Runs the next payout of live mode now, whose clock no call moves. */
export async function payOutLive(live: Speaker): Promise<void> {
  // A worker that schedules payouts anew deletes the job while this waits for its row, and the new one is seen then.
  for (let tries = 0, found = 0; found === 0 && tries < 3; tries++) {
    const changed = await live.world.sql`update job set due = 0
      where tenant_id = ${tenantOf(live)} and livemode and kind = 'pay_out'`;
    found = changed.count;
  }
  await runJobs(live, true);
}

/** Ends exports and imports that no worker does here: a tenant has at most three of each under way. */
export async function endBulk({ world, key }: Speaker): Promise<void> {
  const tenant = key.split('_')[2]!;
  for (const table of ['data_export', 'data_import'])
    await world.sql`update ${world.sql(table)} set status = 'failed' where tenant_id = ${tenant}
      and status = 'pending'`;
}

/** A row of an import that no worker does; its id. */
export async function importRow({ world }: Speaker, importId: string): Promise<string> {
  const id = `import_row_${importId.split('_')[1]}`;
  await world.sql`
    insert into import_row (tenant_id, livemode, id, created, import_id, row, status, problems, context_id,
    on_root_list)
    select tenant_id, livemode, ${id}, created, id, 1, 'valid', '[]', context_id, on_root_list from data_import
    where id = ${importId}`;
  return id;
}
