import { Field, ID, ArgsType } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { apiKey } from './table.js';

export const apiKeyListing = listingOf('api_key', {
  filters: { accountId: apiKey.accountId },
  byAccount: ['accountId'],
  own: apiKey.accountId,
});

@ArgsType()
export class ApiKeyArgs extends pageArgsOf('ApiKey') {
  @Field(() => ID, {
    nullable: true,
    description: 'Only keys of this account: the acting account, or a connected user of the platform.',
  })
  accountId?: string | null;
}
