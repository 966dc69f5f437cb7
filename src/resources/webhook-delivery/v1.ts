import { declareKeys, named } from '../shape.js';
import type { WebhookDeliveryRow } from './table.js';

/** Formats a delivery to a webhook endpoint for /v1. Silent: all fields. */
export function webhookDeliveryV1(d: WebhookDeliveryRow) {
  return {
    id: d.id,
    object: 'webhook_delivery',
    created: d.created,
    livemode: d.livemode,
    endpoint_id: d.endpointId,
    event_id: d.eventId,
    event_type: d.eventType,
    status: d.status,
    next_attempt: d.nextAttemptAt,
    attempts: d.attempts.map(({ at, milliseconds, status, error, response }) => ({
      at,
      milliseconds,
      status,
      error,
      response,
    })),
  };
}

declareKeys(webhookDeliveryV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  endpoint_id: 'value',
  event_id: 'value',
  event_type: 'value',
  status: 'value',
  next_attempt: named('nextAttemptAt', 'value or null'),
  attempts: {
    at: named('startedAt', 'value'),
    milliseconds: named('durationMilliseconds', 'value'),
    status: 'value or null',
    error: 'value or null',
    response: 'value or null',
  },
});
