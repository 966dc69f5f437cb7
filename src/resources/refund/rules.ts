import { type Problem, problem } from '../../errors/problems.js';
import type { CreateRefundInput } from './inputs.js';

/** The problems of a refund that names no deposit or two, or whose amount is not positive. */
export function refundProblems({ depositId, checkoutId, amount }: CreateRefundInput): Problem[] {
  const problems: Problem[] = [];
  if (depositId == null && checkoutId == null)
    problems.push(
      problem('parameter_missing', 'refund.deposit_id', {
        v1: 'Send deposit_id or checkout_id.',
        graph: 'Send depositId or checkoutId.',
      }),
    );
  if (depositId != null && checkoutId != null)
    problems.push(
      problem('parameter_invalid', 'refund.checkout_id', {
        v1: 'goes without deposit_id',
        graph: 'goes without depositId',
      }),
    );
  if (amount != null && amount <= 0n)
    problems.push(problem('parameter_invalid', 'refund.amount', 'must be greater than zero'));
  return problems;
}
