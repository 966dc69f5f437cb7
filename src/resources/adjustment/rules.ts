import { type Problem, problem } from '../../errors/problems.js';

/** An adjustment as it is proposed. */
export interface AdjustmentContent {
  amount: bigint;
  currency: string;
  counter?: { amount: bigint; currency: string } | null | undefined;
  reason: string;
}

export const reasonLengthMax = 200;

/** The problems of an adjustment that says nothing, or whose two sides are not those of a conversion. */
export function adjustmentProblems(input: object): Problem[] {
  const { amount, currency, counter, reason } = input as AdjustmentContent;
  const problems: Problem[] = [];
  if (amount === 0n) problems.push(problem('parameter_invalid', 'adjustment.amount', 'must not be zero'));
  if (counter && counter.currency === currency)
    problems.push(problem('parameter_invalid', 'adjustment.counter.currency', 'must be another currency'));
  if (counter && (counter.amount === 0n || counter.amount > 0n === amount > 0n))
    problems.push(
      problem(
        'parameter_invalid',
        'adjustment.counter.amount',
        'must be negative where `amount` is positive, and positive where it is negative',
      ),
    );
  if (reason.trim() === '') problems.push(problem('parameter_invalid_empty', 'adjustment.reason'));
  else if ([...reason].length > reasonLengthMax)
    problems.push(problem('parameter_invalid', 'adjustment.reason', `must have at most ${reasonLengthMax} characters`));
  return problems;
}
