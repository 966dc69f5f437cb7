import { and, eq, sql } from 'drizzle-orm';
import { partOf } from '../../db/list/statement.js';
import { listScopeText } from '../../types/account-scope.js';
import { argsOf } from '../../types/list-arguments.js';
import { type Listing, listingOf } from '../../types/pagination.js';
import { DepositStatus, DepositPaymentMethod, deposit, depositLists } from './table.js';

export const depositListing = listingOf('deposit', depositLists(deposit), {
  search: {
    object: 'deposit',
    // The names of a payer on another account's list are not searched: that account does not see them.
    texts: (name) => sql`(array[
      ${name(deposit.statementDescriptor)},
      ${name(deposit.bankDetails)} ->> 'reference',
      ${name(deposit.bankDetails)} ->> 'payerName'
    ] || (
      select array[a.nickname, a.business_details ->> 'legalName'] from account a
      where a.tenant_id = ${sql.placeholder('tenantId')} and a.livemode = ${sql.placeholder('livemode')}
        and a.id = ${name(deposit.fromAccountId)} and a.context_id = ${name(deposit.actingAccountId)}))`,
    metadata: (name) => name(deposit.metadata),
  },
});

const byAmount =
  'The order of the list; the newest first by default. An order by amount needs one `currency`, and has no other ' +
  'filters than `amount` and `status`.';

export const [DepositArgs, DepositOfAccountArgs] = argsOf(
  'Deposit',
  depositListing,
  {
    amount: 'Only amounts within this range. It needs an order by amount.',
    status: [DepositStatus, 'Only in these statuses.'],
    paymentMethod: [DepositPaymentMethod, 'Only by these methods.'],
    currency: 'Only in these currencies.',
    // Silent: the filter.
    unreconciled:
      'True for deposits with a `pendingRest`: received money that counts towards no receivable yet. Its sum ' +
      'is the `pending` balance.',
    search: "the statement descriptor, the bank's reference or the names of the payer",
    accountId: 'Only deposits to or from this account. It may be any account that the caller can see.',
    addressId:
      'Only deposits that came in to this address, which may be any that the caller can see. It excludes other ' +
      'filters than `created`.',
    scope: listScopeText,
  },
  byAmount,
);

/**
 * The deposits that totals count (`countedDeposits`), as a list: the completed ones, without disputes of deposits that
 * were reversed. The id of the parent says whose, and in which currency and range.
 */
export const countedListing: Listing = {
  ...depositListing,
  fixed: { currency: '', status: DepositStatus.COMPLETED },
  where: and(
    sql`array_position(array[${partOf(2)}], ${deposit.currency}) is not null`,
    sql`${deposit.created} >= ${partOf(3)}::bigint and ${deposit.created} < ${partOf(4)}::bigint`,
    eq(deposit.status, 'completed'),
    sql`coalesce((select o.status from deposit o where o.tenant_id = ${sql.placeholder('tenantId')}
      and o.livemode = ${sql.placeholder('livemode')} and o.id = ${deposit.disputesId}), '') <> 'reversed'`,
  )!,
};
