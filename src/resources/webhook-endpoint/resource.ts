import { everyone, ownAccounts } from '../../auth/permissions.js';
import { AccountScope } from '../../types/account-scope.js';
import { account } from '../account/table.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { redeliverLimits, redeliverProblems, webhookEndpointLimits, webhookEndpointProblems } from './rules.js';
import { WebhookEndpointResolver } from './resolver.js';
import { webhookEndpoint } from './table.js';
import { WebhookEndpoint, WebhookEndpointConnection, webhookScopeText } from './type.js';
import { WebhookEndpointArgs, webhookEndpointListing, WebhookEndpointOfAccountArgs } from './listing.js';
import { webhookEndpointV1, webhookScope, type WithSecret } from './v1.js';

const managed = {
  access: 'write',
  callers: everyone,
  relations: ownAccounts,
  keysOnly: 'manage webhook endpoints',
} as const;

/** The limits of a change, which leaves out what stays as it is. */
const updateLimits = {
  ...webhookEndpointLimits,
  url: { ...webhookEndpointLimits.url, notNull: true },
  event_types: { ...webhookEndpointLimits.event_types, notNull: true },
  scope: { notNull: true },
  enabled: { notNull: true },
} as const;

export default defineResource({
  object: 'webhook_endpoint',
  node: node('webhook', webhookEndpoint, WebhookEndpoint, {
    listing: webhookEndpointListing,
    connection: WebhookEndpointConnection,
  }),
  stored: { webhook_endpoint: stored(webhookEndpoint, webhookEndpointV1) },
  resolvers: [WebhookEndpointResolver],
  operations: {
    webhookEndpoint: {
      reads: one('A webhook endpoint that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/webhook_endpoints/:id')],
    },
    webhookEndpoints: {
      reads: many(WebhookEndpointArgs, "The webhook endpoints of the accounts on the caller's list, of its mode."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/webhook_endpoints')],
    },
    createWebhookEndpoint: {
      ...managed,
      scopeOfPlatforms: true,
      rules: webhookEndpointProblems,
      limits: webhookEndpointLimits,
      refusals: ['account_type_invalid'],
      routes: [extension.post('/v1/webhook_endpoints')],
    },
    updateWebhookEndpoint: {
      ...managed,
      scopeOfPlatforms: true,
      rules: webhookEndpointProblems,
      limits: updateLimits,
      routes: [extension.post('/v1/webhook_endpoints/:id')],
    },
    rotateWebhookSecret: { ...managed, routes: [extension.post('/v1/webhook_endpoints/:id/rotate_secret')] },
    testWebhookEndpoint: {
      ...managed,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/webhook_endpoints/:id/test')],
    },
    redeliverWebhooks: {
      ...managed,
      rules: redeliverProblems,
      limits: redeliverLimits,
      withoutEvent: 'It sends events that exist, and deliveries are listed.',
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/webhook_endpoints/:id/redeliver')],
    },
  },
  fields: [
    fields(webhookEndpoint, {
      account: link(account, 'accountId', { description: 'The account whose events it gets.' }),
      scope: value(() => AccountScope, webhookScope, { description: webhookScopeText }),
      secret: value(
        () => String,
        (row: WithSecret) => row.secret ?? null,
        {
          nullable: true,
          description:
            'What verifies the signatures, `whsec_…`. Only the answers to its creation and to a rotation have ' +
            'it, and no replay of them.',
        },
      ),
    }),
    fields(account, {
      webhookEndpoints: page(webhookEndpoint, webhookEndpoint.accountId, {
        args: WebhookEndpointOfAccountArgs,
        description: "The account's webhook endpoints of the caller's mode.",
      }),
    }),
  ],
  events: {
    'webhook_endpoint.created': 'A webhook endpoint was created.',
    'webhook_endpoint.updated': 'A webhook endpoint was changed, disabled or enabled by a request.',
    'webhook_endpoint.secret_rotated': 'A webhook endpoint has a new secret.',
    'webhook_endpoint.disabled': 'A webhook endpoint was disabled because it is gone, or has failed for five days.',
    'webhook_endpoint.tested': 'A test of a webhook endpoint was requested.',
  },
});
