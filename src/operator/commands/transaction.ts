import { type Command, Option } from 'commander';
import type { TransactionRow } from '../../resources/transaction/table.js';
import { transactionV1 } from '../../resources/transaction/v1.js';
import { amount, currencyCode } from './arguments.js';
import { type AddCommand, after, reason } from './command.js';
import { amountText } from '../../types/scalars.js';
import { modeOf } from '../../request/mode.js';
import {
  type AttemptDecision,
  decideTransaction,
  listPendingAttempts,
  type PendingAttempt,
} from '../money/attempts.js';
import { listMismatches } from '../money/bank.js';
import { namedPage } from './named.js';

/** Adds the commands about attempts to pay checkouts. */
export function transactionCommands(program: Command, command: AddCommand): void {
  const transactions = program.command('transaction').description('Attempts to pay checkouts');

  command(
    transactions,
    'mismatches',
    'List the successes that an acquirer reported and that do not match their attempts',
    async (operator) => namedPage(operator, ofPayees(await listMismatches(operator)), 'mismatches', mismatchJson),
  );
  command(
    transactions,
    'pending',
    'List the attempts in live mode whose time is over and of which the acquirer has not said how they ended',
    async (operator, o) => {
      const { nodes, next } = await listPendingAttempts(operator, o.after as string | undefined);
      return namedPage(operator, ofPayees(nodes, next), 'transactions', pendingJson);
    },
  ).addOption(after());
  command(
    transactions,
    'decide <transaction>',
    'Record what the acquirer says of an attempt in live mode, as a report of it would',
    async (operator, o, id) =>
      transactionV1(
        await decideTransaction(operator, id, {
          status: o.status as AttemptDecision['status'],
          amount: o.amount as bigint | undefined,
          currency: o.currency as string | undefined,
        }),
      ),
  )
    .addOption(new Option('--status <status>').choices(['succeeded', 'failed']).makeOptionMandatory())
    .option('--amount <amount>', 'what it really took, such as 40.00; by default the amount of the attempt', amount)
    .option('--currency <currency>', 'the currency of the amount; by default that of the attempt', currencyCode)
    .addOption(reason());
}

/** Attempts with the accounts whose checkouts they are to pay. */
const ofPayees = <Row extends TransactionRow>(rows: Row[], next: string | null = null) => ({
  nodes: rows.map((row) => ({ ...row, accountId: row.actingAccountId })),
  next,
});

function pendingJson(row: PendingAttempt) {
  const { id, created, checkout_id, amount: asked, currency, status } = transactionV1(row);
  return {
    ...{ transaction: id, created, checkout: checkout_id, amount: asked, currency, status },
    ...{ expired_at: row.expiresAt, next_poll_at: row.nextPollAt },
  };
}

function mismatchJson(row: TransactionRow) {
  const { id, livemode, checkout_id, amount: asked, currency, status } = transactionV1(row);
  const { paymentMethodDetails: submitted } = row;
  const { credited, details: reported, amount: taken, currency: takenCurrency } = row.mismatch!;
  return {
    ...{ transaction: id, mode: modeOf(livemode), checkout: checkout_id, amount: asked, currency, status },
    ...{ credited, submitted, reported },
    ...(taken !== undefined && { reported_amount: `${amountText(BigInt(taken))} ${takenCurrency}` }),
  };
}
