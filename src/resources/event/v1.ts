import { storedObject } from '../define.js';
import { eventTypes } from './catalogue.js';
import type { EventRow } from './table.js';
import { noun, stated, storedObjectOf, value } from '../shape.js';

/** Formats the object of an event for /v1, in its state right after the event. */
export function eventObjectV1({ object, data }: EventRow): object {
  const known = storedObject(object);
  if (!known) throw new Error(`no resource declares the object ${object} of an event`);
  return known.rowV1(data as Record<string, unknown>);
}

const anyType = {
  type: 'string',
  enum: eventTypes,
  description: 'The object and what happened to it. `webhooks` says of each type when it happens, with an example.',
};
const number = {
  type: ['integer', 'null'],
  description: 'Dense per root account and mode, in the order in which events became visible.',
};

/** Formats an event for /v1. Silent: all fields. */
export function eventV1(e: EventRow) {
  return {
    id: value(e.id),
    object: noun('event'),
    created: value(e.created),
    livemode: value(e.livemode),
    type: stated(anyType, e.type),
    account_id: value(e.actingAccountId),
    number: stated(number, e.number),
    data: { object: storedObjectOf(() => eventObjectV1(e)) },
  };
}
