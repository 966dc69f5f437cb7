import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, notInArray, sql } from 'drizzle-orm';
import type { AccountRow } from '../../resources/account/table.js';
import { testClock } from '../../resources/clock/table.js';
import { acquirerKinds, job } from '../../jobs/table.js';
import type { Operator } from '../operator.js';

const jobsMax = 200;

/**
 * Advances the clock of a tenant's test mode, and runs the jobs that become due. Negative seconds set the clock back;
 * only the demo does that, before its tenant has any objects.
 */
export async function passTime(operator: Operator, root: Pick<AccountRow, 'tenantId'>, seconds: number): Promise<void> {
  const test = { tenantId: root.tenantId, livemode: false };
  await operator.write('advance_clock', test, 'passTime', { advanceSeconds: seconds }, testClock);
  // A job may create jobs that are due at once, and another worker may be running some, so this repeats until no job is
  // due. It skips status polls, because only workers query acquirers.
  for (let left = 1; left > 0; ) {
    const [row] = await operator.call('run_jobs', [root.tenantId, false, jobsMax]);
    if (Number(row?.run_jobs) > 0) continue;
    const due = sql`${job.due} <= floor(extract(epoch from statement_timestamp()))::bigint`;
    const [count] = await operator.read<{ left: number }>(
      'operator_due',
      (db) =>
        db
          .select({ left: sql<number>`count(*)::int` })
          .from(job)
          .where(
            and(
              eq(job.tenantId, sql.placeholder('tenantId')),
              eq(job.livemode, false),
              due,
              notInArray(job.kind, acquirerKinds),
            ),
          ),
      { tenantId: root.tenantId },
    );
    left = count?.left ?? 0;
    if (left > 0) await sleep(10);
  }
}

/** Brings a tenant's test clock, once set back, to the present. */
export async function catchUp(operator: Operator, root: AccountRow): Promise<void> {
  const [clock] = await operator.read<{ offset: number }>(
    'operator_clock',
    (db) =>
      db
        .select({ offset: testClock.offsetSeconds })
        .from(testClock)
        .where(and(eq(testClock.tenantId, sql.placeholder('tenantId')), eq(testClock.livemode, false))),
    { tenantId: root.tenantId },
  );
  if (clock && clock.offset < 0) await passTime(operator, root, -clock.offset);
}
