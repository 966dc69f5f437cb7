import { setTimeout as sleep } from 'node:timers/promises';
import { isNotNull, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { CrossTenantReads } from '../db/doors.js';
import type { WorkObserver } from './work-queue.js';
import { fixedLimit } from '../db/schema/drizzle-types.js';
import { job, workerFault } from './table.js';

const everyMilliseconds = 30_000;
/** More are counted as so many: the entries of an index are read one by one. */
const countedMax = 10_000;

/**
 * Counts what fails and is tried again, for metrics: single jobs, and the work of whole tenants. It reads an index of
 * the jobs that have failed alone, every 30 seconds and never for a scrape, and only where there are metrics.
 */
export async function countStuck(
  database: CrossTenantReads,
  observer: WorkObserver | undefined,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    // An outage is logged by others, and the next count follows.
    if (observer)
      await Promise.all([jobs(database), tenantWork(database)])
        .then(([stuck, work]) => observer.stuck({ jobs: stuck, work }))
        .catch(() => {});
    await sleep(everyMilliseconds, undefined, { signal: stop }).catch(() => {});
  }
}

const limit = fixedLimit(countedMax);
const count = sql<number>`count(*)::int`;

async function jobs(database: CrossTenantReads): Promise<number> {
  const [row] = await database.read<{ count: number }>(
    'stuck_jobs',
    (db) =>
      db.select({ count }).from(
        db
          .select({ id: job.id })
          .from(job as PgTable)
          .where(isNotNull(job.error))
          .limit(limit)
          .as('stuck'),
      ),
    {},
  );
  return row?.count ?? 0;
}

async function tenantWork(database: CrossTenantReads): Promise<number> {
  const [row] = await database.read<{ count: number }>(
    'stuck_tenant_work',
    (db) =>
      db.select({ count }).from(
        db
          .select({ work: workerFault.work })
          .from(workerFault as PgTable)
          .limit(limit)
          .as('stuck'),
      ),
    {},
  );
  return row?.count ?? 0;
}
