import { sql } from 'drizzle-orm';
import { numeric, pgTable, text } from 'drizzle-orm/pg-core';
import type { OrderBy } from '../../types/list-order.js';
import { AccountType, accountColumns } from './table.js';

/**
 * Accounts in the order of their balances: the view `account_by_balance` of
 * `drizzle/functions/ledger/balance-rank.sql`, with a row for each currency in which an account has a balance. The view
 * is not in the table's file, because the migrations are generated from that file.
 */
const accountByBalance = pgTable('account_by_balance', {
  ...accountColumns(),
  /** The type of the account and the currency, such as `partner USD`. */
  rankedAs: text('ranked_as').notNull(),
  /** The amount that decides about the place, in minor units. */
  ranked: numeric('ranked').notNull(),
});

/**
 * The order of accounts by what they have in one currency, `available` and `pending` together. The list has the
 * accounts with such a balance. Silent: the order.
 */
export const byBalance: OrderBy = {
  by: (name) => sql`${name(accountByBalance.ranked)}`,
  type: 'numeric',
  valueOf: (row) => (row as { ranked: string }).ranked,
  as: 'by_balance',
  keys: { kind: ['rankedAs'] },
  scans: { balance_rank_owner: accountByBalance.ownerId, balance_rank_tenant: accountByBalance.tenantId },
  view: {
    table: accountByBalance,
    key: 'rankedAs',
    takes: ['orderCurrency', 'type'],
    required: { name: 'orderCurrency', because: 'since amounts of several currencies have no common order' },
    keysOf: ({ orderCurrency, type }) =>
      (type === undefined ? Object.values(AccountType) : [type].flat()).map(
        (each) => `${String(each)} ${String(orderCurrency)}`,
      ),
  },
};
