import type { Command } from 'commander';
import type { TransactionRow } from '../../resources/transaction/table.js';
import { transactionV1 } from '../../resources/transaction/v1.js';
import type { AddCommand } from './command.js';
import { amountText } from '../../types/scalars.js';
import { modeOf } from '../../request/mode.js';
import { listMismatches } from '../money/bank.js';

/** Adds the commands about attempts to pay checkouts. */
export function transactionCommands(program: Command, command: AddCommand): void {
  const transactions = program.command('transaction').description('Attempts to pay checkouts');

  command(
    transactions,
    'mismatches',
    'List the successes that an acquirer reported and that do not match their attempts',
    async (operator) => ({ mismatches: (await listMismatches(operator)).map(mismatchJson) }),
  );
}

function mismatchJson(row: TransactionRow) {
  const { id, livemode, checkout_id, amount, currency, status } = transactionV1(row);
  const { paymentMethodDetails: submitted } = row;
  const { credited, details: reported, amount: taken, currency: takenCurrency } = row.mismatch!;
  return {
    ...{ transaction: id, mode: modeOf(livemode), checkout: checkout_id, amount, currency, status },
    ...{ credited, submitted, reported },
    ...(taken !== undefined && { reported_amount: `${amountText(BigInt(taken))} ${takenCurrency}` }),
  };
}
