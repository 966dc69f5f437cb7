import { named, noun, value, valueOrNull } from '../shape.js';
import type { WebhookDeliveryRow } from './table.js';

/** Formats a delivery to a webhook endpoint for /v1. Silent: all fields. */
export function webhookDeliveryV1(d: WebhookDeliveryRow) {
  return {
    id: value(d.id),
    object: noun('webhook_delivery'),
    created: value(d.created),
    livemode: value(d.livemode),
    endpoint_id: value(d.endpointId),
    event_id: value(d.eventId),
    event_type: value(d.eventType),
    status: value(d.status),
    next_attempt: named('nextAttemptAt', valueOrNull(d.nextAttemptAt)),
    attempts: d.attempts.map(({ at, milliseconds, status, error, response }) => ({
      at: named('startedAt', value(at)),
      milliseconds: named('durationMilliseconds', value(milliseconds)),
      status: valueOrNull(status),
      error: valueOrNull(error),
      response: valueOrNull(response),
    })),
  };
}
