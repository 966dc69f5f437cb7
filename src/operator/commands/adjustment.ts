import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AdjustmentRow, AdjustmentStatus } from '../../resources/adjustment/table.js';
import { shown } from '../../resources/adjustment/type.js';
import { adjustmentV1 } from '../../resources/adjustment/v1.js';
import { amountText } from '../../types/scalars.js';
import { liveOf } from '../../request/mode.js';
import { approvalsLeft } from '../access/approvals.js';
import { listAdjustments, proposeAdjustment, rejectAdjustment } from '../money/adjustments.js';
import { amount, currencyCode, name } from './arguments.js';
import { type AddCommand, after, commandUser, mode } from './command.js';
import { namedPage } from './named.js';

/** Adds the commands about corrections of available money. No command approves one: two named operators are needed. */
export function adjustmentCommands(program: Command, command: AddCommand): void {
  const adjustments = program
    .command('adjustment')
    .description("Corrections of accounts' available money; two named operators approve them in the console");
  const user = () => ({ id: null, name: commandUser() });

  command(adjustments, 'propose <account>', 'Propose one, which moves nothing yet', async (operator, o, accountId) => {
    const { credit, debit } = o as { credit?: Side; debit?: Side };
    const content = { accountId, livemode: liveOf(o.mode), reason: String(o.reason), credit, debit };
    return shownJson(await proposeAdjustment(operator, content, user()));
  })
    .option('--credit <amount currency>', 'what the account gets, such as "10.00 USD"', side)
    .option('--debit <amount currency>', 'what it gives; with a credit, in another currency, a conversion', side)
    .requiredOption('--reason <text>', 'why, as the account reads it', name)
    .addOption(mode());

  const listed = 'List them, the newest first; --status proposed lists those that wait, the oldest first';
  command(adjustments, 'list', listed, async (operator, o) => {
    const status = o.status as AdjustmentStatus | undefined;
    const page = await listAdjustments(operator, {
      ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
    });
    return namedPage(operator, page, 'adjustments', shownJson);
  })
    .addOption(new Option('--status <status>').choices(Object.values(AdjustmentStatus)))
    .addOption(mode())
    .addOption(after());

  command(adjustments, 'reject <adjustment>', 'Reject one that waits, or withdraw it', async (operator, _, id) =>
    shownJson(await rejectAdjustment(operator, id, user())),
  );
}

interface Side {
  amount: bigint;
  currency: string;
}

/** An amount with its currency, such as `10.00 USD`. */
function side(text: string): Side {
  const [given = '', currency = '', ...more] = text.split(' ');
  if (more.length > 0) throw new InvalidArgumentError('It must be an amount and a currency, such as "10.00 USD".');
  return { amount: amount(given), currency: currencyCode(currency) };
}

/** An adjustment as it is printed: its sides as the options take them, so that a table has each in a column. */
function shownJson(row: AdjustmentRow) {
  const { credit, debit } = shown(row);
  const text = (side: typeof credit) => side && `${amountText(side.amount)} ${side.currency}`;
  const { status, proposedBy: proposed_by, decidedBy: decided_by } = row;
  const approvals_left = approvalsLeft(status, row.proposedById);
  return {
    ...{ ...adjustmentV1(row), credit: text(credit), debit: text(debit) },
    ...{ status, proposed_by, decided_by, approvals_left },
  };
}
