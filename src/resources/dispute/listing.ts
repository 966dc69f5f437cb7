import { ArgsType, Field, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { DisputeStatus, dispute } from './table.js';

export const disputeListing: Listing = {
  object: 'dispute',
  filters: { accountId: dispute.accountId, status: dispute.status },
  byAccount: ['accountId'],
  parents: [dispute.accountId],
  own: dispute.accountId,
};

@ArgsType()
export class DisputeOfAccountArgs extends pageArgsOf('Dispute') {
  @Field(() => [DisputeStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: DisputeStatus[] | null;
}

@ArgsType()
export class DisputeArgs extends DisputeOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only disputes of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}
