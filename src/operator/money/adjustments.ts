import { type AdjustmentContent, adjustmentProblems } from '../../resources/adjustment/rules.js';
import { type AdjustmentRow, AdjustmentStatus, adjustment } from '../../resources/adjustment/table.js';
import { amountProblems } from '../../operation/amount-problems.js';
import { textProblems } from '../../operation/text-problems.js';
import { refuseAlone } from '../access/approvals.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { type ListFilter, listed, type ListPage } from '../paging.js';

/** Who proposes an adjustment, or decides about it; without an id for OPERATOR_KEY and the command line. */
export interface Actor {
  id: string | null;
  name: string;
}

/** Lists the adjustments of all tenants. Those in status `proposed` wait for another operator. */
export function listAdjustments(
  operator: Operator,
  filter: ListFilter<AdjustmentStatus>,
): Promise<ListPage<AdjustmentRow>> {
  return listed(
    operator,
    'operator_adjustments',
    adjustment,
    Object.values(AdjustmentStatus),
    filter,
    filter.status === 'proposed',
  );
}

/** Proposes to adjust the available money of an account, which moves nothing yet. Spec: decisions, 8.15. */
export async function proposeAdjustment(
  operator: Operator,
  { accountId, livemode, ...content }: AdjustmentContent & { accountId: string; livemode: boolean | undefined },
  by: Actor,
): Promise<AdjustmentRow> {
  refuse([
    ...textProblems({ reason: content.reason }, 'adjustment'),
    ...adjustmentProblems(content),
    ...amountProblems(content, 'adjustment'),
  ]);
  const row = await operator.account(accountId, livemode, 'adjustment.account_id');
  const args = { accountId: row.id, ...content, proposedBy: by.name, proposedById: by.id };
  return operator.write('propose_adjustment', row, 'proposeAdjustment', args, adjustment);
}

/**
 * Approves a proposal: its money moves at once. Only a named operator can, and not the one that proposed it. What
 * OPERATOR_KEY or a command has proposed becomes the proposal of the first one who approves it.
 */
export async function approveAdjustment(operator: Operator, id: string, by: Actor): Promise<AdjustmentRow> {
  await refuseAlone(operator, 'An adjustment');
  return decided(operator, id, 'approved', by);
}

/** Rejects a proposal, or withdraws it. It moves nothing. */
export const rejectAdjustment = (operator: Operator, id: string, by: Actor): Promise<AdjustmentRow> =>
  decided(operator, id, 'rejected', by);

async function decided(operator: Operator, id: string, to: 'approved' | 'rejected', by: Actor): Promise<AdjustmentRow> {
  const [row] = await operator.byId('operator_adjustment', adjustment, id);
  if (!row) throw new OperatorError('There is no such adjustment. Check the id.', 'resource_missing', 'adjustment.id');
  const args = { id, to, decidedBy: by.name, decidedById: by.id };
  return operator.write('decide_adjustment', row, `adjustment_${to}`, args, adjustment);
}
