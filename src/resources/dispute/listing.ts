import { ArgsType, Field, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { DisputeStatus, dispute, disputeLists } from './table.js';

export const disputeListing = listingOf('dispute', disputeLists(dispute));

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
