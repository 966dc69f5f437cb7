import { amountProblems } from '../../operation/amount-problems.js';
import { textProblems } from '../../operation/text-problems.js';
import { problem } from '../../errors/problems.js';
import { readNow } from '../../resources/clock/now.js';
import { depositProblems } from '../../resources/deposit/rules.js';
import type { DepositReasonCode } from '../../resources/deposit/table.js';
import { type DisputeRow, DisputeStatus, dispute } from '../../resources/dispute/table.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { type ListFilter, type ListPage, listed } from '../paging.js';
import { type UnexplainedRow, unexplained } from '../table.js';
import { liveAttempt } from './attempts.js';
import { operatorDeposit } from './bank.js';
import { referenceProblems, withoutSpaceAround } from './notice.js';
import { unexplainedUnder } from './taken-back.js';
import { unexplainedOf } from './unexplained.js';

/** What a bank or an acquirer reports of a dispute, under its own reference: it has taken the money back. */
export interface OpenedDispute {
  /** The id of the deposit; or that of the attempt, if it was taken in another currency and so has no deposit. */
  id: string;
  /** By default all that disputes and refunds have left, or that the attempt took. */
  amount?: bigint | null | undefined;
  reasonCode: DepositReasonCode;
  /** The reason in the words of the bank or the acquirer, at most 255 characters. */
  acquirerReason?: string | null | undefined;
  /** The last second at which an answer is taken, since 1970. By default there is no last one. */
  respondBy?: number | null | undefined;
  reference: string;
  /** The tenant of the deposit, which makes the search for it faster. */
  tenantId?: string | null | undefined;
}

/** A dispute; or the money that was taken back, where refunds and disputes had left nothing of the deposit. */
export type OpenedOrUnexplained =
  | { dispute: DisputeRow; unexplained: null }
  | { dispute: null; unexplained: UnexplainedRow };

/** The greatest length of the reason of a bank or an acquirer, as of a reference. */
const acquirerReasonLengthMax = 255;

/**
 * Opens a dispute of a completed deposit in live mode, also of one that a checkout made. Its money is taken at once;
 * where refunds and disputes have left nothing of the deposit, it is unexplained, and there is no dispute. So is all
 * that was taken back of an attempt that was taken in another currency.
 * The same again changes nothing; another deposit, amount or reason under its reference is a conflict.
 * Spec: decisions, 8.13.
 */
export async function openDispute(operator: Operator, given: OpenedDispute): Promise<OpenedOrUnexplained> {
  const { id, amount, reasonCode, acquirerReason, respondBy, reference, tenantId } = given;
  refuse([
    ...textProblems({ id, reference }, 'deposit'),
    ...textProblems({ acquirerReason }, 'dispute', acquirerReasonLengthMax),
    ...depositProblems({ amount: amount ?? null }),
    ...referenceProblems(reference, 'deposit.reference'),
  ]);
  if (id.startsWith('transaction_')) return disputeAttempt(operator, given);
  const row = await operatorDeposit(operator, id, tenantId ?? undefined);
  if (!row.livemode)
    throw new OperatorError(
      'In test mode the test helper disputes deposits; this opens disputes of live mode. Name a live deposit.',
      'parameter_invalid',
      'deposit.id',
    );
  refuse(amountProblems({ amount }, 'deposit', row.currency));
  const args = {
    ...{ id, reference, reasonCode },
    ...(amount != null && { amount }),
    ...(respondBy != null && { respondBy }),
    ...(acquirerReason != null && { acquirerReason }),
  };
  const scope = operator.scope(row);
  if (respondBy != null && respondBy < (await readNow(scope))) {
    // The same again stays what it was, also after the moment has passed.
    const disputes = await scope.all(dispute, dispute.depositId, id);
    const isKnown =
      disputes.some((each) => each.reference === withoutSpaceAround(reference)) ||
      (await unexplainedUnder(scope, reference));
    if (!isKnown) refuse([problem('parameter_invalid', 'dispute.respond_by', 'must not be in the past')]);
  }
  await scope.refuseBesideOtherReleases();
  const opened = await operator.writeOrNone('open_dispute', row, 'openDispute', args, dispute);
  if (opened) return { dispute: opened, unexplained: null };
  return { dispute: null, unexplained: (await unexplainedUnder(operator.scope(row), reference))! };
}

/** Keeps what was taken back of an attempt that was taken in another currency. All of it is unexplained. */
async function disputeAttempt(
  operator: Operator,
  { id, amount, reasonCode, acquirerReason, reference }: OpenedDispute,
): Promise<OpenedOrUnexplained> {
  const row = await liveAttempt(operator, id);
  refuse(amountProblems({ amount }, 'deposit', row.takenCurrency ?? row.currency));
  const args = {
    ...{ id, reference, reasonCode },
    ...(amount != null && { amount }),
    ...(acquirerReason != null && { acquirerReason }),
  };
  await operator.scope(row).refuseBesideOtherReleases();
  return {
    dispute: null,
    unexplained: await operator.write('dispute_attempt', row, 'openDispute', args, unexplained),
  };
}

/** Lists disputes of all tenants. In live mode, those under review wait for the operator. */
export function listDisputes(operator: Operator, filter: ListFilter<DisputeStatus>): Promise<ListPage<DisputeRow>> {
  return listed(
    operator,
    'operator_disputes',
    dispute,
    Object.values(DisputeStatus),
    filter,
    filter.status === 'under_review',
  );
}

/** The dispute with this id. */
export async function disputeOf(operator: Operator, id: string): Promise<DisputeRow> {
  const [row] = await operator.byId('operator_dispute', dispute, id);
  if (!row) throw new OperatorError('There is no such dispute. Check the id.', 'resource_missing', 'dispute.id');
  return row;
}

/**
 * Records how a dispute was decided, whether it was answered or not. The money of a won one comes back. One that no
 * balance had is named by the id of its unexplained money.
 */
export async function decideDispute(operator: Operator, id: string, to: 'won' | 'lost'): Promise<OpenedOrUnexplained> {
  const isKept = id.startsWith('unexplained_');
  const row = isKept ? await unexplainedOf(operator, id) : await disputeOf(operator, id);
  await operator.scope(row).refuseBesideOtherReleases();
  const args = { id, to };
  return isKept
    ? {
        dispute: null,
        unexplained: await operator.write('decide_unexplained', row, `dispute_${to}`, args, unexplained),
      }
    : { dispute: await operator.write('decide_dispute', row, `dispute_${to}`, args, dispute), unexplained: null };
}
