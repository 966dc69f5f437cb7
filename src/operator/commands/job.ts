import type { Command } from 'commander';
import type { JobRow } from '../../jobs/table.js';
import type { StuckWork } from '../job/jobs.js';
import type { ListPage } from '../paging.js';
import { type AddCommand, after } from './command.js';
import { modeOf } from '../../request/mode.js';
import { listJobs, listStuck, retryJob } from '../job/jobs.js';

/** Adds the commands about work that is due later. */
export function jobCommands(program: Command, command: AddCommand): void {
  const jobs = program.command('job').description('Jobs: work that the gateways do later');

  command(
    jobs,
    'list',
    'List jobs; with --stuck, those that have failed and are tried again, and the failing work of whole tenants',
    async (operator, o) => {
      const from = o.after as string | undefined;
      const { nodes, next } = o.stuck ? stuck(await listStuck(operator, from)) : all(await listJobs(operator, from));
      return { jobs: nodes, ...(next !== null && { next }) };
    },
  )
    .option('--stuck', 'what has failed, with its last error')
    .addOption(after());

  command(jobs, 'retry <job>', 'Retry a job now, instead of when it is due', async (operator, _, id) =>
    jobJson(await retryJob(operator, id)),
  );
}

const all = ({ nodes, next }: ListPage<JobRow>) => ({ nodes: nodes.map(jobJson), next });
const stuck = ({ nodes, next }: ListPage<StuckWork>) => ({ nodes: nodes.map(stuckJson), next });

function jobJson({ id, tenantId, livemode, kind, subjectId, attempts, error, due }: JobRow) {
  return {
    ...{ id, tenant: `account_${tenantId}`, mode: modeOf(livemode), kind, subject: subjectId },
    ...{ attempts, error, due: timeOf(due) },
  };
}

/** Without id and subject for the work of a whole tenant. */
function stuckJson({
  jobId,
  tenantId,
  livemode,
  work,
  jobKind,
  subjectId,
  attempts,
  error,
  since,
  nextAttemptAt,
}: StuckWork) {
  return {
    ...{ id: jobId, tenant: `account_${tenantId}`, mode: modeOf(livemode), work },
    ...{ kind: jobKind, subject: subjectId, attempts, error, since: timeOf(since), due: timeOf(nextAttemptAt) },
  };
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();
