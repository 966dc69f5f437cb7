import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { payout, payoutLists, PayoutStatus } from './table.js';

export const payoutListing = listingOf('payout', payoutLists(payout));

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
}
