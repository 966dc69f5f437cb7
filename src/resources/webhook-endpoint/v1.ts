import { AccountScope } from '../../types/account-scope.js';
import { declareKeys, optional } from '../shape.js';
import type { WebhookEndpointRow } from './table.js';

/** An endpoint with its new secret, which only the answers to its creation and to a rotation have. */
export type WithSecret = WebhookEndpointRow & { secret?: string | undefined };

/** The scope of an endpoint, which is stored as whether the accounts below a platform are included. */
export const webhookScope = ({ connected }: Pick<WebhookEndpointRow, 'connected'>): AccountScope =>
  connected ? AccountScope.DESCENDANTS : AccountScope.SELF;

/** Formats a webhook endpoint for /v1. Silent: all fields. */
export function webhookEndpointV1(e: WithSecret) {
  return {
    id: e.id,
    object: 'webhook_endpoint',
    created: e.created,
    livemode: e.livemode,
    account_id: e.accountId,
    url: e.url,
    event_types: e.eventTypes,
    description: e.description,
    scope: webhookScope(e),
    query: e.query,
    query_cost: e.queryCost,
    enabled: e.enabled,
    disabled_reason: e.disabledReason,
    failing_since: e.failingSince,
    ...(e.secret !== undefined && { secret: e.secret }),
  };
}

declareKeys(webhookEndpointV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  url: 'value',
  event_types: 'value',
  description: 'value or null',
  scope: 'value',
  query: 'value or null',
  query_cost: 'value or null',
  enabled: 'value',
  disabled_reason: 'value or null',
  failing_since: 'value or null',
  secret: optional('value', 'Only the answers to the creation and to a rotation have it.'),
});
