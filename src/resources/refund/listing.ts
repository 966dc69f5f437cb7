import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { RefundStatus, refund, refundLists } from './table.js';

export const refundListing = listingOf('refund', refundLists(refund));

export const [RefundArgs, RefundOfAccountArgs] = argsOf('Refund', refundListing, {
  status: [RefundStatus, 'Only in these statuses.'],
  accountId: ofAccount('refunds'),
});
