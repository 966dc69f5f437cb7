import { type Problem, problem } from '../../errors/problems.js';

interface Side {
  amount: bigint;
  currency: string;
}

/** An adjustment as it is proposed. */
export interface AdjustmentContent {
  credit?: Side | null | undefined;
  debit?: Side | null | undefined;
  reason: string;
}

export const reasonLengthMax = 200;

/** The problems of an adjustment that moves nothing, or whose two sides are no conversion. */
export function adjustmentProblems(input: object): Problem[] {
  const { credit, debit, reason } = input as Partial<AdjustmentContent>;
  const problems: Problem[] = [];
  if (!credit && !debit)
    problems.push(problem('parameter_missing', 'adjustment.credit', 'Give what the account gets, or what it gives.'));
  for (const [name, side] of Object.entries({ credit, debit }))
    if (side?.amount !== undefined && side.amount <= 0n)
      problems.push(problem('parameter_invalid', `adjustment.${name}.amount`, 'must be greater than zero'));
  if (credit && debit && credit.currency === debit.currency)
    problems.push(
      problem('parameter_invalid', 'adjustment.debit.currency', 'must be another currency than that of the credit'),
    );
  // A text that is missing is refused by its type.
  if (reason?.trim() === '') problems.push(problem('parameter_invalid_empty', 'adjustment.reason'));
  else if ([...(reason ?? '')].length > reasonLengthMax)
    problems.push(problem('parameter_invalid', 'adjustment.reason', `must have at most ${reasonLengthMax} characters`));
  return problems;
}
