import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { CrossTenantReads } from '../../db/doors.js';
import { fixedLimit } from '../../db/schema/drizzle-types.js';
import { job, workerFault } from '../../jobs/table.js';
import { type Mode, modeOf } from '../../request/mode.js';

/** More are counted as so many: the entries of an index are read one by one. */
const countedMax = 10_000;

/** What fails in a mode and is tried again: single jobs, and the work of whole tenants. */
interface StuckCount {
  jobs: number;
  work: number;
}
export type StuckCounts = Record<Mode, StuckCount>;

/**
 * Counts what fails and is tried again, by its mode, on the nodes that answer. It reads indexes and tables of what
 * fails alone.
 */
export async function stuckCounts(database: CrossTenantReads): Promise<StuckCounts> {
  const [live, test] = await Promise.all([stuckOf(database, true), stuckOf(database, false)]);
  return { live, test };
}

async function stuckOf(database: CrossTenantReads, livemode: boolean): Promise<StuckCount> {
  const mode = sql.raw(String(livemode));
  const failing = and(eq(job.livemode, mode), isNotNull(job.failingSince));
  const [jobs, work] = await Promise.all([
    counted(database, `stuck_jobs:${modeOf(livemode)}`, job, failing),
    counted(database, `stuck_tenant_work:${modeOf(livemode)}`, workerFault, eq(workerFault.livemode, mode)),
  ]);
  return { jobs, work };
}

async function counted(database: CrossTenantReads, name: string, table: PgTable, where: SQL | undefined) {
  const counts = await database.crossTenant.read<{ count: number }>(name, (db) =>
    db.select({ count: sql<number>`count(*)::int` }).from(
      db
        .select({ one: sql`1`.as('one') })
        .from(table)
        .where(where)
        .limit(fixedLimit(countedMax))
        .as('stuck'),
    ),
  );
  return Math.min(
    counts.reduce((sum, { count }) => sum + count, 0),
    countedMax,
  );
}
