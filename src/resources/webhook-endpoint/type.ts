import { registerEnumType, Field, ID, Int, ObjectType } from 'type-graphql';
import { WebhookDisabledReason } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime, URL } from '../../types/scalars.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(WebhookDisabledReason, {
  name: 'WebhookDisabledReason',
  description: 'Why a webhook endpoint is disabled.',
  valuesConfig: {
    BY_REQUEST: { description: 'An update set `enabled` to false.' },
    FAILING: { description: 'All deliveries failed for five days.' },
    GONE: { description: 'The endpoint answered with status 410.' },
  },
});

/** What the scope of an endpoint means, for clients. */
export const webhookScopeText =
  'The endpoint of a platform also gets the events of its connected users, and of all partners, with DESCENDANTS.';

/** An address that events are sent to. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: "An address that the account's events are sent to, signed as Standard Webhooks describe.",
})
export class WebhookEndpoint extends Node {
  @Field(() => DateTime, { description: 'When it was created.' })
  created: number;
  @Field(() => Boolean, { description: 'Whether it belongs to live mode, and gets the events of live mode.' })
  livemode: boolean;
  @Field(() => ID, { description: 'The account whose events it gets.' })
  accountId: string;
  @Field(() => URL, { description: 'Where events are sent by POST.' })
  url: string;
  @Field(() => [String], {
    description: 'The types of the events that are sent: a type, an object such as `deposit.*`, or `*` for all.',
  })
  eventTypes: string[];
  @Field(() => String, { nullable: true, description: 'What it is for, in words of the account.' })
  description: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'The GraphQL query whose result is the body of its deliveries; null where the body is the event.',
  })
  query: string | null;
  @Field(() => Int, {
    nullable: true,
    description: 'The points that the query could cost for each delivery; null without a query.',
  })
  queryCost: number | null;
  @Field(() => Boolean, { description: 'Whether new events are sent.' })
  enabled: boolean;
  @Field(() => WebhookDisabledReason, { nullable: true, description: 'Why it is disabled; null while it is enabled.' })
  disabledReason: WebhookDisabledReason | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'When the first of the present failures happened; null after a success.',
  })
  failingSince: number | null;
}

export const WebhookEndpointConnection = connectionOf('WebhookEndpoint', () => WebhookEndpoint);

export const CreateWebhookEndpointPayload = payloadOf('CreateWebhookEndpoint', 'webhookEndpoint', WebhookEndpoint);
export const UpdateWebhookEndpointPayload = payloadOf('UpdateWebhookEndpoint', 'webhookEndpoint', WebhookEndpoint);
export const RotateWebhookSecretPayload = payloadOf('RotateWebhookSecret', 'webhookEndpoint', WebhookEndpoint);
export const TestWebhookEndpointPayload = payloadOf('TestWebhookEndpoint', 'webhookEndpoint', WebhookEndpoint);
export const RedeliverWebhooksPayload = payloadOf('RedeliverWebhooks', 'webhookEndpoint', WebhookEndpoint);
