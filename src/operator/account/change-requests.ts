import { textProblems } from '../../operation/text-problems.js';
import {
  type ChangeRequestRow,
  ChangeRequestStatus,
  changeRequest,
  reasonLengthMax,
} from '../../resources/change-request/table.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { type ListFilter, listed, type ListPage } from '../paging.js';

/** Lists change requests of all tenants. Those in status `open` wait for the operator. */
export const listChangeRequests = (
  operator: Operator,
  filter: ListFilter<ChangeRequestStatus>,
): Promise<ListPage<ChangeRequestRow>> =>
  listed(
    operator,
    'operator_change_requests',
    changeRequest,
    Object.values(ChangeRequestStatus),
    filter,
    filter.status === 'open',
  );

/** The change request with this id. */
export async function changeRequestOf(operator: Operator, id: string): Promise<ChangeRequestRow> {
  const [row] = await operator.byId('operator_change_request', changeRequest, id);
  if (row) return row;
  throw new OperatorError('There is no such change request. Check the id.', 'resource_missing', 'change_request.id');
}

/** Gives an account the details of its open request, or declines it. `answer` is shown to the account. */
export async function endChangeRequest(
  operator: Operator,
  id: string,
  to: 'accepted' | 'declined',
  answer: string | null | undefined,
): Promise<ChangeRequestRow> {
  refuse(textProblems({ answer }, 'change_request', reasonLengthMax));
  const args = { id, to, ...(answer != null && { answer }) };
  return operator.write(
    'end_change_request',
    await changeRequestOf(operator, id),
    `change_request_${to}`,
    args,
    changeRequest,
  );
}
