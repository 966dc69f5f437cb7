import { storedObject } from '../define.js';
import type { EventRow } from './table.js';
import { anyStoredObject, declareKeys } from '../shape.js';

/** Formats the object of an event for /v1, in its state right after the event. */
export function eventObjectV1({ object, data }: EventRow): object {
  const known = storedObject(object);
  if (!known) throw new Error(`no resource declares the object ${object} of an event`);
  return known.rowV1(data as Record<string, unknown>);
}

/** Formats an event for /v1. Silent: all fields. */
export function eventV1(e: EventRow) {
  return {
    id: e.id,
    object: 'event',
    created: e.created,
    livemode: e.livemode,
    type: e.type,
    data: { object: eventObjectV1(e) },
  };
}

declareKeys(eventV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  type: 'value',
  data: { object: anyStoredObject },
});
