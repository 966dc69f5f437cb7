import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { type AccountRow, account } from '../../resources/account/table.js';
import type { Operator } from '../operator.js';
import type { ListPage } from '../paging.js';

/** A page as it is printed, with the cursor of the next one unless it is the last. */
export function pageJson<Row, Shown>(
  { nodes, next }: ListPage<Row>,
  name: string,
  shown: (row: Row, i: number) => Shown,
) {
  return { [name]: nodes.map(shown), ...(next !== null && { next }) };
}

/** A page whose rows have the names of their accounts, `account_name`, which one statement reads for all of them. */
export async function namedPage<Row extends TenantAndMode & { accountId: string }, Shown extends object>(
  operator: Operator,
  page: ListPage<Row>,
  name: string,
  shown: (row: Row) => Shown,
) {
  const names = await namesOf(operator, page.nodes);
  return pageJson(page, name, (row, i) => ({ ...shown(row), account_name: names[i] }));
}

/** What an account is called; null for none. */
export const nameOf = (row: AccountRow | null): string | null =>
  row?.businessDetails.legalName ?? row?.nickname ?? null;

/** What the accounts of rows are called. */
function namesOf(
  operator: Operator,
  rows: readonly (TenantAndMode & { accountId: string })[],
): Promise<(string | null)[]> {
  const related = operator.related();
  return Promise.all(rows.map(async (row) => nameOf(await related.one(account, account.id, row, row.accountId))));
}

/** The names of the root accounts of the tenants of rows. */
export const tenantNamesOf = (operator: Operator, rows: readonly TenantAndMode[]) =>
  namesOf(
    operator,
    rows.map(({ tenantId, livemode }) => ({ tenantId, livemode, accountId: `account_${tenantId}` })),
  );
