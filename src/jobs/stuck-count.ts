import { setTimeout as sleep } from 'node:timers/promises';
import type { CrossTenantReads } from '../db/doors.js';
import { stuckCounts } from '../operator/health/stuck-counts.js';
import type { WorkObserver } from './work-queue.js';

const everyMilliseconds = 30_000;

/**
 * Counts what fails and is tried again, for metrics: every 30 seconds and never for a scrape, and only where there are
 * metrics.
 */
export async function countStuck(
  database: CrossTenantReads,
  observer: WorkObserver | undefined,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    // An outage is logged by others, and the next count follows.
    if (observer)
      await stuckCounts(database)
        .then((counts) => observer.stuck(counts))
        .catch(() => {});
    await sleep(everyMilliseconds, undefined, { signal: stop }).catch(() => {});
  }
}
