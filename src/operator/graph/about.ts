import type { Child } from '../../db/list/statement.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { type AccountRow, account } from '../../resources/account/table.js';
import { address } from '../../resources/address/table.js';
import { adjustment } from '../../resources/adjustment/table.js';
import { changeRequest } from '../../resources/change-request/table.js';
import { checkout } from '../../resources/checkout/table.js';
import { deposit } from '../../resources/deposit/table.js';
import { dispute } from '../../resources/dispute/table.js';
import { payout } from '../../resources/payout/table.js';
import { receivable } from '../../resources/receivable/table.js';
import { refund } from '../../resources/refund/table.js';
import { transaction } from '../../resources/transaction/table.js';
import type { Related } from './related.js';

/** The tables of objects that are about an account, by the nouns of their ids, with the column that has the account. */
const tables: Readonly<Record<string, readonly [table: Child & { id: Child['id'] }, column: string]>> = {
  address: [address, 'linkedId'],
  adjustment: [adjustment, 'accountId'],
  change_request: [changeRequest, 'accountId'],
  checkout: [checkout, 'toAccountId'],
  deposit: [deposit, 'toAccountId'],
  dispute: [dispute, 'accountId'],
  payout: [payout, 'accountId'],
  receivable: [receivable, 'accountId'],
  refund: [refund, 'accountId'],
  transaction: [transaction, 'actingAccountId'],
};

/**
 * The account that an object is about, so that people read its name: the account itself, who receives a payment, or
 * whose payout it is. Null for objects that are about none. What is asked at a time is one statement per table.
 */
export async function accountAbout(related: Related, place: TenantAndMode, id: string): Promise<AccountRow | null> {
  const noun = id.replace(/_[^_]*$/, '');
  if (noun === 'account') return related.one(account, account.id, place, id);
  const [table, column] = tables[noun] ?? [];
  const row = table && (await related.one(table, table.id, place, id));
  if (!row) return null;
  return related.one(account, account.id, place, Reflect.get(row, column!) as string);
}
