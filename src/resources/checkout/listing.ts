import { Field, ArgsType, ID } from 'type-graphql';
import { AccountScope, listScopeText } from '../../types/account-scope.js';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { checkoutLists, CheckoutStatus, checkoutReceivable } from './table.js';
import { checkoutNow, presentTime } from './now.js';
import type { Link } from '../../db/list/statement.js';

@ArgsType()
export class CheckoutOfAccountArgs extends pageArgsOf('Checkout') {
  @Field(() => [CheckoutStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: CheckoutStatus[] | null;
}

@ArgsType()
export class CheckoutArgs extends CheckoutOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only checkouts to or from this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: listScopeText })
  declare scope: AccountScope;
}

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

/** The link from receivables to their checkouts. */
export const ofReceivable: Link = {
  links: checkoutReceivable,
  parent: checkoutReceivable.receivableId,
  child: checkoutReceivable.checkoutId,
};
