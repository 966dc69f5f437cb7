import { isNotNull } from 'drizzle-orm';
import { ID } from 'type-graphql';
import { listScopeText } from '../../types/account-scope.js';
import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
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

export const [EventArgs] = argsOf('Event', eventListing, {
  type: [
    [String],
    'Only events of these types, such as `deposit.completed`, or `deposit.*` for an object. Another name of `types`.',
  ],
  types: [[String], typesText],
  objectId: [ID, 'Only events about the object with this id.'],
  accountId:
    'Only events on the list of this account: of a connected user, its own and those of its partners. A ' +
    "partner's events are on its owner's list, so it has none.",
  scope: listScopeText,
});
