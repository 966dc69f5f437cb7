import { Field, ArgsType, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { webhookEndpoint } from './table.js';

export const webhookEndpointListing: Listing = {
  object: 'webhook_endpoint',
  filters: { accountId: webhookEndpoint.accountId, enabled: webhookEndpoint.enabled },
  byAccount: ['accountId'],
  parents: [webhookEndpoint.accountId],
  own: webhookEndpoint.accountId,
};

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
