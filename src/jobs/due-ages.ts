import { setTimeout as sleep } from 'node:timers/promises';
import type { CrossTenantReads } from '../db/doors.js';
import { dueAges } from '../operator/health/due-ages.js';
import type { WorkObserver } from './work-queue.js';

const everyMilliseconds = 30_000;

/**
 * Measures how long the oldest work of live mode is overdue, for metrics: every 30 seconds, never for a scrape, and
 * only where there are metrics. It does not depend on the loops that do the work, so it also grows when none of them
 * runs. In test mode a clock that is advanced makes work overdue at once.
 */
export async function measureDueAges(
  database: CrossTenantReads,
  observer: WorkObserver | undefined,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    // An outage is logged by others, and the next measurement follows.
    if (observer)
      await dueAges(database)
        .then((ages) => observer.dueAges(ages))
        .catch(() => {});
    await sleep(everyMilliseconds, undefined, { signal: stop }).catch(() => {});
  }
}
