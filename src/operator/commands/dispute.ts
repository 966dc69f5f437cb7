import { type Command, Option } from 'commander';
import { liveOf } from '../../request/mode.js';
import type { DepositReasonCode } from '../../resources/deposit/table.js';
import { DisputeStatus } from '../../resources/dispute/table.js';
import { disputeV1 } from '../../resources/dispute/v1.js';
import { decideDispute, disputeOf, listDisputes, type OpenedOrUnexplained, openDispute } from '../money/disputes.js';
import { amount, dateTime } from './arguments.js';
import { type AddCommand, after, given, mode } from './command.js';
import { reasonCode, tenant } from './deposit.js';
import { namedPage } from './named.js';
import { shownJson } from './unexplained.js';

/** Adds the commands about disputes of live mode, which banks and acquirers report. */
export function disputeCommands(program: Command, command: AddCommand): void {
  const disputes = program.command('dispute').description('Disputes of deposits, as banks and acquirers report them');

  command(
    disputes,
    'list',
    'List disputes, the newest first; --status under_review --mode live lists those whose answers the bank or the ' +
      'acquirer wants, the oldest first',
    async (operator, o) => {
      const status = o.status as DisputeStatus | undefined;
      const page = await listDisputes(operator, {
        ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
      });
      return namedPage(operator, page, 'disputes', disputeV1);
    },
  )
    .addOption(new Option('--status <status>').choices(Object.values(DisputeStatus)))
    .addOption(mode())
    .addOption(after());

  command(disputes, 'show <dispute>', 'Show a dispute with its answer', async (operator, _, id) =>
    disputeV1(await disputeOf(operator, id)),
  );

  command(
    disputes,
    'open <deposit>',
    'Open a dispute of a completed deposit, or of an attempt that was taken in another currency, whose money was ' +
      'taken back; opening it again changes nothing',
    async (operator, o, id) => {
      const opened = await openDispute(operator, {
        ...{ id, reference: String(o.reference), reasonCode: o.reasonCode as DepositReasonCode },
        ...given(o, { amount: 'amount', acquirerReason: 'acquirerReason', respondBy: 'respondBy', tenantId: 'tenant' }),
      });
      return shown(opened);
    },
  )
    .requiredOption('--reference <reference>', "the bank's or the acquirer's own reference of the dispute")
    .addOption(reasonCode().makeOptionMandatory())
    .option('--acquirer-reason <text>', 'the reason in the words of the bank or the acquirer')
    .option('--respond-by <time>', 'the last moment of an answer, such as 2026-12-04T12:00:00Z', dateTime)
    .option('--amount <amount>', 'such as 40.00; by default what disputes and refunds have left', amount)
    .addOption(tenant());

  const decide = (name: string, description: string, to: 'won' | 'lost') =>
    command(disputes, `${name} <dispute>`, `${description}; it may be unexplained money`, async (operator, _, id) =>
      shown(await decideDispute(operator, id, to)),
    );
  decide('win', 'Record that a dispute was decided for the account; its money is pending of the deposit again', 'won');
  decide('lose', 'Record that a dispute was decided for the payer', 'lost');
}

const shown = ({ dispute, unexplained }: OpenedOrUnexplained) =>
  dispute ? disputeV1(dispute) : shownJson(unexplained);
