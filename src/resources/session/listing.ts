import { Field, ID, ArgsType } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { session } from './table.js';

export const sessionListing = listingOf('session', {
  filters: { accountId: session.accountId },
  byAccount: ['accountId'],
  own: session.accountId,
});

@ArgsType()
export class SessionArgs extends pageArgsOf('Session') {
  @Field(() => ID, {
    nullable: true,
    description: 'Sessions of this account; the acting account or a connected user.',
  })
  accountId?: string | null;
}
