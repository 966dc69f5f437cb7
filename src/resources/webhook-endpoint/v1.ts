import { AccountScope } from '../../types/account-scope.js';
import { noun, optional, value, valueOrNull } from '../shape.js';
import type { WebhookEndpointRow } from './table.js';

/** An endpoint with its new secret, which only the answers to its creation and to a rotation have. */
export type WithSecret = WebhookEndpointRow & { secret?: string | undefined };

/** The scope of an endpoint, which is stored as whether the accounts below a platform are included. */
export const webhookScope = ({ connected }: Pick<WebhookEndpointRow, 'connected'>): AccountScope =>
  connected ? AccountScope.DESCENDANTS : AccountScope.SELF;

/** Formats a webhook endpoint for /v1. Silent: all fields. */
export function webhookEndpointV1(e: WithSecret) {
  return {
    id: value(e.id),
    object: noun('webhook_endpoint'),
    created: value(e.created),
    livemode: value(e.livemode),
    account_id: value(e.accountId),
    url: value(e.url),
    event_types: value(e.eventTypes),
    description: valueOrNull(e.description),
    scope: value(webhookScope(e)),
    query: valueOrNull(e.query),
    query_cost: valueOrNull(e.queryCost),
    enabled: value(e.enabled),
    disabled_reason: valueOrNull(e.disabledReason),
    failing_since: valueOrNull(e.failingSince),
    ...optional(
      e.secret,
      (secret) => ({ secret: value(secret) }),
      'Only the answers to the creation and to a rotation have it.',
    ),
  };
}
