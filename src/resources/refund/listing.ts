import { ArgsType, Field, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { RefundStatus, refund, refundLists } from './table.js';

export const refundListing = listingOf('refund', refundLists(refund));

@ArgsType()
export class RefundOfAccountArgs extends pageArgsOf('Refund') {
  @Field(() => [RefundStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: RefundStatus[] | null;
}

@ArgsType()
export class RefundArgs extends RefundOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only refunds of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}
