import type { Command } from 'commander';
import type { JobRow } from '../../jobs/table.js';
import { type AddCommand, after } from './command.js';

/** Adds the commands about work that is due later. */
export function jobCommands(program: Command, command: AddCommand): void {
  const jobs = program.command('job').description('Jobs: work that the gateways do later');

  command(jobs, 'list', 'List jobs; --stuck lists only those that have failed and are retried', async (operator, o) => {
    const { nodes, next } = await operator.jobs({ stuck: Boolean(o.stuck), after: o.after as string | undefined });
    return { jobs: nodes.map(jobJson), ...(next !== null && { next }) };
  })
    .option('--stuck', 'only those that have failed, with their last error')
    .addOption(after());

  command(jobs, 'retry <job>', 'Retry a job now, instead of when it is due', async (operator, _, id) =>
    jobJson(await operator.retryJob(id)),
  );
}

function jobJson({ id, tenantId, livemode, kind, subjectId, attempts, error, due }: JobRow) {
  return {
    ...{ id, tenant: `account_${tenantId}`, mode: livemode ? 'live' : 'test', kind, subject: subjectId },
    ...{ attempts, error, due: new Date(due * 1000).toISOString() },
  };
}
