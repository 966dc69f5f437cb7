import { Field, ArgsType, ID } from 'type-graphql';
import { and, eq, sql } from 'drizzle-orm';
import { partOf } from '../../db/list/statement.js';
import { AccountScope, listScopeText } from '../../types/account-scope.js';
import { type Listing, listingOf, pageArgsOf } from '../../types/pagination.js';
import { AmountFilter } from '../../types/range-filters.js';
import { DepositStatus, DepositPaymentMethod, deposit, depositLists } from './table.js';
import { Currency } from '../../types/scalars.js';
import { searchText, MetadataFilter } from '../../types/list-search.js';

const byAmount =
  'The order of the list; the newest first by default. An order by amount needs one `currency`, and has no other ' +
  'filters than `amount` and `status`.';

@ArgsType()
export class DepositOfAccountArgs extends pageArgsOf('Deposit', byAmount) {
  @Field(() => AmountFilter, {
    nullable: true,
    description: 'Only amounts within this range. It needs an order by amount.',
  })
  amount?: AmountFilter | null;
  @Field(() => [DepositStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: DepositStatus[] | null;
  @Field(() => [DepositPaymentMethod], { nullable: true, description: 'Only by these methods.' })
  paymentMethod?: DepositPaymentMethod[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
  /** Silent: the filter. */
  @Field(() => Boolean, {
    nullable: true,
    description:
      'True for deposits with a `pendingRest`: received money that counts towards no receivable yet. Its sum ' +
      'is the `pending` balance.',
  })
  unreconciled?: boolean | null;
}

@ArgsType()
export class DepositArgs extends DepositOfAccountArgs {
  @Field(() => String, {
    nullable: true,
    description: searchText("the statement descriptor, the bank's reference or the names of the payer"),
  })
  search?: string | null;
  @Field(() => MetadataFilter, { nullable: true, description: 'Only objects with this key in their metadata.' })
  metadata?: MetadataFilter | null;
  @Field(() => ID, {
    nullable: true,
    description: 'Only deposits to or from this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      'Only deposits that came in to this address, which may be any that the caller ' +
      'can see. It excludes other filters than `created`.',
  })
  addressId?: string | null;
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: listScopeText })
  declare scope: AccountScope;
}

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
