import { InputType, Field, ID } from 'type-graphql';
import { AccountScope } from '../../types/account-scope.js';
import { webhookScopeText } from './type.js';
import { SafeInt } from '../../types/scalars.js';
import { idInputOf } from '../../types/input.js';

export const descriptionLengthMax = 200;

@InputType({ description: 'Creates a webhook endpoint.' })
export class CreateWebhookEndpointInput {
  @Field(() => String, {
    description:
      'Where events are sent by POST. HTTPS; a local gateway also takes an address of its machine in test mode.',
  })
  url: string;
  @Field(() => [String], {
    description: 'Which events are sent: types such as `deposit.completed`, `deposit.*` for an object, or `*` for all.',
  })
  eventTypes: string[];
  @Field(() => String, { nullable: true, description: `What it is for; at most ${descriptionLengthMax} characters.` })
  description?: string | null;
  @Field(() => AccountScope, { nullable: true, defaultValue: AccountScope.SELF, description: webhookScopeText })
  scope?: AccountScope | null;
  @Field(() => String, {
    nullable: true,
    description:
      'A GraphQL query whose result is the body of each delivery, in place of the event. It has the variables ' +
      '`$eventId: ID!`, the id of the event, and `$objectId: ID!`, that of its object.',
  })
  query?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      'The account whose events it gets: the acting account by default, or a connected user of the platform.',
  })
  accountId?: string | null;
}

@InputType({ description: 'Changes a webhook endpoint. Parameters that are absent stay as they are.' })
export class UpdateWebhookEndpointInput {
  @Field(() => ID, { description: 'The endpoint.' })
  id: string;
  @Field(() => String, { nullable: true, description: 'Where events are sent from now on.' })
  url?: string | null;
  @Field(() => [String], { nullable: true, description: 'Which events are sent from now on.' })
  eventTypes?: string[] | null;
  @Field(() => String, { nullable: true, description: 'What it is for; null removes it.' })
  description?: string | null;
  @Field(() => AccountScope, { nullable: true, description: webhookScopeText })
  scope?: AccountScope | null;
  @Field(() => String, {
    nullable: true,
    description:
      'A GraphQL query whose result is the body of each delivery, in place of the event. It has the variables ' +
      '`$eventId: ID!`, the id of the event, and `$objectId: ID!`, that of its object. Null removes it.',
  })
  query?: string | null;
  @Field(() => Boolean, {
    nullable: true,
    description: 'False stops deliveries. True starts them again, and tries those that are pending.',
  })
  enabled?: boolean | null;
}

@InputType({
  description: 'Sends events again: one delivery, or all events since a number. Exactly one of both is given.',
})
export class RedeliverWebhooksInput {
  @Field(() => ID, { description: 'The endpoint.' })
  id: string;
  @Field(() => ID, { nullable: true, description: 'The delivery to be repeated.' })
  deliveryId?: string | null;
  @Field(() => SafeInt, {
    nullable: true,
    description:
      'All events of the endpoint with a greater number are sent, but for those that have reached it; at most 5,000.',
  })
  afterNumber?: number | null;
}

export const RotateWebhookSecretInput = idInputOf('RotateWebhookSecret', 'webhook endpoint');
export const TestWebhookEndpointInput = idInputOf('TestWebhookEndpoint', 'webhook endpoint');
