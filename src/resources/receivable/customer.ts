import type { Scope } from '../../db/scope.js';
import { DomainError, problem } from '../../errors/problems.js';
import { account } from '../account/table.js';

/** Refuses a customer that the caller does not see, or that is no partner of the account. */
export async function checkCustomer(scope: Scope, id: string | null | undefined, accountId: string): Promise<void> {
  if (!id) return;
  const customer = await scope.one(account, id, 'receivable.customer_id');
  if (customer.kind !== 'partner' || customer.ownerId !== accountId)
    throw new DomainError(
      problem('account_type_invalid', 'receivable.customer_id', 'The customer must be a partner of the account.'),
    );
}
