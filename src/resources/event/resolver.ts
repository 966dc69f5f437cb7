import { isNotNull } from 'drizzle-orm';
import { GraphQLJSONObject } from 'graphql-scalars';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { connectionOf, type Listing, type Page, PageArgs } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { problem, DomainError } from '../../request/problems.js';
import { DateTime } from '../../types/scalars.js';
import { type EventRow, event } from './table.js';
import { eventObjectV1 } from './v1.js';

/** Something that happened. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Something that happened to an object. Whoever follows the numbers misses none.',
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
  @Field(() => String, { nullable: true, description: 'The request that caused it; null when the service did.' })
  requestId: string | null;
}
const EventConnection = connectionOf('Event', () => Event);

/** Numbered events only, by their numbers: one that becomes visible later never stands behind a reader. */
export const eventListing: Listing = {
  object: 'event',
  filters: { type: event.type, objectId: event.objectId },
  byAccount: [],
  order: event.number,
  where: isNotNull(event.number),
};

@ArgsType()
class EventArgs extends PageArgs {
  @Field(() => [String], { nullable: true, description: 'Such as `deposit.completed`.' })
  type?: string[] | null;
  @Field(() => ID, { nullable: true, description: 'Events of this object.' })
  objectId?: string | null;
}

@Resolver(() => Event)
export class EventResolver {
  @Query(() => Event, { nullable: true, description: 'An event within reach.' })
  async event(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<Event> {
    const row = await scope.one(event, id);
    // Not numbered yet, it is not there yet: lists do not show it either.
    if (row.number === null) throw new DomainError(problem('resource_missing', 'event.id'));
    return row;
  }

  @Query(() => EventConnection, {
    description:
      "What happened to the objects on the caller's lists, newest first. Page back from the last event you know to follow them.",
  })
  async events(@Args(() => EventArgs) args: EventArgs, @Ctx() { scope }: Context): Promise<Page<Event>> {
    return scope.page(event, eventListing, args);
  }

  @FieldResolver(() => GraphQLJSONObject, { description: 'The object as it then became, as /v1 spells it.' })
  object(@Root() row: EventRow): object {
    return eventObjectV1(row);
  }
}
