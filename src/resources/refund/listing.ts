import { ArgsType, Field, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { RefundStatus, refund } from './table.js';

export const refundListing: Listing = {
  object: 'refund',
  filters: { accountId: refund.accountId, status: refund.status },
  byAccount: ['accountId'],
  parents: [refund.accountId],
  own: refund.accountId,
};

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
