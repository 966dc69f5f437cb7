import { everyone } from '../../auth/permissions.js';
import { whenOld } from '../../operation/work.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page } from '../edges.js';
import { event } from '../event/table.js';
import { webhookEndpoint } from '../webhook-endpoint/table.js';
import { webhookDelivery } from './table.js';
import { WebhookDelivery, WebhookDeliveryConnection } from './type.js';
import { WebhookDeliveryArgs, webhookDeliveryListing, WebhookDeliveryOfEndpointArgs } from './listing.js';
import { webhookDeliveryV1 } from './v1.js';

/** For how long deliveries are kept; the database function that deletes them has the same time. */
const keptSeconds = 30 * 86_400;

export default defineResource({
  object: 'webhook_delivery',
  node: node('delivery', webhookDelivery, WebhookDelivery, {
    listing: webhookDeliveryListing,
    connection: WebhookDeliveryConnection,
  }),
  stored: { webhook_delivery: stored(webhookDelivery, webhookDeliveryV1) },
  operations: {
    webhookDelivery: {
      reads: one('A delivery that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/webhook_deliveries/:id')],
    },
    webhookDeliveries: {
      reads: many(WebhookDeliveryArgs, "The deliveries to the endpoints on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [
        extension.list('/v1/webhook_deliveries'),
        extension.list('/v1/webhook_endpoints/:id/deliveries', { params: { id: 'endpointId' } }),
      ],
    },
  },
  sizes: { 'WebhookDelivery.attempts': 20 },
  fields: [
    fields(webhookDelivery, {
      endpoint: link(webhookEndpoint, 'endpointId', {
        nullable: true,
        description: 'The endpoint that it is sent to; null once it is deleted.',
      }),
      event: link(event, 'eventId', { nullable: true, description: 'The event; null once it is deleted.' }),
    }),
    fields(event, {
      deliveries: page(webhookDelivery, webhookDelivery.eventId, {
        description: 'Its deliveries to webhook endpoints, newest first: one for each endpoint that gets the event.',
      }),
    }),
    fields(webhookEndpoint, {
      deliveries: page(webhookDelivery, webhookDelivery.endpointId, {
        args: WebhookDeliveryOfEndpointArgs,
        description: 'What was sent to the endpoint, newest first.',
      }),
    }),
  ],
  work: {
    delete_old_deliveries: whenOld({
      does: 'Deletes old deliveries of webhooks.',
      fn: 'delete_old_deliveries',
      table: webhookDelivery,
      order: [webhookDelivery.created],
      created: webhookDelivery.created,
      kept: () => ({ seconds: keptSeconds, given: false }),
    }),
  },
});
