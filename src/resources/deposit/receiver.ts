import type { AccountRow } from '../account/table.js';

/**
 * The account that receives the deposits of an account: the owner of a partner, otherwise the account itself.
 * `receiver_of` in drizzle/functions/deposit.sql has the same rule and decides; this one allows a refusal before the
 * write.
 */
export function receiverOf({ kind, id, ownerId }: Pick<AccountRow, 'kind' | 'id' | 'ownerId'>): string {
  return kind === 'partner' ? ownerId! : id;
}
