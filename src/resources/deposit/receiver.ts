import type { AccountRow } from '../account/table.js';

/**
 * The account that receives the deposits of an account: the owner of a partner, otherwise the account itself. The same
 * rule as `receiver_of` of drizzle/functions/deposit.sql, which decides; this one refuses before a write is tried.
 */
export function receiverOf({ kind, id, ownerId }: Pick<AccountRow, 'kind' | 'id' | 'ownerId'>): string {
  return kind === 'partner' ? ownerId! : id;
}
