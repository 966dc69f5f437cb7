import type { Scope } from '../db/scope.js';
import { type TransactionRow, transaction } from '../resources/transaction/table.js';
import { endOfRefund } from './adapter/protocol.js';
import { type RefundRow, RefundStatus, refund } from '../resources/refund/table.js';
import { acquirerOf, acquirers as delivered } from './acquirer.js';

const answerMillisecondsMax = 10_000;

/**
 * Queries the acquirer for the status of the claimed attempts and stores its answers. So a payment whose answer was
 * lost between the acquirer and the database, or came late, is still credited, and only once. An attempt whose query
 * fails is polled again later.
 */
export async function pollStatus(
  scope: Scope,
  attempts: TransactionRow[],
  onFault: (error: unknown) => void,
  acquirers = delivered,
): Promise<void> {
  const acquirer = acquirerOf(scope.caller.livemode, acquirers);
  if (!acquirer) return;
  const poll = async (attempt: TransactionRow) => {
    const { id, paymentMethodDetails: details } = attempt;
    const decision = await inTime(acquirer.pollStatus(attempt, details));
    await scope.write('record_status_poll', transaction, { requestId: '' }, { details, ...decision, id });
  };
  await Promise.all(attempts.map((attempt) => poll(attempt).catch(onFault)));
}

/** Whether there is an acquirer to which the refunds of a mode are submitted. */
export function submitsRefunds(livemode: boolean, acquirers = delivered): boolean {
  return acquirerOf(livemode, acquirers)?.refund !== undefined;
}

/**
 * Submits the claimed refunds to the acquirer, and stores how they have ended. One that is pending there, or whose
 * request fails, is submitted again later, which does not refund it twice.
 */
export async function sendRefunds(
  scope: Scope,
  refunds: RefundRow[],
  onFault: (error: unknown) => void,
  acquirers = delivered,
): Promise<void> {
  const acquirer = acquirerOf(scope.caller.livemode, acquirers);
  if (!acquirer?.refund) return;
  const send = async ({ id, depositId, checkoutId, amount, currency }: RefundRow) => {
    // It may have ended since it was claimed, and its money is back then.
    const [now, attempts] = await Promise.all([
      scope.one(refund, id),
      scope.all(transaction, transaction.checkoutId, checkoutId!),
    ]);
    if (now.status !== RefundStatus.PENDING) return;
    const attempt = attempts.find((each) => each.depositId === depositId);
    if (!attempt) throw new Error(`the refund ${id} has no attempt`);
    const state = await inTime(acquirer.refund!({ id, attemptId: attempt.id, amount, currency }));
    if (state.status !== 'pending') await scope.write('move_refund', refund, { requestId: '' }, endOfRefund(id, state));
  };
  await Promise.all(refunds.map((each) => send(each).catch(onFault)));
}

/** Rejects when an answer takes too long, so that a slow answer does not delay the polls of other attempts. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the acquirer does not answer')), answerMillisecondsMax);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
