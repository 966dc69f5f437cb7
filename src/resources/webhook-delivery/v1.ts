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
    next_attempt: d.nextAttempt,
    attempts: d.attempts.map(({ at, milliseconds, status, error, response }) => ({
      at,
      milliseconds,
      status,
      error,
      response,
    })),
  };
}
