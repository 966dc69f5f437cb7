import type { Command } from 'commander';
import type { JobRow } from '../../jobs/table.js';
import type { StuckWork } from '../job/jobs.js';
import type { Operator } from '../operator.js';
import type { ListPage } from '../paging.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { type AddCommand, after } from './command.js';
import { pageJson, tenantNamesOf } from './named.js';
import { modeOf } from '../../request/mode.js';
import { listJobs, listStuck, retryJob } from '../job/jobs.js';

/** Adds the commands about work that is due later. */
export function jobCommands(program: Command, command: AddCommand): void {
  const jobs = program.command('job').description('Jobs: work that the gateways do later');

  command(
    jobs,
    'list',
    'List jobs, the newest first; with --stuck, by tenant, those that have failed and are tried again, and the ' +
      'failing work of whole tenants',
    async (operator, o) => {
      const from = o.after as string | undefined;
      if (o.stuck) return named(operator, await listStuck(operator, from), stuckJson);
      return named(operator, await listJobs(operator, from), jobJson);
    },
  )
    .option('--stuck', 'what has failed, with its last error')
    .addOption(after());

  command(jobs, 'retry <job>', 'Retry a job now, instead of when it is due', async (operator, _, id) =>
    jobJson(await retryJob(operator, id)),
  );
}

/** A page of jobs with the names of their tenants. */
async function named<Row extends TenantAndMode>(
  operator: Operator,
  page: ListPage<Row>,
  shown: (row: Row, tenantName: string | null) => object,
) {
  const names = await tenantNamesOf(operator, page.nodes);
  return pageJson(page, 'jobs', (row, i) => shown(row, names[i]!));
}

/** On a terminal the last members are left out first. */
function jobJson({ id, created, kind, subjectId, attempts, error, due, ...place }: JobRow, tenantName?: string | null) {
  return {
    ...{ id, mode: modeOf(place.livemode), kind, created: timeOf(created), due: timeOf(due) },
    ...tenantJson(place, tenantName),
    ...{ subject: subjectId, attempts, error },
  };
}

/** Without id and subject for the work of a whole tenant. */
function stuckJson(row: StuckWork, tenantName: string | null) {
  const { jobId, livemode, work, jobKind, subjectId, attempts, error, since, nextAttemptAt } = row;
  return {
    ...{ id: jobId, mode: modeOf(livemode), work, kind: jobKind, error, attempts, since: timeOf(since) },
    ...{ due: timeOf(nextAttemptAt), ...tenantJson(row, tenantName), subject: subjectId },
  };
}

const tenantJson = ({ tenantId }: { tenantId: string }, tenantName?: string | null) => ({
  tenant: `account_${tenantId}`,
  ...(tenantName !== undefined && { tenant_name: tenantName }),
});

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();
