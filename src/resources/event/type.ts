import { isNotNull } from 'drizzle-orm';
import { ArgsType, Field, ID, Int, ObjectType } from 'type-graphql';
import { connectionOf, type Listing, PageArgs } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { numberBounds } from './position.js';
import { event } from './table.js';

/** Something that happened. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Something that happened to an object. A client that follows the numbers misses no event.',
})
export class Event extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => String, { description: 'The object and what happened to it, such as `deposit.completed`.' })
  type: string;
  @Field(() => Int, {
    nullable: true,
    description: 'Dense per tenant and mode, in the order in which events became visible.',
  })
  number: number | null;
  @Field(() => ID, { description: 'The object that it is about.' })
  objectId: string;
  @Field(() => String, { nullable: true, description: 'The request that caused it; null when the service caused it.' })
  requestId: string | null;
}
export const EventConnection = connectionOf('Event', () => Event);

/**
 * How events are listed: numbered ones only, by number, so that an event never appears before a position that a reader
 * has passed.
 */
export const eventListing: Listing = {
  object: 'event',
  filters: { type: event.type, objectId: { ofFew: event.objectId } },
  byAccount: [],
  order: event.number,
  within: numberBounds,
  where: isNotNull(event.number),
};

@ArgsType()
export class EventArgs extends PageArgs {
  @Field(() => [String], { nullable: true, description: 'Such as `deposit.completed`.' })
  type?: string[] | null;
  @Field(() => ID, { nullable: true, description: 'Events of this object.' })
  objectId?: string | null;
}
