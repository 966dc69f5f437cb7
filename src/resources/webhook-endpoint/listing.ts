import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { webhookEndpoint, webhookEndpointLists } from './table.js';

export const webhookEndpointListing = listingOf('webhook_endpoint', webhookEndpointLists(webhookEndpoint));

@ArgsType()
export class WebhookEndpointOfAccountArgs extends pageArgsOf('WebhookEndpoint') {
  @Field(() => Boolean, { nullable: true, description: 'Endpoints that are enabled, or that are not.' })
  enabled?: boolean | null;
}

@ArgsType()
export class WebhookEndpointArgs extends WebhookEndpointOfAccountArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Endpoints of this account: the acting account or a connected user.',
  })
  accountId?: string | null;
}
