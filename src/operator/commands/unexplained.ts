import { type Command, Option } from 'commander';
import { liveOf, modeOf } from '../../request/mode.js';
import { amountText } from '../../types/scalars.js';
import { listUnexplained, recordUnexplained, resolveUnexplained } from '../money/unexplained.js';
import { type UnexplainedRow, UnexplainedStatus } from '../table.js';
import { amount, name } from './arguments.js';
import { type AddCommand, after, commandUser, mode } from './command.js';
import { pageJson, tenantNamesOf } from './named.js';

/** Adds the commands about money that no object of an account explains. */
export function unexplainedCommands(program: Command, command: AddCommand): void {
  const unexplained = program
    .command('unexplained')
    .description('Money that was taken, or taken back, and that no object of an account explains');

  const listed = 'List it, the newest first; --status open lists what waits, the oldest first';
  command(unexplained, 'list', listed, async (operator, o) => {
    const status = o.status as UnexplainedStatus | undefined;
    const page = await listUnexplained(operator, {
      ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
    });
    const names = await tenantNamesOf(operator, page.nodes);
    return pageJson(page, 'unexplained', (row, i) => ({ ...shownJson(row), tenant_name: names[i] }));
  })
    .addOption(new Option('--status <status>').choices(Object.values(UnexplainedStatus)))
    .addOption(mode())
    .addOption(after());

  command(
    unexplained,
    'record <deposit>',
    'Record what was taken back of a deposit that has nothing left of it, under its reference',
    (operator, o, depositId) => {
      const given = o as { amount: bigint; reference: string; note: string };
      return recordUnexplained(operator, { depositId, ...given }).then(shownJson);
    },
  )
    .requiredOption('--amount <amount>', 'how much, such as 40.00', amount)
    .requiredOption('--reference <reference>', 'that of the bank or the acquirer', name)
    .requiredOption('--note <text>', 'what is known of it', name);

  command(unexplained, 'resolve <unexplained>', 'Record what became of it, which moves nothing', (operator, o, id) =>
    resolveUnexplained(operator, id, String(o.resolution), commandUser()).then(shownJson),
  ).requiredOption('--resolution <text>', 'what became of it, such as that the acquirer refunded it', name);
}

/** Unexplained money as the commands print it. */
export function shownJson(row: UnexplainedRow) {
  const { id, created, livemode, tenantId, transactionId, depositId, amount, covered, currency, reason, status } = row;
  return {
    ...{ object: 'unexplained', id, created, mode: modeOf(livemode), tenant: tenantId, transaction: transactionId },
    ...{ deposit: depositId, amount: amountText(amount), covered: amountText(covered), currency, reason, status },
    ...{ reference: row.reference, note: row.note },
    ...{ decision: row.decision, resolution: row.resolution, resolved_by: row.resolvedBy, resolved_at: row.resolvedAt },
  };
}
