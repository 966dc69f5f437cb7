import { type Command, Option } from 'commander';
import { type AdjustmentRow, AdjustmentStatus } from '../../resources/adjustment/table.js';
import { adjustmentV1 } from '../../resources/adjustment/v1.js';
import { liveOf, modeOf } from '../../request/mode.js';
import { OperatorError } from '../operator.js';
import { listAdjustments, proposeAdjustment, rejectAdjustment } from '../money/adjustments.js';
import { amount, currencyCode, name } from './arguments.js';
import { type AddCommand, after, commandUser, mode } from './command.js';

/** Adds the commands about corrections of available money. No command approves one: two named operators are needed. */
export function adjustmentCommands(program: Command, command: AddCommand): void {
  const adjustments = program
    .command('adjustment')
    .description("Corrections of accounts' available money; a named operator approves them in the console");
  const user = () => ({ id: null, name: commandUser() });

  command(adjustments, 'propose <account>', 'Propose one, which moves nothing yet', async (operator, o, accountId) => {
    const { amount, currency, counterAmount, counterCurrency, reason } = o as unknown as Proposal;
    if ((counterAmount === undefined) !== (counterCurrency === undefined))
      throw new OperatorError('A conversion needs both --counter-amount and --counter-currency.');
    const counter = counterCurrency === undefined ? undefined : { amount: counterAmount!, currency: counterCurrency };
    const content = { accountId, livemode: liveOf(o.mode), amount, currency, reason, ...(counter && { counter }) };
    return shownJson(await proposeAdjustment(operator, content, user()));
  })
    .requiredOption('--amount <amount>', 'what the account gets, such as 10.00, or gives, such as -10.00', amount)
    .requiredOption('--currency <currency>', 'ISO 4217 code', currencyCode)
    .option('--counter-amount <amount>', 'what it gives or gets for that in another currency', amount)
    .option('--counter-currency <currency>', 'ISO 4217 code', currencyCode)
    .requiredOption('--reason <text>', 'why, as the account reads it', name)
    .addOption(mode());

  command(adjustments, 'list', 'List them; --status proposed lists those that wait', async (operator, o) => {
    const status = o.status as AdjustmentStatus | undefined;
    const { nodes, next } = await listAdjustments(operator, {
      ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
    });
    return { adjustments: nodes.map(shownJson), ...(next !== null && { next }) };
  })
    .addOption(new Option('--status <status>').choices(Object.values(AdjustmentStatus)))
    .addOption(mode())
    .addOption(after());

  command(adjustments, 'reject <adjustment>', 'Reject one that waits, or withdraw it', async (operator, _, id) =>
    shownJson(await rejectAdjustment(operator, id, user())),
  );
}

interface Proposal {
  amount: bigint;
  currency: string;
  counterAmount?: bigint;
  counterCurrency?: string;
  reason: string;
}

const shownJson = (row: AdjustmentRow) => ({
  ...adjustmentV1(row),
  ...{ mode: modeOf(row.livemode), status: row.status, proposed_by: row.proposedBy, decided_by: row.decidedBy },
});
