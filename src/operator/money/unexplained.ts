import { textProblems } from '../../operation/text-problems.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { type ListFilter, listed, type ListPage } from '../paging.js';
import { type UnexplainedRow, UnexplainedStatus, unexplained } from '../table.js';

/** The greatest length of what became of unexplained money. */
const resolutionLengthMax = 1_000;

/** Lists unexplained money of all tenants, oldest first. What is `open` waits for the operator. */
export function listUnexplained(
  operator: Operator,
  filter: ListFilter<UnexplainedStatus>,
): Promise<ListPage<UnexplainedRow>> {
  return listed(operator, 'operator_unexplained', unexplained, Object.values(UnexplainedStatus), filter);
}

/** Records what became of unexplained money, which moves nothing. Spec: decisions, 8.14. */
export async function resolveUnexplained(
  operator: Operator,
  id: string,
  resolution: string,
  resolvedBy: string,
): Promise<UnexplainedRow> {
  refuse(textProblems({ resolution }, 'unexplained', resolutionLengthMax));
  const [row] = await operator.byId('operator_unexplained_by_id', unexplained, id);
  if (!row)
    throw new OperatorError('There is no such unexplained money. Check the id.', 'resource_missing', 'unexplained.id');
  return operator.write('resolve_unexplained', row, 'resolveUnexplained', { id, resolution, resolvedBy }, unexplained);
}
