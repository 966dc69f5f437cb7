import { Field, ArgsType, ID } from 'type-graphql';
import { AccountScope, listScopeText } from '../../types/account-scope.js';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { AmountFilter } from '../../types/range-filters.js';
import { Currency } from '../../types/scalars.js';
import { payout, payoutLists, PayoutStatus } from './table.js';

export const payoutListing = listingOf('payout', payoutLists(payout));

const byAmount =
  'The order of the list; the newest first by default. An order by amount needs one `currency`, and has no other ' +
  'filters than `amount` and `status`.';

@ArgsType()
export class PayoutOfAccountArgs extends pageArgsOf('Payout', byAmount) {
  @Field(() => AmountFilter, {
    nullable: true,
    description: 'Only amounts within this range. It needs an order by amount.',
  })
  amount?: AmountFilter | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
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
