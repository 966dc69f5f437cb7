import type { Scope } from '../db/scope.js';
import { type TransactionRow, transaction } from '../resources/transaction/table.js';
import { acquirerOf, acquirers as delivered } from './acquirer.js';

const answerMillisecondsMax = 10_000;

/**
 * Asks the acquirer what has become of attempts that were claimed for it, and writes down what it says: an answer that was lost
 * between the acquirer and the database, or that comes late, is credited all the same, and once. Who cannot be asked now is
 * asked again.
 */
export async function pollStatus(
  scope: Scope,
  attempts: TransactionRow[],
  onFault: (error: unknown) => void,
  acquirers = delivered,
): Promise<void> {
  const acquirer = acquirerOf(scope.caller.livemode, acquirers);
  if (!acquirer) return;
  const ask = async ({ id, paymentMethodDetails: details }: TransactionRow) => {
    const decision = await inTime(acquirer.pollStatus(id, details));
    await scope.write('answer_inquiry', transaction, { requestId: '' }, { details, ...decision, id });
  };
  await Promise.all(attempts.map((attempt) => ask(attempt).catch(onFault)));
}

/** An answer that takes too long is none: nobody else's question may wait for it. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the acquirer does not answer')), answerMillisecondsMax);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
