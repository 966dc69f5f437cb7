import { listScopeText } from '../../types/account-scope.js';
import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { checkoutLists, CheckoutStatus, checkoutReceivable } from './table.js';
import { checkoutNow, presentTime } from './now.js';
import type { Link } from '../../db/list/statement.js';

/** How checkouts are listed. A filter by account finds the payer's and the payee's. */
export const checkoutListing = listingOf('checkout', {
  ...checkoutLists(checkoutNow),
  filters: {
    ...checkoutLists(checkoutNow).filters,
    status: {
      derived: checkoutNow.status,
      ending: {
        stored: checkoutNow.storedStatus,
        at: checkoutNow.expiresAt,
        from: 'initialized',
        to: 'expired',
        now: presentTime,
      },
    },
  },
});

export const [CheckoutArgs, CheckoutOfAccountArgs] = argsOf('Checkout', checkoutListing, {
  status: [CheckoutStatus, 'Only in these statuses.'],
  accountId: 'Only checkouts to or from this account. It may be any account that the caller can see.',
  scope: listScopeText,
});

/** The link from receivables to their checkouts. */
export const ofReceivable: Link = {
  links: checkoutReceivable,
  parent: checkoutReceivable.receivableId,
  child: checkoutReceivable.checkoutId,
};
