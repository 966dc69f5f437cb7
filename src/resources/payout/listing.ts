import { listScopeText } from '../../types/account-scope.js';
import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { payout, payoutLists, PayoutStatus } from './table.js';

export const payoutListing = listingOf('payout', payoutLists(payout));

const byAmount =
  'The order of the list; the newest first by default. An order by amount needs one `currency`, and has no other ' +
  'filters than `amount` and `status`.';

export const [PayoutArgs, PayoutOfAccountArgs] = argsOf(
  'Payout',
  payoutListing,
  {
    amount: 'Only amounts within this range. It needs an order by amount.',
    bankReference: [[String], 'Only with one of these references of a bank, such as a UTR.'],
    currency: 'Only in these currencies.',
    status: [PayoutStatus, 'Only in these statuses.'],
    accountId: ofAccount('payouts'),
    scope: listScopeText,
  },
  byAmount,
);
