import { and, asc, desc, isNotNull, type SQL, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import { type JobRow, job, OwnWork, type TenantWork, workerFault } from '../../jobs/table.js';
import { type Operator, OperatorError } from '../operator.js';
import { type ListPage, listedMax, noCursor, pageOf, valuesOf } from '../paging.js';
import { modeOf } from '../../request/mode.js';

/** A job that has failed, or the work of a tenant that fails as a whole: then `jobId` and what is of a job are null. */
export interface StuckWork {
  tenantId: string;
  livemode: boolean;
  /** The id of the job, or the name of the work. */
  id: string;
  work: TenantWork;
  jobId: string | null;
  jobKind: string | null;
  subjectId: string | null;
  error: string;
  since: number;
  attempts: number;
  nextAttemptAt: number;
}

const { placeholder } = sql;

/**
 * Lists the jobs of all tenants, newest first. No index has this order, which each write of a job would pay for; the
 * page is the top of a scan, which took 0.3 s (median) over 1,000,000 jobs.
 */
export async function listJobs(operator: Operator, after?: string): Promise<ListPage<JobRow>> {
  const order = [job.created, job.id, job.livemode, job.tenantId];
  const from = after === undefined ? undefined : valuesOf(after, 'job', order.length);
  const rows = await operator.read<JobRow>(
    `operator_jobs:all${from ? ':after' : ''}`,
    (db) =>
      db
        .select()
        .from(job)
        .where(
          from &&
            sql`(${sql.join(order, sql`, `)}) < (${placeholder('v0')}::bigint, ${placeholder('v1')}::text,
          ${placeholder('v2')}::boolean, ${placeholder('v3')}::text)`,
        )
        .orderBy(...order.map((column) => desc(column)))
        .limit(listedMax + 1),
    { ...from },
  );
  return pageOf(rows, listedMax, (row) => [row.created, row.id, row.livemode, row.tenantId]);
}

/**
 * Lists what fails and will be tried again, ordered by tenant, mode and id: the work of tenants that fails as a whole,
 * and single jobs. Status polls of an acquirer count attempts too, but have no error.
 */
export async function listStuck(operator: Operator, after?: string, limit = listedMax): Promise<ListPage<StuckWork>> {
  const from = after === undefined ? undefined : jobCursorOf(after);
  const order = [sql`tenant_id`, sql`livemode`, sql`id`];
  const rows = await operator.read<StuckWork>(
    `operator_jobs:stuck${from ? ':after' : ''}`,
    (db) =>
      unionAll(
        db
          .select({
            tenantId: job.tenantId,
            livemode: job.livemode,
            id: job.id,
            work: sql<TenantWork>`${sql.raw(`'${OwnWork.RUN_JOBS}'`)}`.as('work'),
            jobId: sql<string | null>`${job.id}`.as('job_id'),
            jobKind: sql<string | null>`${job.kind}`.as('job_kind'),
            subjectId: sql<string | null>`${job.subjectId}`.as('subject'),
            error: sql<string>`${job.error}`.as('error'),
            since: sql<number>`coalesce(${job.failingSince}, ${job.created})`.mapWith(Number).as('since'),
            attempts: job.attempts,
            nextAttemptAt: job.due,
          })
          .from(job)
          .where(and(isNotNull(job.error), from && beyond([job.tenantId, job.livemode, job.id])))
          .orderBy(asc(job.tenantId), asc(job.livemode), asc(job.id))
          .limit(placeholder('limit')),
        db
          .select({
            tenantId: workerFault.tenantId,
            livemode: workerFault.livemode,
            id: sql<string>`${workerFault.work}`,
            work: workerFault.work,
            jobId: none,
            jobKind: none,
            subjectId: none,
            error: workerFault.error,
            since: workerFault.since,
            attempts: workerFault.attempts,
            nextAttemptAt: workerFault.nextAttempt,
          })
          .from(workerFault)
          .where(from && beyond([workerFault.tenantId, workerFault.livemode, workerFault.work]))
          .orderBy(asc(workerFault.tenantId), asc(workerFault.livemode), asc(workerFault.work))
          .limit(placeholder('limit')),
      )
        .orderBy(...order)
        .limit(placeholder('limit')),
    { ...from, limit: limit + 1 },
  );
  return stuckPage(rows, limit);
}

const none = sql<string | null>`null::text`;

/** The rows after the end of a page. */
function beyond([tenantId, livemode, id]: [unknown, unknown, unknown]): SQL {
  return sql`(${tenantId}, ${livemode}, ${id}) > (${placeholder('tenantId')}::text, ${placeholder('livemode')}::boolean,
    ${placeholder('id')}::text)`;
}

function stuckPage(rows: StuckWork[], limit: number): ListPage<StuckWork> {
  const nodes = rows.slice(0, limit);
  const last = rows.length > limit ? nodes.at(-1) : undefined;
  return { nodes, next: last ? `${last.tenantId}.${last.id}.${modeOf(last.livemode)}` : null };
}

/** Makes a job due now. The job keeps its attempts and its error until it is done. */
export async function retryJob(operator: Operator, id: string): Promise<JobRow> {
  const [row] = await operator.byId('operator_job', job, id);
  if (!row)
    throw new OperatorError('There is no such job. It may have completed meanwhile.', 'resource_missing', 'job.id');
  return operator.write('retry_job', row, 'retryJob', { id }, job);
}

/** Reads the cursor of a list of what fails, which begins with the tenant. */
function jobCursorOf(text: string): { tenantId: string; id: string; livemode: boolean } {
  const [, tenantId, id, mode] = /^(\w{1,100})\.(\w{1,100})\.(live|test)$/.exec(text) ?? [];
  if (tenantId === undefined || id === undefined) throw noCursor('job');
  return { tenantId, id, livemode: mode === 'live' };
}
