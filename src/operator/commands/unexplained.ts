import { type Command, Option } from 'commander';
import { liveOf, modeOf } from '../../request/mode.js';
import { amountText } from '../../types/scalars.js';
import { listUnexplained, resolveUnexplained } from '../money/unexplained.js';
import { type UnexplainedRow, UnexplainedStatus } from '../table.js';
import { name } from './arguments.js';
import { type AddCommand, after, commandUser, mode } from './command.js';

/** Adds the commands about money that no object of an account explains. */
export function unexplainedCommands(program: Command, command: AddCommand): void {
  const unexplained = program
    .command('unexplained')
    .description('Money that was taken, or taken back, and that no object of an account explains');

  command(unexplained, 'list', 'List it; --status open lists what waits', async (operator, o) => {
    const status = o.status as UnexplainedStatus | undefined;
    const { nodes, next } = await listUnexplained(operator, {
      ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
    });
    return { unexplained: nodes.map(shownJson), ...(next !== null && { next }) };
  })
    .addOption(new Option('--status <status>').choices(Object.values(UnexplainedStatus)))
    .addOption(mode())
    .addOption(after());

  command(unexplained, 'resolve <unexplained>', 'Record what became of it, which moves nothing', (operator, o, id) =>
    resolveUnexplained(operator, id, String(o.resolution), commandUser()).then(shownJson),
  ).requiredOption('--resolution <text>', 'what became of it, such as that the acquirer refunded it', name);
}

function shownJson(row: UnexplainedRow) {
  const { id, created, livemode, tenantId, transactionId, depositId, amount, covered, currency, reason, status } = row;
  return {
    ...{ object: 'unexplained', id, created, mode: modeOf(livemode), tenant: tenantId, transaction: transactionId },
    ...{ deposit: depositId, amount: amountText(amount), covered: amountText(covered), currency, reason, status },
    ...{ resolution: row.resolution, resolved_by: row.resolvedBy, resolved_at: row.resolvedAt },
  };
}
