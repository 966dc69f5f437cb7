import type { Row, Rows } from '../../db/list-statement.js';
import type { Scope } from '../../db/scope.js';
import { DomainError, problem } from '../../request/problems.js';
import { account } from '../account/table.js';
import type { ReceivableLockRow } from './table.js';

/** Refuses a customer that the caller does not see, or that is no partner of the account. */
export async function checkCustomer(scope: Scope, id: string | null | undefined, accountId: string): Promise<void> {
  if (!id) return;
  const customer = await scope.one(account, id, 'receivable.customer_id');
  if (customer.kind !== 'partner' || customer.ownerId !== accountId)
    throw new DomainError(
      problem('account_type_invalid', 'receivable.customer_id', 'The customer must be a partner of the account.'),
    );
}

/** The ids of the deposits or receivables of the locks that still have an amount, without duplicates. */
export function idsOf(locks: ReceivableLockRow[], side: 'depositId' | 'receivableId'): string[] {
  return [...new Set(locks.filter(({ amount }) => amount > 0n).map((lock) => lock[side]))];
}

/** The objects with these ids, without those that the caller cannot see. */
export async function found<T extends Rows>(scope: Scope, table: T, ids: readonly string[]): Promise<Row<T>[]> {
  const rows = await Promise.all(ids.map((id) => scope.find(table, id)));
  return rows.filter((row) => row !== null);
}
