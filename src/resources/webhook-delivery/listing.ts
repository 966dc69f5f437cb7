import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { webhookDelivery, WebhookDeliveryStatus, webhookDeliveryLists } from './table.js';

export const webhookDeliveryListing = listingOf('webhook_delivery', webhookDeliveryLists(webhookDelivery));

export const [WebhookDeliveryArgs, WebhookDeliveryOfEndpointArgs] = argsOf('WebhookDelivery', webhookDeliveryListing, {
  status: [WebhookDeliveryStatus, 'Only in these statuses.'],
  endpointId: 'Deliveries to this endpoint.',
});
