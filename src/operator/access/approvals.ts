import type { AdjustmentStatus } from '../../resources/adjustment/table.js';
import { type Operator, OperatorError } from '../operator.js';
import type { PaymentOrderStatus } from '../payment-order/table.js';
import { namedOperators } from './operators.js';

export const approvalsLeftText =
  'How many named operators have to approve it yet: two of what `OPERATOR_KEY` or a command has proposed, one of ' +
  'what a named operator has, and none once it is decided.';

/** How many named operators have to approve an adjustment or an order yet. Spec: decisions, 8.15. */
export function approvalsLeft(status: AdjustmentStatus | PaymentOrderStatus, proposedById: string | null): number {
  if (status !== 'proposed' && status !== 'gathering') return 0;
  return proposedById === null ? 2 : 1;
}

/** Refuses an approval while there are fewer than two operators who could propose and approve. */
export async function refuseAlone(operator: Operator, what: 'An adjustment' | 'A payment order'): Promise<void> {
  if ((await namedOperators(operator)) >= 2) return;
  throw new OperatorError(
    `${what} needs two named operators: one proposes it, and another one approves it. There are fewer than ` +
      'two with the role operate. Create another one with `tidegate operator create`.',
    'permission_denied',
  );
}
