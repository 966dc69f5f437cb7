import { and, sql } from 'drizzle-orm';
import { partOf } from '../../db/list/statement.js';
import { listScopeText } from '../../types/account-scope.js';
import { argsOf } from '../../types/list-arguments.js';
import { type Listing, listingOf } from '../../types/pagination.js';
import { dueDateOf, receivable, receivableLists, ReceivableStatus, ReceivableTransactionType } from './table.js';

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

export const [ReceivableArgs, ReceivableOfAccountArgs] = argsOf(
  'Receivable',
  receivableListing,
  {
    amount: 'Only invoices with amounts within this range. It needs an order by amount.',
    dueDate: 'Only invoices that are due within this range. It needs an order by due date.',
    overdue:
      'Only receivables that are open after their due date; a day ends at midnight in UTC. They are in the order of ' +
      'their due dates, the oldest first, unless `orderBy` is `DUE_DATE_DESC`. It must be true.',
    status: [ReceivableStatus, 'Only in these statuses.'],
    currency: 'Only in these currencies.',
    transactionType: [ReceivableTransactionType, 'Only of these types.'],
    search: 'the reference number of the invoice',
    accountId:
      'Only receivables of this account, or those that bill it. It may be any account that the caller can see.',
    scope: listScopeText,
  },
  byDueDateOrAmount,
);

/** The open receivables of a bucket, as a list. The id of the parent says whose, and in which currency and dates. */
export const bucketListing: Listing = {
  ...receivableListing,
  fixed: { currency: '', status: ReceivableStatus.OPEN },
  where: and(
    sql`array_position(array[${partOf(2)}], ${receivable.currency}) is not null`,
    sql`${dueDateOf(receivable)} >= ${partOf(3)} and ${dueDateOf(receivable)} <= ${partOf(4)}`,
  )!,
};
