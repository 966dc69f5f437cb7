import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { webhookEndpoint, webhookEndpointLists } from './table.js';

export const webhookEndpointListing = listingOf('webhook_endpoint', webhookEndpointLists(webhookEndpoint));

export const [WebhookEndpointArgs, WebhookEndpointOfAccountArgs] = argsOf('WebhookEndpoint', webhookEndpointListing, {
  enabled: 'Endpoints that are enabled, or that are not.',
  accountId: 'Endpoints of this account: the acting account or a connected user.',
});
