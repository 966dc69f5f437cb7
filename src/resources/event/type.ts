import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from '../../types/relay-node.js';
import { DateTime, SafeInt } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';

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
