import { fromRow } from '../../db/row-mapper.js';
import { storedObject } from '../define.js';
import type { EventRow } from './table.js';

/** The object of an event as it then became, as /v1 spells it. */
export function eventObjectV1({ object, data }: EventRow): object {
  const known = storedObject(object);
  if (!known) throw new Error(`events are not about ${object}`);
  return known.v1(fromRow(known.table, data as Record<string, unknown>) as never);
}

/** An event as /v1 spells it. Silent: all fields. */
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
