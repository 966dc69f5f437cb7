import { type RefundRow, RefundStatus, refund } from '../../resources/refund/table.js';
import { textProblems } from '../../operation/text-problems.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { type ListFilter, listed, type ListPage } from '../paging.js';
import { referenceProblems, withoutSpaceAround } from './notice.js';

/** Lists refunds of all tenants. In live mode, those in status `pending` wait for the operator. */
export function listRefunds(operator: Operator, filter: ListFilter<RefundStatus>): Promise<ListPage<RefundRow>> {
  return listed(operator, 'operator_refunds', refund, Object.values(RefundStatus), filter, filter.status === 'pending');
}

/** The refund with this id. */
export async function refundOf(operator: Operator, id: string): Promise<RefundRow> {
  const [row] = await operator.byId('operator_refund', refund, id);
  if (!row) throw new OperatorError('There is no such refund. Check the id.', 'resource_missing', 'refund.id');
  return row;
}

/** The greatest length of what a bank or an acquirer says, as of a reference. */
const failureReasonLengthMax = 255;

/** What a bank or an acquirer says of the end of a refund. */
export interface RefundReport {
  /** Why it failed. */
  failureReason?: string | null | undefined;
  /** Its own reference. White space around it is left out. */
  bankReference?: string | null | undefined;
  /** Whether the acquirer says so, of a refund that was submitted to it. */
  toldByAcquirer?: boolean | null | undefined;
}

/**
 * Records that the payer has the money of a refund, or that the refund has failed. One that the worker has submitted to
 * an acquirer ends by its word alone: otherwise its money could be given back here and sent there.
 */
export async function endRefund(
  operator: Operator,
  id: string,
  to: 'succeeded' | 'failed',
  { failureReason, bankReference, toldByAcquirer }: RefundReport = {},
): Promise<RefundRow> {
  refuse([
    ...textProblems({ failureReason }, 'refund', failureReasonLengthMax),
    ...(bankReference == null
      ? []
      : [...textProblems({ bankReference }, 'refund'), ...referenceProblems(bankReference, 'refund.bank_reference')]),
  ]);
  const args = {
    ...{ id, to, unsubmitted: !toldByAcquirer },
    ...(failureReason != null && { failureReason }),
    ...(bankReference != null && { bankReference: withoutSpaceAround(bankReference) }),
  };
  return operator.write('move_refund', await refundOf(operator, id), `refund_${to}`, args, refund);
}
