import { ID } from 'type-graphql';
import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { entry, entryLists, Compartment } from '../ledger/table.js';

export const balanceTransactionListing = listingOf('balance_transaction', entryLists(entry));

export const [BalanceTransactionArgs, BalanceTransactionOfAccountArgs] = argsOf(
  'BalanceTransaction',
  balanceTransactionListing,
  {
    category: [Compartment, 'Only of these categories.'],
    currency: 'Only in these currencies.',
    paymentId: [[ID], 'Only of these payments.'],
    accountId: 'Only those of this account; the acting account by default.',
  },
);
