import { and, sql } from 'drizzle-orm';
import { partOf } from '../../db/list/statement.js';
import { Field, ArgsType, ID } from 'type-graphql';
import { AccountScope, listScopeText } from '../../types/account-scope.js';
import { type Listing, listingOf, pageArgsOf } from '../../types/pagination.js';
import { dueDateOf, receivable, receivableLists, ReceivableStatus, ReceivableTransactionType } from './table.js';
import { AmountFilter, DateFilter } from '../../types/range-filters.js';
import { Currency } from '../../types/scalars.js';
import { searchText, MetadataFilter } from '../../types/list-search.js';

export const receivableListing = listingOf('receivable', receivableLists(receivable), {
  search: {
    object: 'receivable',
    texts: (name) => sql`array[${name(receivable.invoice)} ->> 'referenceNumber']`,
    metadata: (name) => name(receivable.metadata),
  },
});

const byDueDateOrAmount =
  'The order of the list; the newest first by default. An order by due date has no other filters than `dueDate`, ' +
  '`overdue`, `status` and `currency`. An order by the amount of the invoice needs one `currency`, and has no other ' +
  'filters than `amount` and `status`.';

@ArgsType()
export class ReceivableOfAccountArgs extends pageArgsOf('Receivable', byDueDateOrAmount) {
  @Field(() => AmountFilter, {
    nullable: true,
    description: 'Only invoices with amounts within this range. It needs an order by amount.',
  })
  amount?: AmountFilter | null;
  @Field(() => DateFilter, {
    nullable: true,
    description: 'Only invoices that are due within this range. It needs an order by due date.',
  })
  dueDate?: DateFilter | null;
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Only receivables that are open after their due date; a day ends at midnight in UTC. They are in the order of ' +
      'their due dates, the oldest first, unless `orderBy` is `DUE_DATE_DESC`. It must be true.',
  })
  overdue?: boolean | null;
  @Field(() => [ReceivableStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: ReceivableStatus[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
  @Field(() => [ReceivableTransactionType], { nullable: true, description: 'Only of these types.' })
  transactionType?: ReceivableTransactionType[] | null;
}

@ArgsType()
export class ReceivableArgs extends ReceivableOfAccountArgs {
  @Field(() => String, { nullable: true, description: searchText('the reference number of the invoice') })
  search?: string | null;
  @Field(() => MetadataFilter, { nullable: true, description: 'Only objects with this key in their metadata.' })
  metadata?: MetadataFilter | null;
  @Field(() => ID, {
    nullable: true,
    description: 'Only receivables of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: listScopeText })
  declare scope: AccountScope;
}

/** The open receivables of a bucket, as a list. The id of the parent says whose, and in which currency and dates. */
export const bucketListing: Listing = {
  ...receivableListing,
  fixed: { currency: '', status: ReceivableStatus.OPEN },
  where: and(
    sql`array_position(array[${partOf(2)}], ${receivable.currency}) is not null`,
    sql`${dueDateOf(receivable)} >= ${partOf(3)} and ${dueDateOf(receivable)} <= ${partOf(4)}`,
  )!,
};
