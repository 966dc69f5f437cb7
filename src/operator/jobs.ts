import { and, asc, isNotNull, sql } from 'drizzle-orm';
import { type JobRow, job } from '../jobs/table.js';
import { problem, DomainError } from '../request/problems.js';
import { type OperatorDesk, OperatorError } from './desk.js';
import { type ListPage, listedMax } from './paging.js';

/**
 * Lists the jobs of all tenants, ordered by tenant, mode and id. With `stuck`, only the jobs that have failed and will
 * be retried. Status polls of an acquirer count attempts too, but have no error.
 */
export async function listJobs(
  desk: OperatorDesk,
  { stuck = false, after }: { stuck?: boolean; after?: string | undefined },
): Promise<ListPage<JobRow>> {
  const from = after === undefined ? undefined : jobCursorOf(after);
  const { placeholder } = sql;
  const given = [stuck ? 'stuck' : 'all', ...(from ? ['after'] : [])];
  const rows = await desk.read<JobRow>(
    `operator_jobs:${given.join(':')}`,
    (db) =>
      db
        .select()
        .from(job)
        .where(
          and(
            stuck ? isNotNull(job.error) : undefined,
            from &&
              sql`(${job.tenantId}, ${job.livemode}, ${job.id}) > (${placeholder('tenant')}::text, ${placeholder('live')}::boolean, ${placeholder('id')}::text)`,
          ),
        )
        .orderBy(asc(job.tenantId), asc(job.livemode), asc(job.id))
        .limit(listedMax + 1),
    { ...from },
  );
  const nodes = rows.slice(0, listedMax);
  const last = rows.length > listedMax ? nodes.at(-1) : undefined;
  return { nodes, next: last ? `${last.tenantId}.${last.id}.${last.livemode ? 'live' : 'test'}` : null };
}

/** Makes a job due now. The job keeps its attempts and its error until it is done. */
export async function retryJob(desk: OperatorDesk, id: string): Promise<JobRow> {
  const [row] = await desk.byId('operator_job', job, id);
  if (!row)
    throw new OperatorError('There is no such job. It may have completed meanwhile.', 'resource_missing', 'job.id');
  return desk.write('retry_job', row, 'retryJob', { id }, job);
}

/** Reads the cursor of a list of jobs, which begins with the tenant. */
function jobCursorOf(text: string): { tenant: string; id: string; live: boolean } {
  const [, tenant, id, mode] = /^(\w{1,100})\.(\w{1,100})\.(live|test)$/.exec(text) ?? [];
  if (tenant === undefined || id === undefined)
    throw new DomainError(
      problem('parameter_invalid', 'job.starting_after', 'must be the cursor of a page of this list'),
    );
  return { tenant, id, live: mode === 'live' };
}
