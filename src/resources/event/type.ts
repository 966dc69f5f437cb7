import { isNotNull } from 'drizzle-orm';
import { ArgsType, Field, ID, ObjectType } from 'type-graphql';
import { connectionOf, type Listing, pageArgsOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { DateTime, SafeInt } from '../../types/scalars.js';
import { numberBounds } from './position.js';
import { event } from './table.js';
import { readTypes, typesText } from './type-patterns.js';
import { texts } from '../../types/texts.js';

/** Something that happened. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Something that happened to an object. A client that follows the numbers misses no event.',
})
export class Event extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => String, { description: 'The object and what happened to it, such as `deposit.completed`.' })
  type: string;
  @Field(() => SafeInt, {
    nullable: true,
    description:
      'The position of the event: the events of a root account and mode are numbered without gaps, in the order in ' +
      'which they could be read first.',
  })
  number: number | null;
  @Field(() => ID, { description: 'The id of the object that the event is about.' })
  objectId: string;
  @Field(() => String, {
    nullable: true,
    description:
      'The id of the request that caused the event, as in its header `Request-Id`. Null when the service caused it.',
  })
  requestId: string | null;
}
export const EventConnection = connectionOf('Event', () => Event);

/**
 * How events are listed: numbered ones only, by number, so that an event never appears before a position that a reader
 * has passed.
 */
export const eventListing: Listing = {
  object: 'event',
  filters: { type: event.type, objectId: { selective: event.objectId }, accountId: event.actingAccountId },
  byAccount: ['accountId'],
  read: readTypes,
  hashed: [event.actingAccountId, event.objectId],
  order: event.number,
  within: numberBounds,
  where: isNotNull(event.number),
};

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
}
