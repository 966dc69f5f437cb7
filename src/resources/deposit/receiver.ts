import type { AccountKind, AccountRow } from '../account/table.js';

/**
 * The account that receives the deposits of an account, by the account's kind: the account itself, or its owner.
 * `receiver_by_kind` in drizzle/functions/write/rules.sql is generated from it. The SQL functions decide; TypeScript
 * asks in order to refuse before the write.
 */
export const receiverByKind = {
  platform: 'id',
  direct_user: 'id',
  connected_user: 'id',
  partner: 'ownerId',
} as const satisfies Record<AccountKind, 'id' | 'ownerId'>;

/** The account that receives the deposits of an account. */
export function receiverOf(row: Pick<AccountRow, 'kind' | 'id' | 'ownerId'>): string {
  // Only a root account has no owner.
  return row[receiverByKind[row.kind]]!;
}
