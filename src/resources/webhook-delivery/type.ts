import { registerEnumType, ObjectType, Field, Extensions, Int, ID } from 'type-graphql';
import { WebhookDeliveryStatus, type WebhookAttemptObject } from './table.js';
import { DateTime } from '../../types/scalars.js';
import { Node } from '../../types/relay-node.js';
import { connectionOf } from '../../types/pagination.js';

registerEnumType(WebhookDeliveryStatus, {
  name: 'WebhookDeliveryStatus',
  description: 'Whether an event has reached an endpoint.',
  valuesConfig: {
    PENDING: { description: 'The first or a further attempt is due.' },
    SUCCEEDED: { description: 'The endpoint answered with a status from 200 to 299.' },
    FAILED: { description: 'All attempts failed, or the endpoint is gone.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'One attempt to send an event to a webhook endpoint.' })
class WebhookAttempt {
  @Field(() => DateTime, { description: 'When it began.' })
  @Extensions({ storedAs: 'at' })
  startedAt: number;
  @Field(() => Int, { description: 'How long it took, in milliseconds.' })
  @Extensions({ storedAs: 'milliseconds' })
  durationMilliseconds: number;
  @Field(() => Int, { nullable: true, description: 'The status of the response; null when there was none.' })
  status: number | null;
  @Field(() => String, { nullable: true, description: 'Why it failed; null when it succeeded.' })
  error: string | null;
  @Field(() => String, { nullable: true, description: 'The first 1,024 characters of the body of the response.' })
  response: string | null;
}

/** An event on its way to an endpoint. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'An event for a webhook endpoint, with the attempts to send it. Kept for 30 days.',
})
export class WebhookDelivery extends Node {
  @Field(() => DateTime, { description: 'When it was created.' })
  created: number;
  @Field(() => Boolean, { description: 'Whether it belongs to live mode.' })
  livemode: boolean;
  @Field(() => ID, { description: 'The endpoint that it is sent to.' })
  endpointId: string;
  @Field(() => ID, { description: 'The event that is sent, and the `webhook-id` of each attempt.' })
  eventId: string;
  @Field(() => String, { description: 'The type of the event, such as `deposit.completed`.' })
  eventType: string;
  @Field(() => WebhookDeliveryStatus, { description: 'Whether the event has reached the endpoint.' })
  status: WebhookDeliveryStatus;
  @Field(() => DateTime, { nullable: true, description: 'When the next attempt is due; null when none is.' })
  nextAttemptAt: number | null;
  @Field(() => [WebhookAttempt], { description: 'The latest attempts, the newest first; 20 at most.' })
  attempts: WebhookAttemptObject[];
}

export const WebhookDeliveryConnection = connectionOf('WebhookDelivery', () => WebhookDelivery);
