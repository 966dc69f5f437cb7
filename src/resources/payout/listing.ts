import { Field, ArgsType, ID } from 'type-graphql';
import { AccountScope, listScopeText } from '../../types/account-scope.js';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { payout, PayoutStatus } from './table.js';

export const payoutListing: Listing = {
  object: 'payout',
  filters: { accountId: payout.accountId, status: payout.status },
  byAccount: ['accountId'],
  parents: [payout.accountId, payout.addressId],
  own: payout.accountId,
};

@ArgsType()
export class PayoutOfAccountArgs extends pageArgsOf('Payout') {
  @Field(() => [PayoutStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: PayoutStatus[] | null;
}

@ArgsType()
export class PayoutArgs extends PayoutOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only payouts of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: listScopeText })
  declare scope: AccountScope;
}
