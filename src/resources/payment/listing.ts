import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { payment, PaymentType, PaymentStatus, paymentLists } from './table.js';

export const paymentListing = listingOf('payment', paymentLists(payment));

export const [PaymentArgs] = argsOf('Payment', paymentListing, {
  accountId: ofAccount('payments'),
  type: [PaymentType, 'Only of these types.'],
  status: [PaymentStatus, 'Only in these statuses.'],
});
