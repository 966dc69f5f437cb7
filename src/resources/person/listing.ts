import { Field, ID, ArgsType } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { person } from './table.js';

export const personListing = listingOf('person', {
  filters: { accountId: person.accountId },
  byAccount: ['accountId'],
  own: person.accountId,
});

@ArgsType()
export class PersonArgs extends pageArgsOf('Person') {
  @Field(() => ID, {
    nullable: true,
    description: 'Only persons of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}
