import { amountProblems } from '../../operation/amount-problems.js';
import { textProblems } from '../../operation/text-problems.js';
import { depositProblems } from '../../resources/deposit/rules.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { type ListFilter, listed, type ListPage } from '../paging.js';
import { operatorDeposit } from './bank.js';
import { referenceProblems } from './notice.js';
import { type UnexplainedRow, UnexplainedStatus, unexplained } from '../table.js';

/** The greatest length of what became of unexplained money. */
const resolutionLengthMax = 1_000;

/** Lists unexplained money of all tenants. What is `open` waits for the operator. */
export function listUnexplained(
  operator: Operator,
  filter: ListFilter<UnexplainedStatus>,
): Promise<ListPage<UnexplainedRow>> {
  return listed(
    operator,
    'operator_unexplained',
    unexplained,
    Object.values(UnexplainedStatus),
    filter,
    filter.status === 'open',
  );
}

/** What a bank or an acquirer has taken back of a deposit that has nothing left of it. */
export interface TakenBack {
  depositId: string;
  amount: bigint;
  /** The reference of the bank or the acquirer. */
  reference: string;
  /** What is known of it. */
  note: string;
  /** The tenant of the deposit, which makes the search for it faster. */
  tenantId?: string | null | undefined;
}

/**
 * Records what was taken back of a live deposit where a dispute or a recall cannot take it, because refunds have left
 * nothing. It is in no balance. The same again changes nothing. Spec: decisions, 8.11.
 */
export async function recordUnexplained(operator: Operator, given: TakenBack): Promise<UnexplainedRow> {
  const { depositId, amount, reference, note, tenantId } = given;
  refuse([
    ...textProblems({ depositId, reference }, 'unexplained'),
    ...textProblems({ note }, 'unexplained', resolutionLengthMax),
    ...referenceProblems(reference, 'unexplained.reference'),
    ...depositProblems({ amount }),
  ]);
  const row = await operatorDeposit(operator, depositId, tenantId ?? undefined);
  if (!row.livemode || row.amount < 0n)
    throw new OperatorError(
      'Name a live deposit that was received: nothing else is taken back.',
      'parameter_invalid',
      'deposit.id',
    );
  refuse(amountProblems({ amount }, 'unexplained', row.currency));
  const args = { depositId, amount, reference, note };
  return operator.write('record_unexplained', row, 'recordUnexplained', args, unexplained);
}

/** The unexplained money with this id. */
export async function unexplainedOf(operator: Operator, id: string): Promise<UnexplainedRow> {
  const [row] = await operator.byId('operator_unexplained_by_id', unexplained, id);
  if (!row)
    throw new OperatorError('There is no such unexplained money. Check the id.', 'resource_missing', 'unexplained.id');
  return row;
}

/** Records what became of unexplained money, which moves nothing. Spec: decisions, 8.14. */
export async function resolveUnexplained(
  operator: Operator,
  id: string,
  resolution: string,
  resolvedBy: string,
): Promise<UnexplainedRow> {
  refuse(textProblems({ resolution }, 'unexplained', resolutionLengthMax));
  const row = await unexplainedOf(operator, id);
  return operator.write('resolve_unexplained', row, 'resolveUnexplained', { id, resolution, resolvedBy }, unexplained);
}
