import { storedObject } from '../define.js';
import { eventTypes } from './catalogue.js';
import type { EventRow } from './table.js';
import { anyStoredObject, declareKeys, stated } from '../shape.js';

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
    account_id: e.actingAccountId,
    number: e.number,
    data: { object: eventObjectV1(e) },
  };
}

declareKeys(eventV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  type: stated({
    type: 'string',
    enum: eventTypes,
    description: 'The object and what happened to it. `webhooks` says of each type when it happens, with an example.',
  }),
  account_id: 'value',
  number: stated({
    type: ['integer', 'null'],
    description: 'Dense per root account and mode, in the order in which events became visible.',
  }),
  data: { object: anyStoredObject },
});
