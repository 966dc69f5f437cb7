import { type Command, Option } from 'commander';
import { liveOf } from '../../request/mode.js';
import { RefundStatus } from '../../resources/refund/table.js';
import { refundV1 } from '../../resources/refund/v1.js';
import { endRefund, listRefunds, refundOf } from '../money/refunds.js';
import { type AddCommand, after, given, mode, reason } from './command.js';
import { namedPage } from './named.js';

/** Adds the commands about refunds of live mode, which the operator carries out. */
export function refundCommands(program: Command, command: AddCommand): void {
  const refunds = program.command('refund').description('Refunds that accounts have asked for');

  command(
    refunds,
    'list',
    'List refunds, the newest first; --status pending --mode live lists those that wait for you, the oldest first',
    async (operator, o) => {
      const status = o.status as RefundStatus | undefined;
      const page = await listRefunds(operator, {
        ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
      });
      return namedPage(operator, page, 'refunds', refundV1);
    },
  )
    .addOption(new Option('--status <status>').choices(Object.values(RefundStatus)))
    .addOption(mode())
    .addOption(after());

  command(refunds, 'show <refund>', 'Show a refund', async (operator, _, id) => refundV1(await refundOf(operator, id)));
  const end = (name: string, description: string, to: 'succeeded' | 'failed') =>
    command(refunds, `${name} <refund>`, description, async (operator, o, id) => {
      const report = given(o, {
        ...{ failureReason: 'failureReason', bankReference: 'bankReference', toldByAcquirer: 'toldByAcquirer' },
      });
      return refundV1(await endRefund(operator, id, to, report));
    })
      .option('--bank-reference <text>', 'the reference of the bank or the acquirer, such as a UTR or an ARN')
      .option('--told-by-acquirer', 'the acquirer says so, of a refund that was submitted to it')
      .addOption(reason());
  end('succeed', 'Record that the payer has the money of a refund', 'succeeded');
  end('fail', 'Record that a refund has failed; its money is back where it came from', 'failed').option(
    '--failure-reason <text>',
    'why, for the account, in the words of the bank or the acquirer',
  );
}
