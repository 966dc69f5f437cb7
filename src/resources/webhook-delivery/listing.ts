import { Field, ArgsType, ID } from 'type-graphql';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { webhookDelivery, WebhookDeliveryStatus } from './table.js';

export const webhookDeliveryListing: Listing = {
  object: 'webhook_delivery',
  filters: { endpointId: webhookDelivery.endpointId, status: webhookDelivery.status },
  byAccount: ['endpointId'],
  parents: [webhookDelivery.endpointId],
};

@ArgsType()
export class WebhookDeliveryOfEndpointArgs extends pageArgsOf('WebhookDelivery') {
  @Field(() => [WebhookDeliveryStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: WebhookDeliveryStatus[] | null;
}

@ArgsType()
export class WebhookDeliveryArgs extends WebhookDeliveryOfEndpointArgs {
  @Field(() => ID, { nullable: true, description: 'Deliveries to this endpoint.' })
  endpointId?: string | null;
}
