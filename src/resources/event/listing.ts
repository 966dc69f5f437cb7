import { isNotNull } from 'drizzle-orm';
import { Field, ID, ArgsType } from 'type-graphql';
import { AccountScope, listScopeText } from '../../types/account-scope.js';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { event, eventLists } from './table.js';
import { readTypes, typesText } from './type-patterns.js';
import { numberBounds } from './position.js';

/**
 * How events are listed: numbered ones only, by number, so that an event never appears before a position that a reader
 * has passed.
 */
export const eventListing = listingOf('event', eventLists(event), {
  read: readTypes,
  order: event.number,
  within: numberBounds,
  where: isNotNull(event.number),
});

@ArgsType()
export class EventArgs extends pageArgsOf('Event') {
  @Field(() => [String], {
    nullable: true,
    description:
      'Only events of these types, such as `deposit.completed`, or `deposit.*` for an object. Another name of `types`.',
  })
  type?: string[] | null;
  @Field(() => [String], { nullable: true, description: typesText })
  types?: string[] | null;
  @Field(() => ID, { nullable: true, description: 'Only events about the object with this id.' })
  objectId?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      'Only events on the list of this account: of a connected user, its own and those of its partners. A ' +
      "partner's events are on its owner's list, so it has none.",
  })
  accountId?: string | null;
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: listScopeText })
  declare scope: AccountScope;
}
