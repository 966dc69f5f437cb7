import { Field, ArgsType, ID } from 'type-graphql';
import { listingOf, pageArgsOf } from '../../types/pagination.js';
import { webhookDelivery, WebhookDeliveryStatus, webhookDeliveryLists } from './table.js';

export const webhookDeliveryListing = listingOf('webhook_delivery', webhookDeliveryLists(webhookDelivery));

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
